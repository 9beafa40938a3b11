import { UsageError } from '../../base/errors.ts';
import { GRANT_SCOPES } from '../../protocol/question.ts';
import { TASK_STATUSES } from '../../protocol/result.ts';
import type { RewindRequest } from '../../api/index.ts';
import { quoted } from '../../config/quote.ts';
import type { QuestionAnswered, RunCommand, TasksCommand } from './command.ts';
import type { CommandKind } from './command-table.ts';
import type { FlagReader } from './flag-reader.ts';
import type { FlagName } from './flags.ts';
import { runSettings } from './run-settings.ts';

type TasksKind = Extract<CommandKind, `tasks-${string}`>;

/** The arguments of `muster tasks …`, as many operands as the command takes. Throws UsageError. */
export function parseTasks(
  kind: TasksKind,
  operands: readonly string[],
  flags: FlagReader,
): TasksCommand {
  const common = { json: flags.given('json'), dataDir: flags.text('data-dir') };
  const [id = '', second = null] = operands;
  switch (kind) {
    case 'tasks-list': {
      const status = flags.choices('status', TASK_STATUSES);
      return { kind, ...common, all: flags.given('all'), status, here: flags.given('here') };
    }
    case 'tasks-show': {
      const html = flags.text('html');
      const force = flags.given('force');
      if (force && html === null) throw new UsageError('--force goes with --html FILE');
      return { kind, ...common, id, html, force };
    }
    case 'tasks-background':
    case 'tasks-rerun':
      return { kind, ...common, id };
    case 'tasks-rewind':
      return { kind, ...common, id, wish: rewindWish(id, flags), yes: flags.given('yes') };
    case 'tasks-branch': {
      const branchAt = flags.count('at', { least: 0 });
      if (branchAt === null) {
        throw new UsageError(
          `at which event? muster tasks branch ${id} --at N; muster tasks log ${id} shows them`,
        );
      }
      const run = runGoingOn(id, flags.text('prompt'), flags);
      return {
        kind,
        dataDir: common.dataDir,
        run: { ...run, resume: { id, branchAt }, readsStdin: false },
      };
    }
    case 'tasks-log':
      return { kind, ...common, id, from: flags.count('from', { least: 0 }) ?? 0 };
    case 'tasks-context':
      return { kind, ...common, id, turn: flags.count('turn', { least: 1 }) };
    case 'tasks-watch':
      return { kind, ...common, id: operands[0] ?? null };
    case 'tasks-stop':
      return { kind, ...common, id, because: flags.text('because') };
    case 'tasks-export':
      return { kind, ...common, id, file: second, force: flags.given('force') };
    case 'tasks-import':
      return { kind, ...common, file: id };
    case 'tasks-delete':
      return { kind, ...common, ids: operands };
    case 'tasks-prune':
      return { kind, ...common, days: flags.count('days', { least: 0 }) };
    case 'tasks-send':
    case 'tasks-resume': {
      const run = runGoingOn(id, second, flags);
      return { kind, dataDir: common.dataDir, id, run, flagsOfRun: flagsOfRun(flags) };
    }
    case 'tasks-answer': {
      const run = runGoingOn(id, null, flags);
      const answer = answerOf(second, flags);
      const meaningless = [...flagsOfRun(flags), ...termsIn(flags)];
      return { kind, ...common, id: operands[0] ?? null, answer, run, flagsOfRun: meaningless };
    }
    default:
      return kind satisfies never;
  }
}

function rewindWish(id: string, flags: FlagReader): RewindRequest {
  const to = flags.count('to', { least: 0 });
  if (flags.given('undo')) {
    if (to !== null) throw new UsageError('--undo takes back the last rewind: leave out --to');
    return 'undo';
  }
  if (to !== null) return { to };
  throw new UsageError(
    `to which event? muster tasks rewind ${id} --to N; muster tasks log ${id} shows them`,
  );
}

function answerOf(text: string | null, flags: FlagReader): QuestionAnswered['answer'] {
  const scope = flags.given('scope') ? flags.choice('scope', GRANT_SCOPES, 'task') : null;
  const reason = flags.text('reason');
  if (text === null) {
    if (scope === null && reason === null) return null;
    throw new UsageError('--scope and --reason go with an answer: muster tasks answer ID ANSWER');
  }
  if (text.trim() === '') throw new UsageError('the answer is empty');
  return {
    text,
    ...(scope === null ? {} : { scope }),
    ...(reason === null ? {} : { reason }),
  };
}

/** What a message to an ended task may change, and an answer to one at work can't. */
function termsIn(flags: FlagReader): readonly string[] {
  return (['model', 'max-turns'] as const).flatMap((name) =>
    flags.given(name) ? [`--${name}`] : [],
  );
}

function flagsOfRun(flags: FlagReader): readonly string[] {
  return FLAGS_OF_RUN.filter((name) => flags.given(name)).map((flag) => `--${flag}`);
}

/** What a run that goes on here would heed, and a process at work can't. */
const FLAGS_OF_RUN = [
  'agents',
  'permission-mode',
  'agent-mode',
  'allow',
  'ask',
  'deny',
  'on-ask',
  'max-tokens',
  'max-cost-usd',
  'max-wall-seconds',
  'max-tasks',
  'trust-project',
  'cwd',
  'add-dir',
] as const satisfies readonly FlagName[];

/** As `muster --resume ID -p TEXT` has it; `--json` is short for `--output-format json`. */
function runGoingOn(id: string, text: string | null, flags: FlagReader): RunCommand {
  if (text?.trim() === '') throw new UsageError('the message is empty');
  const settings = runSettings(flags);
  const { outputFormat } = settings;
  if (flags.given('json') && flags.given('output-format') && outputFormat !== 'json') {
    throw new UsageError(`--json does not go with --output-format ${quoted(outputFormat)}`);
  }
  return {
    kind: 'run',
    prompt: text,
    resume: { id },
    readsStdin: true,
    ...settings,
    outputFormat: flags.given('json') ? 'json' : outputFormat,
  };
}
