import type { RewindOutcome, RewindPlan, RewindRequest, Tasks } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import { displayPath } from '../../../../sys/files/paths.ts';
import type { CommandContext } from '../../command.ts';
import type { FlagReader } from '../../flag-reader.ts';
import type { OutputOptions } from '../../run-options.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printJsonDocument, printLines } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

interface RewindOptions extends OutputOptions {
  readonly id: string;
  readonly wish: RewindRequest;
  readonly yes: boolean;
}

const REWIND_SCOPES = ['files', 'conversation'] as const;

/**
 * `muster tasks rewind`: shows the changes, asks for a confirmation, and carries them out. The exit code is 1 if the
 * rewind is not possible, if the person said no, or if a file was kept because somebody has changed it since.
 */
export const tasksRewindCommand = defineTasksCommand({
  words: 'tasks rewind',
  summary: 'put files and conversation of a task back to one of its events',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['to', 'only', 'undo', 'yes'],
  flagDetails: {
    to: {
      value: 'N',
      group: 'Tasks',
      help: 'the number of the event (`muster tasks log`)',
      completes: {},
    },
    undo: { help: 'undo its last rewind, if it has not continued since' },
  },
  examples: [
    'muster tasks rewind 4f2k9x --to 17',
    'muster tasks rewind 4f2k9x --to 17 --only files',
    'muster tasks rewind 4f2k9x --undo --yes',
  ],
  parse: ({ operands: [id = ''], flags }) => ({
    id,
    wish: parseTarget(id, flags),
    yes: flags.has('yes'),
  }),
  run: rewind,
});

function parseTarget(id: string, flags: FlagReader): RewindRequest {
  const to = flags.count('to', 0);
  const only = flags.choices('only', REWIND_SCOPES).at(-1) ?? null;
  if (flags.has('undo')) {
    if (to !== null || only !== null)
      throw new UsageError('--undo takes back the last rewind: leave out --to and --only');
    return 'undo';
  }
  if (to !== null) return { to, ...(only === null ? {} : { only }) };
  throw new UsageError(
    `to which event? muster tasks rewind ${id} --to N; muster tasks log ${id} shows them`,
  );
}

async function rewind(
  tasks: Tasks,
  options: RewindOptions,
  context: CommandContext,
): Promise<number> {
  const { id, wish, yes, json } = options;
  const { describeRewind } = await import('../../../../report/rewind-lines.ts');
  const plan = await tasks.planRewind(id, wish);
  const { refused, isThere } = plan;
  if (!json) printLines(...describeRewind(plan, process.cwd()));
  if (refused.length > 0 || isThere) {
    if (json) printJsonDocument(asJson(plan, null));
    return refused.length > 0 ? 1 : 0;
  }
  if (!yes) {
    if (json) printJsonDocument(asJson(plan, null));
    if (json || !(await isConfirmed(context))) return notDone({ json });
  }
  const outcome = await tasks.rewind(plan);
  // This only finished an earlier rewind that was interrupted. The requested rewind follows.
  if (plan.ends !== null) return rewind(tasks, options, context);
  if (json) printJsonDocument(asJson(plan, outcome));
  else printLines(...outcomeLines(outcome));
  return outcome.left.length === 0 ? 0 : 1;
}

async function isConfirmed({ confirm }: CommandContext): Promise<boolean> {
  if (confirm === null) {
    throw new UsageError('there is no terminal to ask on; to do what is shown, add --yes');
  }
  return confirm('Do this? [y/N] ');
}

function notDone({ json }: { readonly json: boolean }): number {
  if (json) throw new UsageError('nothing was done: to do what is shown, add --yes');
  printLines('Nothing was changed.');
  return 1;
}

function asJson(plan: RewindPlan, outcome: RewindOutcome | null) {
  const { roots: _, logs: _logs, wish: _wish, only, toTime: _time, isThere, ...shown } = plan;
  return {
    ...shown,
    ...(only === null ? {} : { only }),
    isThere,
    isDone: outcome !== null,
    left: [...plan.left, ...(outcome?.left ?? [])],
  };
}

function outcomeLines({ plan, left }: RewindOutcome): readonly string[] {
  const { task, undoes } = plan;
  const back = undoes === null ? `; to undo this: muster tasks rewind ${task} --undo` : '';
  return [
    describeOutcome(plan, left.length),
    ...left.map(({ path, because }) => `  not ${shownPath(path)}: ${sanitizeLine(because)}`),
    `  to continue from there: muster tasks resume ${task}${back}`,
  ];
}

function describeOutcome({ task, to, wish, only, files }: RewindPlan, left: number): string {
  const restored = `${plural(files.length - left, 'file')} put back`;
  if (only === 'conversation') return `task ${task} is at event ${to}; all files stay as they are`;
  if (only === null || wish === 'undo') return `task ${task} is at event ${to}: ${restored}`;
  return `the files of task ${task} are those of event ${wish.to}: ${restored}`;
}

function shownPath(path: string): string {
  return sanitizeLine(displayPath(path, process.cwd()));
}
