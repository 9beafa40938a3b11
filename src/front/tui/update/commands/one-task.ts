import { plural } from '../../../../base/text.ts';
import { showLanding, type WorkspaceView } from '../../../../protocol/state/workspace-view.ts';
import type { AppState } from '../../model/app-state.ts';
import { hasEnded, type TreeTask } from '../../model/task-row.ts';
import { findTask } from '../find-task.ts';
import { activityLine } from '../../view/task-pane.ts';
import { hint, next, type Update } from '../step.ts';
import { STOPPING } from '../tasks.ts';
import { usedText, type Page, type PageSource } from './pages.ts';

/** `/task-status ID`: what a task is, what it does and what it has used. */
export function taskPage({ tree, now: clock }: PageSource, typed: string): Page {
  const title = '/task-status';
  const now = clock();
  const found = findTask(tree, typed);
  if ('problem' in found) return { title, lines: [found.problem] };
  const { row } = found;
  return {
    title: `Task ${row.id}`,
    lines: [
      `agent    ${row.agent}: ${row.description}`,
      `status   ${row.status}${row.endedAt === null ? `: ${activityLine(row, now)}` : ''}`,
      ...(row.workspace === null ? [] : workspaceLines(row, row.workspace)),
      `mode     ${row.mode}`,
      `model    ${row.model}`,
      `used     ${usedText(row, now)}`,
      ...(row.openQuestionCount === 0
        ? []
        : [`asks     ${plural(row.openQuestionCount, 'question')} of it waits for you`]),
      ...(row.findingCount === 0
        ? []
        : [`board    ${plural(row.findingCount, 'finding')} posted: /board`]),
      ...(row.lastLine === '' ? [] : [`said     ${row.lastLine}`]),
    ],
  };
}

function workspaceLines({ id, landing }: TreeTask, own: WorkspaceView): readonly string[] {
  const { kind, branch, state } = showLanding(own, landing);
  const place = `works in its own ${kind}${branch === null ? '' : `, branch ${branch}`}: ${state}`;
  if (landing !== 'unfinished') return [place];
  return [
    place,
    `         muster tasks apply ${id} --continue finishes the landing, --abort takes it back`,
  ];
}

/** `/task-send ID MESSAGE`: sends a message to a task. A task that has ended continues with it. */
export function sendTaskMessage(state: AppState, argument: string): Update {
  const [, typed = '', text = ''] = /^(\S*)\s*([^]*)$/.exec(argument) ?? [];
  const found = findTask(state.tree, typed);
  if ('problem' in found) return hint(state, found.problem);
  const { id, agent } = found.row;
  if (text === '') return hint(state, 'type the message after the id: /task-send ID MESSAGE');
  const to = id === state.tree.root ? null : id;
  const sent = `sent to ${agent} ${id.slice(0, 6)}`;
  return next({ ...state, hint: sent }, { type: 'send-message', text, to });
}

/** `/task-stop ID`: stops a task with all tasks below it. */
export function stopNamedTask(state: AppState, typed: string): Update {
  const found = findTask(state.tree, typed);
  if ('problem' in found) return hint(state, found.problem);
  const { row } = found;
  if (hasEnded(row)) return hint(state, 'the task has already ended');
  return next({ ...state, hint: STOPPING }, { type: 'stop-task', task: row.id });
}
