import { plural } from '../../../../base/text.ts';
import type { AppState } from '../../model/app-state.ts';
import { hasEnded, type TaskRow } from '../../model/task-row.ts';
import type { DisplayedTree } from '../../model/task-tree.ts';
import { activityLine } from '../../view/task-pane.ts';
import { hint, next, type Update } from '../step.ts';
import { STOPPING } from '../tasks.ts';
import { usedText, type Page, type PageSource } from './pages.ts';

/** A task that was named by the beginning of its id, or why no task was found. */
type FoundTask = { readonly row: TaskRow } | { readonly problem: string };

function findTask({ rows }: DisplayedTree, typed: string): FoundTask {
  if (typed === '') return { problem: 'which one? /tasks lists their ids' };
  const found = [...rows.values()].filter(({ id }) => id.startsWith(typed));
  const [row] = found;
  if (row !== undefined && found.length === 1) return { row };
  const why = row === undefined ? 'no task of this conversation' : plural(found.length, 'task');
  return { problem: `${typed} means ${why}; /tasks lists their ids` };
}

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
      `mode     ${row.mode}`,
      `model    ${row.model}`,
      `used     ${usedText(row, now)}`,
      ...(row.openQuestionCount === 0
        ? []
        : [`asks     ${plural(row.openQuestionCount, 'question')} of it waits for you`]),
      ...(row.lastLine === '' ? [] : [`said     ${row.lastLine}`]),
    ],
  };
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
