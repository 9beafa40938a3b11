import { localMinute } from '../../../../base/local-time.ts';
import { resolve } from 'node:path';
import type { AskedQuestion, Tasks } from '../../../../api/index.ts';
import { openTasks } from '../../../../api/tasks/tasks.ts';
import { MusterError, UsageError } from '../../../../base/errors.ts';
import { readEnvironment } from '../../../../sys/env.ts';
import type { DataFlags, QuestionAnswered, ResumedTask } from '../../command.ts';
import { refuseAgents } from '../../refuse-agents.ts';
import { stderrNotice } from '../../stderr.ts';
import { runPrompt } from '../run.ts';
import { printJson, printLines } from './print.ts';

type AnswerCommand = DataFlags & QuestionAnswered;

const MOST_TRIES = 3;

/**
 * `muster tasks answer`: lists what is asked, shows one question, or answers it: in the process that
 * waits for it, or else here, where its tree goes on as `muster tasks resume` has it.
 */
export async function answerCommand(command: AnswerCommand): Promise<number> {
  const { answer, run } = command;
  if (answer !== null) refuseAgents(readEnvironment(), 'answer questions');
  let { id } = command;
  for (let tries = 1; ; tries += 1) {
    const resume = await showOrTell({ ...command, id });
    if (resume === null) return 0;
    // A beginning of an id could mean another question the next time.
    id = resume.answer?.question ?? id;
    try {
      return await runPrompt({ ...run, resume }, Promise.resolve(null));
    } catch (thrown) {
      // Another terminal was faster: its process has the tree now, and is told, or has answered it.
      const isTaken = thrown instanceof MusterError && thrown.code === 'CONFLICT';
      if (!isTaken || tries === MOST_TRIES) throw thrown;
    }
  }
}

/** Null: all is done. Else the question is left, and this is to go on, with the answer. */
async function showOrTell(command: AnswerCommand): Promise<ResumedTask | null> {
  const { dataDir, id, answer, json } = command;
  const tasks = openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    onNotice: stderrNotice,
  });
  try {
    if (id === null || answer === null) {
      await show(id === null ? await tasks.questions() : [await tasks.question(id)], command);
      return null;
    }
    await refuseFlags(tasks, command, id);
    const answered = await tasks.answer(id, answer);
    if (answered.kind === 'left') {
      return { id: answered.top, answer: { question: answered.question.id, ...answer } };
    }
    const { told } = answered;
    if (json) printJson({ task_id: told.id, pid: told.pid, text: told.text });
    else printLines(told.text);
    return null;
  } finally {
    await tasks.close();
  }
}

async function show(
  asked: readonly AskedQuestion[],
  { json, dataDir }: Pick<AnswerCommand, 'json' | 'dataDir'>,
): Promise<void> {
  if (json) {
    printJson(asked.map((each) => ({ ...each.json, asked_at: each.askedAt, pid: each.pid })));
    return;
  }
  const { questionLines } = await import('../../../headless/question-lines.ts');
  if (asked.length === 0) printLines('No question is open.');
  for (const [index, { question, askedAt, pid }] of asked.entries()) {
    const where = pid === null ? 'parked: an answer makes it go on' : `process ${pid} waits`;
    printLines(
      ...(index === 0 ? [] : ['']),
      ...questionLines(question, dataDir === null ? null : resolve(dataDir)),
      `  asked ${localMinute(askedAt)}; ${where}`,
    );
  }
}

/** A process at work has its rules and limits; silence would let a `--deny` seem to act. */
async function refuseFlags(
  tasks: Tasks,
  { flagsOfRun }: QuestionAnswered,
  id: string,
): Promise<void> {
  if (flagsOfRun.length === 0) return;
  const { question, pid } = await tasks.question(id);
  if (pid === null) return;
  throw new UsageError(
    `task ${question.task} is at work in process ${pid}, where ${flagsOfRun.join(', ')} can't act: leave it out, or stop the task first`,
  );
}
