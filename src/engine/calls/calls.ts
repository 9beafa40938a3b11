import { ConcurrencyLimit } from '../../base/concurrency-limit.ts';
import { escapeTags } from '../../base/control-tags.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { NO_ACCESS, type Decision } from '../../protocol/permission.ts';
import { scheduleCalls, type ScheduledCall } from '../../policy/call-conflicts.ts';
import type { EngineDeps } from '../task/deps.ts';
import { execute } from './execute-call.ts';
import { NO_FILES } from '../permissions/file-access.ts';
import { judge } from '../permissions/judge.ts';
import { prepareCall, waitsForOthers } from '../permissions/prepare-call.ts';
import { isStopOrder, stopOrder } from '../task/stop-order.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineSettings } from '../limits/configured-limits.ts';
import type { PreparedCall } from '../task/prepared-call.ts';

/**
 * The most calls of one message that run. Calls beyond it get an error: the results of a message must fit into
 * one request together. Calls that wait for other tasks have limits of their own and do not count.
 */
const MAX_CALLS_PER_MESSAGE = 100;
/**
 * The maximum number of runs of an identical call in a row, whatever its results: a model that is stuck repeats it
 * forever.
 */
const MAX_IDENTICAL_CALLS = 10;
/** The maximum number of calls of one task that run at the same time: each may have processes and files open. */
const MAX_CONCURRENT_CALLS = 16;

/**
 * Runs the calls of one message, in parallel if they do not conflict, and returns when none of them runs any
 * more. Rejects when the task is stopped while a call waits, and when the log cannot be written; never because of
 * a tool.
 */
export async function runCalls(
  deps: EngineDeps,
  run: TaskRun,
  calls: readonly ToolCallPart[],
): Promise<void> {
  const prepared = prepareWithinLimits(run, calls, deps.settings);
  // The answer is made durable while the calls run; a call with effects does that itself before it starts. A failure is
  // reported where the journal is awaited next.
  if (prepared.every(isPure)) run.journal.syncNewestAnswer().catch(() => {});
  const waits = prepared.filter(isWait).length;
  const slot = new SlotUse(run, { own: prepared.length - waits, waits });
  const waitsFor = scheduleCalls(prepared.map(toScheduledCall));
  const atOnce = new ConcurrencyLimit(MAX_CONCURRENT_CALLS);
  const working = (work: () => Promise<void>) => run.tree.idleDetector.trackWork(work);
  const done: Promise<void>[] = [];
  for (const [index, call] of prepared.entries()) {
    const earlier = (waitsFor[index] ?? []).map((before) => done[before]);
    done.push(
      Promise.all(earlier)
        .then(() =>
          isWait(call)
            ? working(() => runCall(deps, run, { call, slot }))
            : atOnce.run(() => working(() => runCall(deps, run, { call, slot }))),
        )
        .finally(() => (isWait(call) ? slot.waitingCallEnded() : slot.ownCallEnded())),
    );
  }
  await run.tree.idleDetector.trackWait(() => waitForAll(run, done));
}

/** Returns the calls that may run, and refuses those beyond a limit. */
function prepareWithinLimits(
  run: TaskRun,
  calls: readonly ToolCallPart[],
  { noProgressCalls }: Pick<EngineSettings, 'noProgressCalls'>,
): readonly PreparedCall[] {
  const mostIdentical = Math.max(MAX_IDENTICAL_CALLS, noProgressCalls);
  const times = run.state.repetition.timesInARow;
  let own = 0;
  return calls.flatMap((call) => {
    const prepared = prepareCall(run, call);
    if (isWait(prepared)) return [prepared];
    own += 1;
    if (own > MAX_CALLS_PER_MESSAGE) {
      const text = `a message may hold at most ${MAX_CALLS_PER_MESSAGE} calls. Call it again in the next one.`;
      recordRefusal(run, call, limitRefusal(call, text));
      return [];
    }
    const isOver = (times.get(call.id) ?? 0) > mostIdentical;
    if (!isOver || !prepared.ready || isDelegation(prepared)) return [prepared];
    const text = `this very call was made ${mostIdentical} times in a row (limit identical_calls = ${mostIdentical}). Do something else, or give your final answer.`;
    recordRefusal(run, call, { ...limitRefusal(call, text), repeated: true });
    return [];
  });
}

function limitRefusal(call: ToolCallPart, text: string): Refusal {
  return { tool: call.name, text: `Not run: ${text}`, error: 'LIMIT_EXCEEDED' };
}

/**
 * Waits for all calls. If a call rejects for another reason than a stop, the log cannot be written: the other
 * calls and the children are stopped and awaited, since nothing that they do would be recorded.
 */
async function waitForAll(run: TaskRun, calls: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.all(calls);
  } catch (thrown) {
    if (!isStopOrder(thrown) && !run.cancellation.isParked) {
      run.stop(stopOrder('parent', `the log of task ${run.spec.id} can't be written`));
    }
    await Promise.allSettled(calls);
    throw thrown;
  }
}

function toScheduledCall(call: PreparedCall): ScheduledCall {
  if (!call.ready) return { kind: 'meta', access: NO_ACCESS };
  // A tool that does not know what it accesses may access anything.
  if (call.access === null) return { kind: 'execute', access: NO_ACCESS };
  return { kind: call.tool.kind, access: call.access };
}

function isPure(call: PreparedCall): boolean {
  return !call.ready || call.tool.replay === 'pure';
}

