import { resolve } from 'node:path';
import type { Tasks } from '../../../../api/index.ts';
import { openTasks } from '../../../../api/tasks/tasks.ts';
import { UsageError } from '../../../../base/errors.ts';
import type { DataFlags, RunCommand, TaskMessage } from '../../command.ts';
import { readMessage, readPrompt } from '../../stdin.ts';
import { stderrNotice } from '../../stderr.ts';
import { runPrompt } from '../run.ts';
import { printJson, printLines } from './print.ts';

/**
 * `muster tasks send|resume`: where a process has the task, or one above it, it goes on there and this
 * is done at once; otherwise it goes on here, as `muster --resume ID -p` has it.
 */
export async function messageCommand(command: DataFlags & TaskMessage): Promise<number> {
  const { dataDir, kind, run } = command;
  const tasks = openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    onNotice: stderrNotice,
  });
  let text: string | null;
  try {
    // Before stdin is waited for: nobody types a message to a task that is not there.
    await refuseFlags(tasks, command);
    text = await (kind === 'tasks-send' ? readText(command) : readMessage(run.prompt));
    if (await tellIt(tasks, command, text)) return 0;
  } finally {
    await tasks.close();
  }
  return runPrompt(run, Promise.resolve(text));
}

function readText({ id, run }: TaskMessage): Promise<string> {
  if (run.prompt === null && process.stdin.isTTY === true) {
    throw new UsageError(`no text: muster tasks send ${id} TEXT, or pipe one in`);
  }
  return readPrompt(run.prompt);
}

/** A process at work has its rules and limits; silence would let a `--deny` seem to act. */
async function refuseFlags(tasks: Tasks, { id, run, flagsOfRun }: TaskMessage): Promise<void> {
  const state = tasks.state(id);
  const owner = await tasks.processFor(id);
  if (owner === null) return;
  const { model, maxTurns } = termsOf(run);
  const flags = [
    ...flagsOfRun,
    ...(state.end === null && model !== null ? ['--model'] : []),
    ...(state.end === null && maxTurns !== null ? ['--max-turns'] : []),
  ];
  if (flags.length === 0) return;
  throw new UsageError(
    `task ${state.spec.id} goes on in process ${owner.pid}, where ${flags.join(', ')} can't act: leave it out, or stop the task first`,
  );
}

/** Whether a process took it. */
async function tellIt(
  tasks: Tasks,
  { id, run }: TaskMessage,
  text: string | null,
): Promise<boolean> {
  const { model, maxTurns } = termsOf(run);
  const told = await tasks.tell(id, {
    text,
    ...(model === null ? {} : { model }),
    ...(maxTurns === null ? {} : { maxTurns }),
  });
  if (told === null) return false;
  if (run.outputFormat === 'text') printLines(told.text);
  else printJson({ task_id: told.id, pid: told.pid, text: told.text });
  return true;
}

function termsOf({ flags, maxTurns }: RunCommand) {
  const model = flags.findLast(({ key }) => key === 'models.default')?.text ?? null;
  return { model, maxTurns };
}
