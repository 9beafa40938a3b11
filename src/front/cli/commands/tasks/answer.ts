import { resolve } from 'node:path';
import type { AskedQuestion, Tasks } from '../../../../api/index.ts';
import { openTasks } from '../../../../api/tasks.ts';
import { UsageError } from '../../../../base/errors.ts';
import { readEnvironment } from '../../../../sys/env.ts';
import type { DataFlags, QuestionAnswered } from '../../command.ts';
import { refuseAgents } from '../../refuse-agents.ts';
import { stderrNotice } from '../../stderr.ts';
import { runPrompt } from '../run.ts';
import { printJson, printLines } from './print.ts';
import { localMinute } from './time.ts';

/**
 * `muster tasks answer`: lists what is asked, shows one question, or answers it: in the process that
 * waits for it, or else here, where its tree goes on as `muster tasks resume` has it.
 */
export async function answerCommand(command: DataFlags & QuestionAnswered): Promise<number> {
  const { dataDir, id, answer, json, run } = command;
  if (answer !== null) refuseAgents(readEnvironment(), 'answer questions');
  const tasks = openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    onNotice: stderrNotice,
  });
  let goOn: { readonly task: string; readonly question: string };
  try {
    if (id === null) return await show(await tasks.questions(), command);
    if (answer === null) return await show([await tasks.question(id)], command);
    await refuseFlags(tasks, command, id);
    const answered = await tasks.answer(id, answer);
    if (answered.kind === 'told') {
      const { told } = answered;
      if (json) printJson({ task_id: told.id, pid: told.pid, text: told.text });
      else printLines(told.text);
      return 0;
    }
    goOn = { task: answered.top, question: answered.question.id };
  } finally {
    await tasks.close();
  }
  const { task, question } = goOn;
  const resume = { id: task, answer: { question, ...answer } };
  return runPrompt({ ...run, resume }, Promise.resolve(null));
}

async function show(
  asked: readonly AskedQuestion[],
  { json, dataDir }: Pick<DataFlags & QuestionAnswered, 'json' | 'dataDir'>,
): Promise<number> {
  if (json) {
    printJson(asked.map((each) => ({ ...each.json, asked_at: each.askedAt, pid: each.pid })));
    return 0;
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
  return 0;
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
