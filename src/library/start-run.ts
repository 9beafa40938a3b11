import { deferred, onAbort } from '../base/async.ts';
import { MusterError, UsageError } from '../base/errors.ts';
import { loadConversations, type EventListener, type Run, type Session } from '../api/index.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { MusterRun, RunEvent, RunResult } from './contract.ts';
import { EventQueue } from './event-queue.ts';
import type { RunBudget } from './options.ts';
import { SpentBudget, toLimits } from './spent-budget.ts';

/** The parts that differ between a new run, a resumed one and a branch. */
export interface RunPlan<Output> {
  /** The id of the main task. */
  readonly id: string;
  readonly session: Session;
  readonly signal: AbortSignal | undefined;
  /** Aborts when the instance is closed. */
  readonly closed: AbortSignal;
  readonly hasDeltas: boolean;
  /** The budget of all its messages together. */
  readonly budget: RunBudget;
  /** The messages, if the program sends several. The first one belongs to `start`. */
  readonly messages?: AsyncIterator<string>;
  /** Starts the run. `first`: the first of the messages. */
  start(onEvent: EventListener, first: string | undefined): Promise<Run>;
  toResult(envelope: ResultEnvelope): RunResult<Output> | Promise<RunResult<Output>>;
}

/** Starts a run in the next microtask, so that an iterator which the caller creates at once misses no event. */
export function startRun<Output>(plan: RunPlan<Output>): MusterRun<Output> {
  const { id, session, signal, closed } = plan;
  const queue = new EventQueue<RunEvent>();
  const started = deferred<void>();
  const stopped = deferred<void>();
  const tasks = new Set([id]);
  const spent = new SpentBudget(id, plan.budget);
  const onEvent: EventListener = (event) => {
    spent.add(event);
    tasks.add(event.task);
    queue.push(event);
  };
  let current: Run | null = null;
  let stopReason: string | null = null;
  const requestStop = (reason: string): void => {
    stopReason ??= reason;
    stopped.resolve();
    current?.stop(stopReason);
  };
  const stop = async (reason: string): Promise<void> => {
    requestStop(reason);
    await result.catch(() => {});
  };
  const finish = async (first: Run): Promise<ResultEnvelope> => {
    const { messages } = plan;
    if (messages === undefined) return first.result;
    const { converse } = await loadConversations();
    const ended: { byBudget: MusterError | null } = { byBudget: null };
    const conversation = converse({
      first,
      messages,
      stopped: stopped.promise,
      send: (message) => session.send(id, message),
      async resume(prompt) {
        const left = spent.left();
        if (typeof left === 'string') throw (ended.byBudget = createUsedUpError(left, plan.budget));
        current = await session.resume({ id, prompt, limits: toLimits(left) }, onEvent);
        return current;
      },
    });
    try {
      return await conversation;
    } catch (thrown) {
      const { byBudget } = ended;
      if (byBudget === null || thrown !== byBudget || current === null) throw thrown;
      const { data, ...envelope } = await current.result;
      const error = byBudget.toInfo();
      return { ...envelope, status: 'partial', data: { ...data, status: 'partial' }, error };
    }
  };
  const work = async (): Promise<RunResult<Output>> => {
    await Promise.resolve();
    const stopWatching = plan.hasDeltas
      ? session.watchSignals((each) => tasks.has(each.task) && queue.push(each))
      : () => {};
    const listening = [onAbort(closed, () => requestStop('the instance was closed'))];
    try {
      assertNotAborted(signal);
      if (signal !== undefined)
        listening.push(onAbort(signal, () => requestStop('the signal of the program aborted')));
      const first = await readFirst(plan.messages, stopped.promise);
      current = await plan.start(onEvent, first);
      started.resolve();
      // It may have been stopped while it started.
      if (stopReason !== null) current.stop(stopReason);
      const envelope = await finish(current);
      queue.end();
      return await plan.toResult(envelope);
    } catch (thrown) {
      requestStop('its messages could not be read');
      started.reject(thrown);
      queue.end(thrown);
      throw thrown;
    } finally {
      stopWatching();
      for (const stopListening of listening) stopListening();
    }
  };
  const result = work();
  // Whoever waits for the start gets the error from the result, too.
  started.promise.catch(() => {});
  return {
    id,
    // oxlint-disable-next-line unicorn/no-thenable -- a run can be awaited
    then: (onDone, onFailed) => result.then(onDone, onFailed),
    async send(message) {
      await started.promise;
      session.send(id, message);
    },
    stop: (reason = 'stopped by the program') => stop(reason),
    [Symbol.asyncIterator]() {
      // The iterator throws the error of a run that could not start.
      result.catch(() => {});
      return queue.iterate();
    },
    async [Symbol.asyncDispose]() {
      await stop('its scope in the program ended').catch(() => {});
    },
  };
}

function createUsedUpError(name: keyof RunBudget, budget: RunBudget): MusterError {
  const message = `the budget of the run is used up (${name}: ${budget[name]}), so its next message was not sent`;
  return new MusterError('LIMIT_EXCEEDED', message);
}

function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true)
    throw new MusterError('CANCELLED', 'the run was not started: its signal had aborted');
}

async function readFirst(
  messages: AsyncIterator<string> | undefined,
  stopped: Promise<void>,
): Promise<string | undefined> {
  if (messages === undefined) return undefined;
  const first = await Promise.race([messages.next(), stopped]);
  if (first === undefined) {
    void Promise.resolve(messages.return?.()).catch(() => {});
    throw new MusterError('CANCELLED', 'the run was stopped before its first message');
  }
  if (first.done === true) throw new UsageError('the prompt has no message');
  return first.value;
}
