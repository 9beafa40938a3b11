import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../../../base/clock.ts';
import { steadyNow } from '../../../../protocol/state/steady-time.ts';
import { activityText, loadSessions, type TaskEvent, type Tasks } from '../../../../api/index.ts';
import { dropMissing } from '../../../../base/drop-missing.ts';
import { systemErrorCode, UsageError } from '../../../../base/errors.ts';
import { resultLine } from '../../../../protocol/stream-line.ts';
import { TASK_VARIABLE } from '../../../../sys/processes/command-environment.ts';
import type { Environment } from '../../../../sys/env.ts';
import { printJson } from '../../../../sys/print.ts';
import { defineCommand } from '../../command.ts';
import { printNotice } from '../../output.ts';
import { outputOptions } from '../../run-options.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printLines, printProse } from './print.ts';
import type { TaskState } from '../../../../protocol/state/task-state.ts';
import { withTasks } from './with-tasks.ts';

/** 128 plus the number of the signal, as shells report it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * `muster tasks watch`. JSON prints each event when it arrives, one on each line, and the result of a task that has
 * ended or whose process has gone.
 */
export const tasksWatchCommand = defineCommand({
  words: 'tasks watch',
  summary: 'what a task and all below it do, as they do it; without ID all tasks',
  operands: [{ name: '[ID]', completes: TASK_VALUES }],
  flags: ['from', 'json', 'data-dir'],
  flagDetails: {
    from: {
      value: 'N',
      help: 'begin with event number N of the task, and with what tasks below it have written since the event before',
    },
  },
  examples: [
    'muster tasks watch',
    'muster tasks watch 4f2k9x --json',
    'muster tasks watch 4f2k9x --json --from 120',
  ],
  parse: ({ operands: [id = null], flags }) => {
    const from = flags.count('from', 0);
    if (id === null && from !== null)
      throw new UsageError('--from counts the events of one task: muster tasks watch ID --from N');
    return { id, from, ...outputOptions(flags) };
  },
  run: ({ id, from, json, dataDir }, { environment }) => {
    // The directory is created, so that the first task of all can be watched. A directory that the user names and that
    // does not exist is probably misspelled.
    const create = id === null && (dataDir === null || existsSync(dataDir));
    return withTasks({ dataDir, create }, async (tasks) => {
      const showsScreen = id !== null && from === null && !json && hasScreen(environment);
      return showsScreen
        ? watchOnScreen(tasks, { id, dataDir })
        : watchInLines(tasks, { id, from, json });
    });
  },
});

/** Whether the terminal can show a screen. An agent always gets lines, even if it has a terminal. */
function hasScreen(environment: Environment): boolean {
  if (environment['TERM'] === 'dumb' || environment[TASK_VARIABLE] !== undefined) return false;
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Shows the same screen as the process that runs the task. */
async function watchOnScreen(
  tasks: Tasks,
  { id, dataDir }: { readonly id: string; readonly dataDir: string | null },
): Promise<number> {
  const { spec } = tasks.state(id);
  const { openSession } = await loadSessions();
  const [muster, { runWatch }] = await Promise.all([
    openSession({
      cwd: isDirectory(spec.cwd) ? spec.cwd : resolve('.'),
      ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
      questions: 'wait',
      // This library starts no task, so there is nothing to preload.
      preload: false,
      mainAgent: null,
    }),
    import('../../../tui/watch/run-watch.ts'),
  ]);
  try {
    return await runWatch({ id: spec.id, muster, tasks });
  } finally {
    await muster.close();
  }
}

/** Whether a path is a directory. The directory of a task may be gone, or may belong to another machine. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return false;
  }
}

interface WatchInLinesOptions {
  readonly id: string | null;
  readonly from: number | null;
  readonly json: boolean;
}

async function watchInLines(
  tasks: Tasks,
  { id, from, json }: WatchInLinesOptions,
): Promise<number> {
  // Look up the task before anything is printed, so that an unknown id is an error.
  const top = id === null ? null : tasks.state(id).spec.id;
  const interrupt = onInterrupt();
  if (top === null && process.stderr.isTTY === true) {
    printNotice('watching all tasks; Ctrl-C ends it');
  }
  try {
    const listener = json ? jsonListener(tasks) : await textListener();
    const end = await tasks.watch(top, {
      listener,
      signal: interrupt.signal,
      ...dropMissing({ from }),
    });
    if (top !== null && end !== 'aborted') showEnd(tasks, top, { json, isLeft: end === 'left' });
    return interrupt.code();
  } finally {
    interrupt.forget();
  }
}

function jsonListener(tasks: Tasks) {
  return {
    atWork: () => {},
    event: (event: TaskEvent) => printJson(event),
    left: ({ spec }: TaskState) => printResult(tasks, spec.id),
  };
}

async function textListener() {
  const { LiveLines } = await import('../../../headless/live-lines.ts');
  const live = new LiveLines((line) => printProse(line), { detail: 'calls', roots: 'shown' });
  return {
    atWork: (state: TaskState) =>
      live.showAtWork(state, activityText(state, steadyNow(state.lifetime, systemClock))),
    event: (event: TaskEvent, state: TaskState) => live.show(event, state),
    left: (state: TaskState) => live.showLeft(state),
  };
}

function showEnd(
  tasks: Tasks,
  id: string,
  { json, isLeft }: { readonly json: boolean; readonly isLeft: boolean },
): void {
  if (json) {
    printResult(tasks, id);
    return;
  }
  const { status, end } = tasks.state(id);
  if (status === 'parked') {
    printLines(`task ${id}: parked: muster tasks answer lists what it waits for`);
    return;
  }
  printLines(
    isLeft
      ? `task ${id}: ${status}: no process works on it any more; muster tasks resume ${id} continues it`
      : `task ${id}: ${status}: ${end?.because ?? ''}`,
  );
}

function printResult(tasks: Tasks, id: string): void {
  printJson(resultLine(tasks.envelope(tasks.state(id))));
}

/** Returns an abort signal for the end of the watch: on SIGINT or SIGTERM, or when the output can no longer be written. */
function onInterrupt() {
  const controller = new AbortController();
  let code = 0;
  const handlers = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
    const handler = () => {
      code = EXIT_CODES[signal];
      controller.abort();
    };
    process.once(signal, handler);
    return { signal, handler };
  });
  const onError = (error: Error) => {
    // `watchOutput` reports the error and sets the exit code.
    if (systemErrorCode(error) !== undefined) controller.abort();
  };
  process.stdout.once('error', onError);
  return {
    signal: controller.signal,
    code: () => code,
    forget: () => {
      for (const { signal, handler } of handlers) process.off(signal, handler);
      process.stdout.off('error', onError);
    },
  };
}
