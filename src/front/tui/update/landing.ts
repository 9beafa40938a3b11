import { plural } from '../../../base/text.ts';
import type { LandingForm } from '../../../api/index.ts';
import type { AppState } from '../model/app-state.ts';
import { textSection } from '../model/pager.ts';
import { showPage } from './commands/pages.ts';
import { findTask } from './find-task.ts';
import type { UiMessage } from './message.ts';
import { showDocument } from './pager.ts';
import { askConfirmation, editTree, hint, next, type Update, type UpdateContext } from './step.ts';

/** The maximum number of lines of a diff in a question or on a page. `/task-diff` shows all of them on the screen. */
const MAX_DIFF_LINES = 200;

/** Calls `step` with the full id of a task with a workspace. Otherwise shows a hint with the reason. */
function withWorkspace(state: AppState, typed: string, step: (task: string) => Update): Update {
  const found = findTask(state.tree, typed);
  if ('problem' in found) return hint(state, found.problem);
  const { id, workspace } = found.row;
  if (workspace === null) return hint(state, 'this task has no worktree or copy of its own');
  return step(id);
}

/** `/task-diff ID`: the changes that a task has made in its workspace. */
export function showTaskDiff(state: AppState, typed: string): Update {
  return withWorkspace(state, typed, (task) => next(state, { type: 'show-task-diff', task }));
}

const FORMS: Readonly<Record<string, LandingForm>> = {
  '': 'commits',
  squash: 'squash',
  'no-commit': 'files',
};

/** `/task-apply ID [HOW]`: merges these changes into the files of the user, after a look at them. */
export function applyTask(state: AppState, argument: string): Update {
  const [, typed = '', word = ''] = /^(\S*)\s*(?:--)?(.*)$/.exec(argument) ?? [];
  const form = FORMS[word.trim()];
  if (form === undefined) return hint(state, 'type /task-apply ID, ID squash or ID no-commit');
  return withWorkspace(state, typed, (task) =>
    next(state, { type: 'plan-landing', request: { task, action: 'apply', form } }),
  );
}

/** `/task-discard ID`: deletes these changes, after a look at them. */
export function discardTask(state: AppState, typed: string): Update {
  return withWorkspace(state, typed, (task) =>
    next(state, { type: 'plan-landing', request: { task, action: 'discard' } }),
  );
}

type LandingPlanned = Extract<UiMessage, { type: 'landing-planned' }>;

/** Asks for a confirmation with the changes, or names the conflicts. */
export function showLandingPlan(
  state: AppState,
  { request, preview }: LandingPlanned,
  context: UpdateContext,
): Update {
  const { files, diff, conflicts } = preview;
  if (request.action === 'apply') {
    if (conflicts.length > 0) return showConflicts(state, { request, preview }, context);
    if (files === 0) return hint(state, 'your files contain all its changes already');
  }
  const title = TITLES[request.action];
  const lines = [
    `${plural(files, 'file')} of task ${request.task}`,
    ...cutDiff(diff, request.task),
  ];
  const question = { kind: 'confirm', id: 'landing', task: '', title, lines } as const;
  const asked = askConfirmation(state, question);
  const pending = { pendingLanding: request, pendingRewind: null };
  return next({ ...asked, ...pending, questionFocusedAt: context.now() });
}

const TITLES = {
  apply: 'merge these changes into your files?',
  discard: 'delete these changes for good?',
} as const;

function cutDiff(diff: string, task: string): readonly string[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  const more = lines.length - MAX_DIFF_LINES;
  if (more <= 0) return lines;
  const rest = `… ${plural(more, 'more line')}: /task-diff ${task.slice(0, 8)}`;
  return [...lines.slice(0, MAX_DIFF_LINES), rest];
}

function showConflicts(
  state: AppState,
  { request: { task }, preview: { conflicts } }: Pick<LandingPlanned, 'request' | 'preview'>,
  context: UpdateContext,
): Update {
  const title = `Nothing was changed: ${plural(conflicts.length, 'file')} of task ${task} cannot be merged`;
  const text = conflicts
    .flatMap(({ path, reason, hunks }) => [`${path}: ${reason}`, hunks])
    .filter((part) => part !== '')
    .join('\n');
  if (state.surface === 'screen') {
    return showDocument(state, { title, sections: [textSection(text)] });
  }
  return showPage(state, { title, lines: cutDiff(text, task) }, context);
}

/** Carries out the planned action if the user agreed. */
export function answerLanding(state: AppState, isYes: boolean): Update {
  const { pendingLanding: request } = state;
  if (request === null) return next(state);
  const answered: AppState = { ...state, pendingLanding: null };
  if (!isYes) return hint(answered, 'nothing was changed');
  return next(answered, { type: 'land', request });
}

/** Shows what has become of the changes of tasks. */
export function receiveLandings(
  state: AppState,
  { states }: Extract<UiMessage, { type: 'landings-read' }>,
): AppState {
  return editTree(state, ({ rows }) => {
    for (const [id, landing] of states) {
      const row = rows.get(id);
      if (row !== undefined) rows.set(id, { ...row, landing });
    }
  });
}
