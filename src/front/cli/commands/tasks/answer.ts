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
  type RunOptions,
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
  /** The run that continues the tree if no process has it. */
  readonly run: RunOptions;
  /** The given flags that a process which already has the tree cannot obey. */
  readonly flagsOfRun: readonly string[];
}

const MAX_TRIES = 3;

/**
 * `muster tasks answer`: lists the open questions, shows one, or answers it: in the process that waits for the
 * answer, or else here, where the tree continues as with `muster tasks resume`.
 */
export const tasksAnswerCommand = defineCommand<AnswerOptions>({
  words: 'tasks answer',
  summary: 'answer a question of a task; without ID list the open questions',
  operands: [
    { name: '[ID]', completes: { readFrom: 'open questions' } },
    { name: '[ANSWER]', completes: { words: ['yes', 'no', 'always', 'mode'] } },
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
      // The beginning of an id could mean another question the next time.
      id = resume.answer?.question ?? id;
      const { runPrompt } = await import('../../run-prompt.ts');
      try {
        return await runPrompt({ ...run, resume }, Promise.resolve(null));
      } catch (thrown) {
        // Another terminal was faster: its process has the tree now, and takes the answer or has one.
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

/** Returns null if all is done; otherwise the task to continue here with the answer. */
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

/** A process at work has its own rules and limits: ignoring `--deny` would make it seem to act. */
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
