import type { LandingForm, LandingOutcome } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import type { CompletionValues } from '../../completion-values.ts';
import { describeOutcome, outcomeJson } from './landing-outcome.ts';
import { printJsonDocument, printLines } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

const WITH_WORKSPACE: CompletionValues = { found: 'tasks with a workspace' };

/** `muster tasks diff`: the changes that wait in the workspace of a task. */
export const tasksDiffCommand = defineTasksCommand({
  words: 'tasks diff',
  summary: 'show what a task left in its own worktree or copy',
  operands: [{ name: 'ID', completes: WITH_WORKSPACE }],
  flags: [],
  examples: ['muster tasks diff 4f2k9x'],
  parse: ({ operands: [id = ''] }) => ({ id }),
  run: async (tasks, { id, json }) => {
    const workspaces = await tasks.workspaces(abortOnInterrupt());
    const diff = await workspaces.diff(id);
    if (json) printJsonDocument({ diff });
    else printLines(diff === '' ? 'No changes.' : diff.replace(/\n$/, ''));
  },
});

/** `muster tasks apply`: merges these changes into the tree from which the task began. */
export const tasksApplyCommand = defineTasksCommand({
  words: 'tasks apply',
  summary: 'merge what a task left in its own worktree or copy into your files',
  operands: [{ name: 'ID', completes: WITH_WORKSPACE }],
  flags: ['squash', 'no-commit', 'undo', 'continue', 'abort'],
  examples: [
    'muster tasks apply 4f2k9x',
    'muster tasks apply 4f2k9x --no-commit',
    'muster tasks apply 4f2k9x --undo',
  ],
  parse: ({ operands: [id = ''], flags }) => {
    const chosen = (['squash', 'no-commit', 'undo', 'continue', 'abort'] as const).filter((name) =>
      flags.has(name),
    );
    if (chosen.length > 1)
      throw new UsageError(`--${chosen.join(' and --')} cannot be used together`);
    return { id, action: chosen[0] ?? ('commits' as const) };
  },
  run: async (tasks, { id, action, json }) => {
    const workspaces = await tasks.workspaces(abortOnInterrupt());
    switch (action) {
      case 'undo':
        return printOutcome(await workspaces.undo(id), 'undone', { json });
      case 'continue':
      case 'abort':
        return printOutcome(await workspaces.recover(id, action), 'applied', { json });
      default:
        return printOutcome(await workspaces.apply(id, FORMS[action]), 'applied', { json });
    }
  },
});

const FORMS: Readonly<Record<'commits' | 'squash' | 'no-commit', LandingForm>> = {
  commits: 'commits',
  squash: 'squash',
  'no-commit': 'files',
};

/** `muster tasks discard`: deletes these changes. */
export const tasksDiscardCommand = defineTasksCommand({
  words: 'tasks discard',
  summary: 'delete the worktree or copy of a task with its changes, for good',
  operands: [{ name: 'ID', completes: WITH_WORKSPACE }],
  flags: [],
  examples: ['muster tasks discard 4f2k9x'],
  parse: ({ operands: [id = ''] }) => ({ id }),
  run: async (tasks, { id: prefix, json }) => {
    const workspaces = await tasks.workspaces(abortOnInterrupt());
    const { id, files } = await workspaces.discard(prefix);
    if (json) printJsonDocument({ task_id: id, discarded: files });
    else printLines(`task ${id}: the changes of ${plural(files.length, 'file')} are deleted`);
  },
});

/**
 * Returns a signal that aborts at the first SIGINT or SIGTERM, which then does not end the process: a landing that has
 * begun is completed, and one that has not is left out.
 */
function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => controller.abort(new UsageError(`stopped by ${name}`)));
  return controller.signal;
}

/** Prints an outcome. Returns the exit code: 1 if there are conflicts. */
function printOutcome(
  outcome: LandingOutcome,
  done: 'applied' | 'undone',
  { json }: { readonly json: boolean },
): number {
  if (json) printJsonDocument(outcomeJson(outcome));
  else printLines(...describeOutcome(outcome, done));
  return outcome.kind === 'conflicts' ? 1 : 0;
}