/** Says whether a call waits for other tasks. Such a call needs no slot of its own. */
function isWait(call: PreparedCall): boolean {
  return call.ready && waitsForOthers(call);
}

interface CallInSlot {
  readonly call: PreparedCall;
  readonly slot: SlotUse;
}

async function runCall(deps: EngineDeps, run: TaskRun, { call, slot }: CallInSlot): Promise<void> {
  if (run.cancellation.turnSignal.aborted) return;
  const tool = run.state.unknownCalls.get(call.call.id);
  if (tool !== undefined && !mayRunAgain(call)) {
    recordUnknownOutcome(run, call.call, { tool, reason: 'the process that ran it ended' });
    return;
  }
  if (!call.ready) {
    recordRefusal(run, call.call, call);
    return;
  }
  if (tool !== undefined && isDelegation(call)) {
    // The call was allowed before, and a child may already be running for it.
    await execute(deps, run, { ...call, pathAccess: NO_FILES });
    return;
  }
  const { idleDetector } = run.tree;
  const wait = isWait(call)
    ? <T>(ask: () => Promise<T>) => idleDetector.trackWait(ask)
    : <T>(ask: () => Promise<T>) => slot.runWait(() => idleDetector.trackWait(ask));
  const { allowed, pathAccess, decision, refusal } =
    deps.decided === undefined
      ? await judge(deps, run, call, wait)
      : { ...(await deps.decided(call.call.id)), pathAccess: NO_FILES };
  if (run.cancellation.turnSignal.aborted) return;
  if (allowed) {
    const { mode } = run.permissions.rights;
    await execute(deps, run, { ...call, pathAccess, decision, mode });
    return;
  }
  recordRefusal(run, call.call, {
    tool: call.tool.name,
    text: refusal,
    error: 'PERMISSION_DENIED',
    decision,
  });
}

/**
 * Says whether a call that an earlier process started may run again: calls that change nothing may, and calls
 * that recognize what they did the first time.
 */
function mayRunAgain(call: PreparedCall): boolean {
  return call.ready && (call.tool.replay === 'pure' || call.tool.replay === 'keyed');
}

function isDelegation(call: PreparedCall): boolean {
  return call.ready && call.tool.kind === 'delegate';
}

/**
 * Records that the outcome of a call is unknown. The call may have done anything or nothing, so it is not run
 * again and the model is notified.
 */
function recordUnknownOutcome(
  run: Pick<TaskRun, 'journal'>,
  call: ToolCallPart,
  { tool, reason }: { readonly tool: string; readonly reason: string },
): void {
  run.journal.record({
    type: 'call.ended',
    callId: call.id,
    tool,
    text: escapeTags(
      `Its outcome is unknown: ${reason} while it ran. Look before you do it again.`,
    ),
    error: 'CANCELLED',
    facts: {},
    ms: 0,
  });
}

/**
 * Gives each call without an outcome one, so that the history is complete when the task is resumed. The outcome
 * of a call that had started is unknown, and the model is told so.
 */
export function closeOpenCalls(run: Pick<TaskRun, 'journal' | 'state'>, reason: string): void {
  const { conversation, runningCalls, unknownCalls } = run.state;
  for (const call of unansweredCalls(conversation)) {
    const tool = runningCalls.get(call.id)?.tool ?? unknownCalls.get(call.id);
    if (tool === undefined) {
      const text = `Not run: ${reason}.`;
      recordRefusal(run, call, { tool: call.name, text, error: 'CANCELLED' });
    } else {
      recordUnknownOutcome(run, call, { tool, reason });
    }
  }
}

interface Refusal {
  readonly tool: string;
  readonly text: string;
  readonly error: ErrorCode;
  readonly decision?: Decision;
  readonly repeated?: true;
}

function recordRefusal(run: Pick<TaskRun, 'journal'>, call: ToolCallPart, refusal: Refusal): void {
  run.journal.record({
    type: 'call.refused',
    callId: call.id,
    tool: refusal.tool,
    // The text is ours, but it may quote a path, a rule or the model.
    text: escapeTags(refusal.text),
    error: refusal.error,
    decision: refusal.decision ?? null,
    ...(refusal.repeated === true ? { repeated: true } : {}),
  });
}

/**
 * Holds the task's slot exactly while one of the message's own calls runs: not while all remaining calls wait
 * for other tasks, and not while the user is asked. When all calls are done, the slot is held for the next
 * request.
 */
class SlotUse {
  private readonly run: TaskRun;
  /** The task's own calls that run now. */
  private active: number;
  /** Calls without an outcome, including those that wait for other tasks. */
  private open: number;

  constructor(run: TaskRun, { own, waits }: { readonly own: number; readonly waits: number }) {
    this.run = run;
    this.active = own;
    this.open = own + waits;
    this.giveSlotIfIdle();
  }

  ownCallEnded(): void {
    this.active -= 1;
    this.open -= 1;
    this.giveSlotIfIdle();
  }

  waitingCallEnded(): void {
    this.open -= 1;
  }

  /** Runs a wait of one of the task's own calls, and gives the slot to others meanwhile. */
  async runWait<T>(wait: () => Promise<T>): Promise<T> {
    this.active -= 1;
    this.giveSlotIfIdle();
    try {
      return await wait();
    } finally {
      this.active += 1;
      await this.run.slot.take();
    }
  }

  private giveSlotIfIdle(): void {
    if (this.active === 0 && this.open > 0) this.run.slot.release();
  }
}
