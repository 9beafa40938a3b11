import { resolve } from 'node:path';
import type { AskedQuestion, Tasks, QuestionAnswer } from '../../../../api/index.ts';
import { formatLocalMinute } from '../../../../base/local-time.ts';
import { MusterError, UsageError } from '../../../../base/errors.ts';
import { GRANT_SCOPES } from '../../../../protocol/question.ts';
import { refuseAgents, defineCommand } from '../../command.ts';
import type { FlagReader } from '../../flag-reader.ts';
import {
  outputOptions,
  type DataOptions,
  type ResumedTask,
  type RunFlags,
} from '../../run-options.ts';
import { continuedRun, flagsOfRun, MESSAGE_FLAGS } from './message.ts';
import { printJsonDocument, printLines, printProcessReport } from './print.ts';
import { withTasks } from './with-tasks.ts';
import { dropMissing } from '../../../../base/drop-missing.ts';

interface AnswerOptions extends DataOptions {
  readonly json: boolean;
  /** The id of a question, or its beginning; null: all open questions are listed. */
  readonly id: string | null;
  /** The answer; null to show the question. */
  readonly answer: Omit<QuestionAnswer, 'question'> | null;
  /** The run that continues the tree if no process works on it. */
  readonly run: RunFlags;
  /** The given flags that a process which already works on the tree cannot obey. */
  readonly flagsOfRun: readonly string[];
}

const MAX_TRIES = 3;

/**
 * `muster tasks answer`: lists the open questions, shows a question, or answers it. The answer goes to the process that
 * waits for it. If there is no such process, the tree continues in this process, as with `muster tasks resume`.
 */
export const tasksAnswerCommand = defineCommand<AnswerOptions>({
  words: 'tasks answer',
  summary: 'answer a question of a task; without ID list the open questions',
  operands: [
    { name: '[ID]', completes: { found: 'open questions' } },
    { name: '[ANSWER]', completes: { words: ['yes', 'no', 'always', 'edits', 'mode'] } },
  ],
  flags: ['scope', 'reason', ...MESSAGE_FLAGS],
  examples: [
    'muster tasks answer',
    'muster tasks answer 4f2k9xq1 yes',
    'muster tasks answer 4f2k9xq1 always --scope project',
    'muster tasks answer 4f2k9xq1 no --reason "use the test database"',
    'muster tasks answer 4f2k9xq2 "the second one, but without tests"',
  ],
  parse: ({ operands: [id = null, text = null], flags }) => ({
    ...outputOptions(flags),
    id,
    run: continuedRun(id ?? '', null, flags),
    answer: parseAnswer(text, flags),
    flagsOfRun: [...flagsOfRun(flags), ...flags.findGivenFlags(['model', 'max-turns'])],
  }),
  run: async (options, { environment }) => {
    const { answer, run } = options;
    if (answer !== null) refuseAgents(environment, 'answer questions');
    let { id } = options;
    for (let tries = 1; ; tries += 1) {
      const resume = await withTasks(options, (tasks) => showOrSend(tasks, { ...options, id }));
      if (resume === null) return 0;
      // The full id is kept, because its beginning could match another question at the next try.
      id = resume.answer?.question ?? id;
      const { runPrompt } = await import('../../run-prompt.ts');
      try {
        return await runPrompt({ ...run, resume }, Promise.resolve(null));
      } catch (thrown) {
        // Another process has taken over the tree. It receives the answer at the next try, unless it already has one.
        const isTaken = thrown instanceof MusterError && thrown.code === 'CONFLICT';
        if (!isTaken || tries === MAX_TRIES) throw thrown;
      }
    }
  },
});

function parseAnswer(text: string | null, flags: FlagReader): AnswerOptions['answer'] {
  const scope = flags.has('scope') ? flags.choice('scope', GRANT_SCOPES, 'task') : null;
  const reason = flags.text('reason');
  if (text === null) {
    if (scope === null && reason === null) return null;
    throw new UsageError('--scope and --reason go with an answer: muster tasks answer ID ANSWER');
  }
  if (text.trim() === '') throw new UsageError('the answer is empty');
  return { text, ...dropMissing({ scope, reason }) };
}

/** Shows or answers a question. Returns null when that is done, or the task that this process must continue with the answer. */
async function showOrSend(tasks: Tasks, options: AnswerOptions): Promise<ResumedTask | null> {
  const { id, answer } = options;
  if (id === null || answer === null) {
    await printQuestions(
      id === null ? await tasks.questions() : [await tasks.question(id)],
      options,
    );
    return null;
  }
  await refuseFlags(tasks, options, id);
  const answered = await tasks.answer(id, answer);
  if (answered.kind === 'left') {
    return { id: answered.top, answer: { question: answered.question.id, ...answer } };
  }
  printProcessReport(answered.told, options);
  return null;
}

async function printQuestions(
  asked: readonly AskedQuestion[],
  { json, dataDir }: Pick<AnswerOptions, 'json' | 'dataDir'>,
): Promise<void> {
  if (json) {
    printJsonDocument(
      asked.map((each) => ({ ...each.json, asked_at: each.askedAt, pid: each.pid })),
    );
    return;
  }
  const { questionLines } = await import('../../../headless/question-lines.ts');
  if (asked.length === 0) printLines('No question is open.');
  for (const [index, { question, askedAt, pid }] of asked.entries()) {
    const where = pid === null ? 'parked: an answer continues it' : `process ${pid} waits`;
    printLines(
      ...(index === 0 ? [] : ['']),
      ...questionLines(question, dataDir === null ? null : resolve(dataDir)),
      `  asked ${formatLocalMinute(askedAt)}; ${where}`,
    );
  }
}

/** Throws UsageError for flags that a process at work cannot obey: if `--deny` were ignored, it would seem to be in force. */
async function refuseFlags(
  tasks: Tasks,
  { flagsOfRun: given }: AnswerOptions,
  id: string,
): Promise<void> {
  if (given.length === 0) return;
  const { question, pid } = await tasks.question(id);
  if (pid === null) return;
  throw new UsageError(
    `task ${question.task} is at work in process ${pid}, where ${given.join(', ')} can't act: leave it out, or stop the task first`,
  );
}
