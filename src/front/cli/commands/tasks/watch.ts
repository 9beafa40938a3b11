import { systemClock } from '../../../../base/clock.ts';
import { steadyNow } from '../../../../protocol/state/steady-time.ts';
import { activityText, type TaskEvent, type Tasks } from '../../../../api/index.ts';
import { systemErrorCode } from '../../../../base/errors.ts';
import { resultLine } from '../../../../protocol/stream-line.ts';
import { stderrNotice } from '../../stderr.ts';
import { printJson } from '../../../../sys/print.ts';
import { printLines, printProse } from './print.ts';
import type { TaskState } from '../../../../protocol/state/task-state.ts';

interface TaskWatch {
  /** Null: all tasks. */
  readonly id: string | null;
  readonly json: boolean;
}

/** 128 + the signal's number, as shells report it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * `muster tasks watch`. JSON: the events as they come, a line each; the result of a task that is over, or has
 * lost its process.
 */
export async function watchTasks(tasks: Tasks, { id, json }: TaskWatch): Promise<number> {
  // Looked for before the first line, so that an unknown one is an error and no end.
  const top = id === null ? null : tasks.state(id).spec.id;
  const interrupt = onInterrupt();
  if (top === null && process.stderr.isTTY === true) {
    stderrNotice('watching all tasks; Ctrl-C ends it');
  }
  try {
    const listener = json ? jsonListener(tasks) : await textListener();
    const end = await tasks.watch(top, { listener, signal: interrupt.signal });
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
  const live = new LiveLines((line) => printProse(line), { detail: 'calls', roots: 'told' });
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
      ? `task ${id}: ${status}: no process works on it any more; muster tasks resume ${id} makes it go on`
      : `task ${id}: ${status}: ${end?.because ?? ''}`,
  );
}

function printResult(tasks: Tasks, id: string): void {
  printJson(resultLine(tasks.envelope(tasks.state(id))));
}

/** Aborts on a signal, and when nobody reads the output any more. */
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
    // Any other one is told, and decides the exit code, elsewhere.
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
