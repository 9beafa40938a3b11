import { UsageError } from '../../../../base/errors.ts';
import type { Tasks } from '../../../../api/index.ts';
import { defineCommand, type CommandArguments, type Operand } from '../../command.ts';
import type { FlagReader } from '../../flag-reader.ts';
import { LIMIT_FLAG_NAMES, type FlagName } from '../../flags.ts';
import { runOptions, SESSION_FLAGS, type RunFlags } from '../../run-options.ts';
import { readMessage, readPrompt } from '../../stdin.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printProcessReport } from './print.ts';
import { withTasks } from './with-tasks.ts';
import { quoteValue } from '../../../../config/message-text.ts';
import { dropMissing } from '../../../../base/drop-missing.ts';

/** The flags of commands that continue a task from the logs. */
export const MESSAGE_FLAGS: readonly FlagName[] = ['output-format', 'json', ...SESSION_FLAGS];

const MESSAGE_OPERANDS: readonly Operand[] = [
  { name: 'ID', completes: TASK_VALUES },
  { name: '[TEXT]' },
];

/** The flags that a run in this process obeys, but a process that already works on the task cannot obey. */
const FLAGS_OF_RUN: readonly FlagName[] = [
  'agents',
  'permission-mode',
  'agent-mode',
  'allow',
  'ask',
  'deny',
  'on-ask',
  ...LIMIT_FLAG_NAMES,
  'trust-project',
  'cwd',
  'add-dir',
];

/** `muster tasks resume` */
export const tasksResumeCommand = defineCommand({
  words: 'tasks resume',
  summary: 'continue a task, in its process or else in this one; TEXT is its next message',
  operands: MESSAGE_OPERANDS,
  flags: MESSAGE_FLAGS,
  examples: ['muster tasks resume 4f2k9x', 'muster tasks resume 4f2k9x "Now run the tests"'],
  parse: parseMessage,
  run: (options) => sendMessage(options),
});

/** `muster tasks send` */
export const tasksSendCommand = defineCommand({
  words: 'tasks send',
  summary: 'send a message to a task at work; an ended task continues with it',
  operands: MESSAGE_OPERANDS,
  flags: MESSAGE_FLAGS,
  examples: [
    'muster tasks send 4f2k9x "Leave the tests alone"',
    'git diff | muster tasks send 4f2k9x',
  ],
  parse: parseMessage,
  run: (options) => sendMessage(options, () => readText(options)),
});

async function readText({ id, run }: MessageOptions): Promise<string> {
  if (run.prompt === null && process.stdin.isTTY === true) {
    throw new UsageError(`no text: muster tasks send ${id} TEXT, or pipe one in`);
  }
  return readPrompt(run.prompt);
}

/** `muster tasks branch` */
export const tasksBranchCommand = defineCommand({
  words: 'tasks branch',
  summary: 'continue a task from one of its events, in a new task',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['at', 'prompt', ...MESSAGE_FLAGS],
  flagDetails: { prompt: { help: 'the next message' } },
  examples: [
    'muster tasks branch 4f2k9x --at 17 --model powerful',
    'muster tasks branch 4f2k9x --at 17 --prompt "Try it without a lock"',
  ],
  parse: ({ operands: [id = ''], flags }) => {
    const branchAt = flags.count('at', 0);
    if (branchAt === null) {
      throw new UsageError(
        `at which event? muster tasks branch ${id} --at N; muster tasks log ${id} shows them`,
      );
    }
    const run = continuedRun(id, flags.text('prompt'), flags);
    return {
      dataDir: run.dataDir,
      run: { ...run, resume: { id, branchAt }, readsStdin: false },
    };
  },
  run: async ({ run }) => {
    const { runPrompt } = await import('../../run-prompt.ts');
    return runPrompt(run, Promise.resolve(run.prompt));
  },
});

interface MessageOptions {
  readonly dataDir: string | null;
  /** The id of a task, or its beginning. */
  readonly id: string;
  /** The run that continues the task if no process works on it. Its `prompt` is the message. */
  readonly run: RunFlags;
  /** The given flags that a process which already works on the task cannot obey. */
  readonly flagsOfRun: readonly string[];
}

function parseMessage({ operands, flags }: CommandArguments): MessageOptions {
  const [id = '', text = null] = operands;
  return {
    dataDir: flags.text('data-dir'),
    id,
    run: continuedRun(id, text, flags),
    flagsOfRun: flagsOfRun(flags),
  };
}

export function flagsOfRun(flags: FlagReader): readonly string[] {
  return flags.findGivenFlags(FLAGS_OF_RUN);
}

/** Returns the options of `muster --resume ID -p TEXT`; `--json` is short for `--output-format json`. */
export function continuedRun(id: string, text: string | null, flags: FlagReader): RunFlags {
  if (text?.trim() === '') throw new UsageError('the message is empty');
  const run = runOptions(flags);
  const { outputFormat } = run;
  if (flags.has('json') && flags.has('output-format') && outputFormat !== 'json') {
    throw new UsageError(`--json does not go with --output-format ${quoteValue(outputFormat)}`);
  }
  return {
    prompt: text,
    resume: { id },
    readsStdin: true,
    worktree: null,
    ...run,
    outputFormat: flags.has('json') ? 'json' : outputFormat,
  };
}

/**
 * Sends a message to the process that works on the task, or on a task above it, and returns at once. If there is no
 * such process, the task continues in this process, as with `muster --resume ID -p`.
 */
async function sendMessage(
  options: MessageOptions,
  readText: () => Promise<string | null> = () => readMessage(options.run.prompt),
): Promise<number> {
  const { run } = options;
  const { isSent, text } = await withTasks(options, async (tasks) => {
    // Check the task before stdin is read, because nobody should type a message to a task that does not exist.
    await refuseFlags(tasks, options);
    const text = await readText();
    return { text, isSent: await sendToProcess(tasks, options, text) };
  });
  if (isSent) return 0;
  const { runPrompt } = await import('../../run-prompt.ts');
  return runPrompt(run, Promise.resolve(text));
}

/** Throws UsageError for flags that a process at work cannot obey: if `--deny` were ignored, it would seem to be in force. */
async function refuseFlags(
  tasks: Tasks,
  { id, run, flagsOfRun: given }: MessageOptions,
): Promise<void> {
  const state = tasks.state(id);
  const owner = await tasks.processFor(id);
  if (owner === null) return;
  const { model, maxTurns } = readModelAndTurns(run);
  const flags = [
    ...given,
    ...(state.end === null && model !== null ? ['--model'] : []),
    ...(state.end === null && maxTurns !== null ? ['--max-turns'] : []),
  ];
  if (flags.length === 0) return;
  throw new UsageError(
    `task ${state.spec.id} is in process ${owner.pid}, where ${flags.join(', ')} can't act: leave it out, or stop the task first`,
  );
}

/** Sends a message to the process that works on the task. Returns false if there is no such process. */
async function sendToProcess(
  tasks: Tasks,
  { id, run }: MessageOptions,
  text: string | null,
): Promise<boolean> {
  const { model, maxTurns } = readModelAndTurns(run);
  const report = await tasks.tell(id, { text, ...dropMissing({ model, maxTurns }) });
  if (report === null) return false;
  printProcessReport(report, { json: run.outputFormat !== 'text' });
  return true;
}

function readModelAndTurns({ flags, maxTurns }: RunFlags) {
  const model = flags.findLast(({ key }) => key === 'models.default')?.text ?? null;
  return { model, maxTurns };
}
