import { ConcurrencyLimit } from '../../base/concurrency-limit.ts';
import { escapeTags } from '../../base/control-tags.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import { findRemoteWork } from '../../protocol/state/owned-work.ts';
import { describeRemoteEnd } from '../../protocol/state/task-texts.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { NO_ACCESS, type Decision } from '../../protocol/permission.ts';
import { scheduleCalls, type ScheduledCall } from '../../policy/call-conflicts.ts';
import type { EngineDeps } from '../task/deps.ts';
import { restoreInputFromHooks, runHooksAfterRefusal } from './call-hooks.ts';
import { runBatchHooks } from '../hooks/task-hooks.ts';
import { executeCall } from './execute-call.ts';
import { NO_FILES } from '../permissions/file-access.ts';
import { runHooksBefore } from '../permissions/hooks-before-call.ts';
import { judgeCall } from '../permissions/judge.ts';
import { prepareCall, waitsForOthers } from '../permissions/prepare-call.ts';
import { isStopOrder, stopOrder } from '../task/stop-order.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineSettings } from '../limits/configured-limits.ts';
import type { PreparedCall, ReadyCall } from '../task/prepared-call.ts';
import type { WaitRunner } from '../questions/ask-person.ts';
import { needsPlan, planCall } from './plan-call.ts';

/**
 * The maximum number of calls of one message that run. Further calls get an error, since the results of all calls of a
 * message must fit into one request. Calls that wait for other tasks have limits of their own and do not count.
 */
const MAX_CALLS_PER_MESSAGE = 100;
/**
 * The maximum number of times that an identical call runs in a row, whatever the results are: a model that is stuck
 * repeats a call forever.
 */
const MAX_IDENTICAL_CALLS = 10;
/** The maximum number of calls of one task that run at the same time: each call may have processes and files open. */
const MAX_CONCURRENT_CALLS = 16;

/**
 * Runs the calls of one message, in parallel unless they conflict. Resolves when all of them have ended. Rejects when
 * the task is stopped while a call waits, and when the log cannot be written, but never because a tool fails.
 */
export async function runCalls(
  deps: EngineDeps,
  run: TaskRun,
  calls: readonly ToolCallPart[],
): Promise<void> {
  const prepared = prepareWithinLimits(run, calls, deps.settings);
  // If no call has effects, the answer reaches the disk while the calls run. A call with effects syncs the log itself
  // before it starts. The next sync of the journal reports a failure, so it is ignored here.
  if (prepared.every(isPure)) run.journal.syncNewestAnswer().catch(() => {});
  const waiting = prepared.filter(isWait).length;
  const slot = new SlotUse(run, { working: prepared.length - waiting, waiting });
  // For each call, the indexes of earlier calls that conflict with it and must end first.
  const waitsFor = scheduleCalls(prepared.map(toScheduledCall));
  const concurrency = new ConcurrencyLimit(MAX_CONCURRENT_CALLS);
  const trackWork = (work: () => Promise<void>) => run.tree.idleDetector.trackWork(work);
  const done: Promise<void>[] = [];
  for (const [index, call] of prepared.entries()) {
    const earlier = (waitsFor[index] ?? []).map((before) => done[before]);
    done.push(
      Promise.all(earlier)
        .then(() =>
          isWait(call)
            ? trackWork(() => runCall(deps, run, { call, slot }))
            : concurrency.run(() => trackWork(() => runCall(deps, run, { call, slot }))),
        )
        .finally(() => (isWait(call) ? slot.waitingCallEnded() : slot.workingCallEnded())),
    );
  }
  await run.tree.idleDetector.trackWait(() => waitForAll(run, done));
  await runBatchHooks(deps, run);
}

/** Prepares the calls, and refuses those that exceed a limit. Returns the remaining calls. */
function prepareWithinLimits(
  run: TaskRun,
  calls: readonly ToolCallPart[],
  { noProgressCalls }: Pick<EngineSettings, 'noProgressCalls'>,
): readonly PreparedCall[] {
  const maxIdentical = Math.max(MAX_IDENTICAL_CALLS, noProgressCalls);
  const timesInARow = run.state.repetition.timesInARow;
  let counted = 0;
  return calls.flatMap((call) => {
    const prepared = prepareCall(run, call);
    if (isWait(prepared)) return [prepared];
    counted += 1;
    if (counted > MAX_CALLS_PER_MESSAGE) {
      const text = `a message may hold at most ${MAX_CALLS_PER_MESSAGE} calls. Call it again in the next one.`;
      recordRefusal(run, call, limitRefusal(call, text));
      return [];
    }
    const isOver = (timesInARow.get(call.id) ?? 0) > maxIdentical;
    if (!isOver || !prepared.ready || isDelegation(prepared)) return [prepared];
    const text = `this very call was made ${maxIdentical} times in a row (limit identical_calls = ${maxIdentical}). Do something else, or give your final answer.`;
    recordRefusal(run, call, { ...limitRefusal(call, text), repeated: true });
    return [];
  });
}

function limitRefusal(call: ToolCallPart, text: string): Refusal {
  return { tool: call.name, text: `Not run: ${text}`, error: 'LIMIT_EXCEEDED' };
}

/**
 * Waits for all calls. If a call rejects for another reason than a stop, the log cannot be written. Then the other
 * calls and the children are stopped and awaited, since nothing of their work could be recorded.
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
  // A call that does not know yet what it accesses may access anything.
  // A step of a remote agent is only decided here: the program takes it itself.
  if (call.access?.isClaimed === true) return { kind: 'meta', access: NO_ACCESS };
  if (call.access === null || needsPlan(call)) return { kind: 'execute', access: NO_ACCESS };
  return { kind: call.tool.kind, access: call.access };
}

/** Returns true if a call has no effects, or will not run. */
function isPure(call: PreparedCall): boolean {
  return !call.ready || call.tool.replay === 'pure';
}

/** Returns true if a call waits for other tasks. Such a call needs no slot. */
function isWait(call: PreparedCall): boolean {
  return call.ready && waitsForOthers(call);
}

/** A call, and the use of the task's slot by all calls of its message. */
interface CallInSlot {
  readonly call: PreparedCall;
  readonly slot: SlotUse;
}

/** Runs a call that no model has made, like a call of a message. Resolves when it has ended, or when its turn is interrupted. */
export async function runSingleCall(
  deps: EngineDeps,
  run: TaskRun,
  call: PreparedCall,
): Promise<void> {
  await runCall(deps, run, { call, slot: new SlotUse(run, { working: 1, waiting: 0 }) });
}

/** Decides about a call and runs it, or records why it does not run. */
async function runCall(deps: EngineDeps, run: TaskRun, { call, slot }: CallInSlot): Promise<void> {
  if (run.cancellation.turnSignal.aborted) return;
  const tool = run.state.unknownCalls.get(call.call.id);
  if (tool !== undefined && !mayRunAgain(call)) {
    if (recordRemoteOutcome(run, call.call, tool)) return;
    recordUnknownOutcome(run, call.call, { tool, reason: 'the process that ran it ended' });
    return;
  }
  if (!call.ready) {
    recordRefusal(run, call.call, call);
    return;
  }
  const { idleDetector } = run.tree;
  const trackWait = <T>(ask: () => Promise<T>) => idleDetector.trackWait(ask);
  if (tool !== undefined && isDelegation(call)) {
    // A process that ended had allowed the call, and its child may already be running. So the call is not decided
    // again.
    await executeCall(deps, run, { ...call, pathAccess: NO_FILES, runWait: trackWait });
    return;
  }
  const wait = isWait(call)
    ? trackWait
    : <T>(ask: () => Promise<T>) => slot.runWait(() => trackWait(ask));
  const hooked = await runHooksBefore(deps, run, call);
  if (run.cancellation.turnSignal.aborted) return;
  if (hooked.ready) await decideAndRun(deps, run, hooked, wait);
  else recordRefusal(run, call.call, hooked);
}

/** Decides about a call and runs it, after its changes were planned if it needs that. */
async function decideAndRun(
  deps: EngineDeps,
  run: TaskRun,
  prepared: ReadyCall,
  wait: WaitRunner,
): Promise<void> {
  const { allowed, pathAccess, decision, refusal, call } =
    deps.decided === undefined
      ? await judgeCall(deps, run, prepared, wait)
      : { ...(await deps.decided(prepared.call.id)), pathAccess: NO_FILES, call: prepared };
  if (run.cancellation.turnSignal.aborted) return;
  const tool = call.tool.name;
  if (!allowed) {
    recordRefusal(run, call.call, { tool, text: refusal, error: 'PERMISSION_DENIED', decision });
    await runHooksAfterRefusal(deps, run, call, refusal);
  } else if (deps.decided === undefined && needsPlan(call)) {
    const planned = await planCall(deps, run, call);
    if (planned.ok) await decideAndRun(deps, run, planned.call, wait);
    else recordRefusal(run, call.call, { tool, text: planned.text, error: planned.error });
  } else {
    const { narrowingCount, rights } = run.permissions;
    const allowedIn = { mode: rights.mode, narrowingCount };
    const ready = deps.decided === undefined ? call : restoreInputFromHooks(run, call);
    await executeCall(deps, run, { ...ready, pathAccess, decision, ...allowedIn, runWait: wait });
  }
}

/**
 * Returns true if a call that an earlier process started may run again: a call that changes nothing, or a call that
 * recognizes its own earlier effects.
 */
function mayRunAgain(call: PreparedCall): boolean {
  if (!call.ready || needsPlan(call)) return false;
  return call.tool.replay === 'pure' || call.tool.replay === 'keyed';
}

function isDelegation(call: PreparedCall): boolean {
  return call.ready && call.tool.kind === 'delegate';
}

/**
 * Records that the outcome of a call is unknown, and tells the model so. The call may have had all of its effects or
 * none, so it does not run again.
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
 * Records the outcome of an interrupted call that had started work of a server: the work goes on, or its result is kept.
 * Returns false if the call had started none.
 */
function recordRemoteOutcome(
  run: Pick<TaskRun, 'journal' | 'state'>,
  call: ToolCallPart,
  tool: string,
): boolean {
  const [id, work] = findRemoteWork(run.state, call.id) ?? [];
  if (id === undefined || work === undefined) return false;
  const output = `TaskOutput(task_id: "${id}")`;
  const state =
    work.end === null
      ? `The server works on it as call ${id}, and you are told when it ends. Its output: ${output}`
      : `Call ${id} has ended: ${describeRemoteEnd(work.end)}. Its output: ${output}`;
  const text = escapeTags(`Muster was interrupted while the call ran. ${state}`);
  run.journal.record({
    type: 'call.ended',
    callId: call.id,
    tool,
    text,
    error: null,
    facts: {},
    ms: 0,
  });
  return true;
}

/**
 * Records an outcome for each call that has none, so that the conversation is complete when the task is resumed. A call
 * that had started gets an unknown outcome, and any other call is recorded as not run.
 *
 * @param reason why the calls have no outcome, for the model
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

/** The recorded outcome of a call that does not run. */
interface Refusal {
  readonly tool: string;
  readonly text: string;
  readonly error: ErrorCode;
  readonly decision?: Decision;
  /** Set if the call was refused because it was repeated too often. */
  readonly repeated?: true;
}

function recordRefusal(run: Pick<TaskRun, 'journal'>, call: ToolCallPart, refusal: Refusal): void {
  run.journal.record({
    type: 'call.refused',
    callId: call.id,
    tool: refusal.tool,
    // The text is Muster's own, but it may quote a path, a rule or an argument, in which tags are escaped.
    text: escapeTags(refusal.text),
    error: refusal.error,
    decision: refusal.decision ?? null,
    ...(refusal.repeated === true ? { repeated: true } : {}),
  });
}

/**
 * Holds the task's slot while at least one call of the message does work itself. The slot is free for other tasks while
 * all remaining calls wait for other tasks or for a person. When all calls have ended, the slot is held again for the
 * next request.
 */
class SlotUse {
  private readonly run: TaskRun;
  /** The number of calls that do work themselves now. */
  private active: number;
  /** The number of calls that have not ended, including those that wait for other tasks. */
  private open: number;

  /**
   * `working`: the number of calls that do work themselves; `waiting`: the number of calls that wait for other tasks.
   */
  constructor(
    run: TaskRun,
    { working, waiting }: { readonly working: number; readonly waiting: number },
  ) {
    this.run = run;
    this.active = working;
    this.open = working + waiting;
    this.giveSlotIfIdle();
  }

  workingCallEnded(): void {
    this.active -= 1;
    this.open -= 1;
    this.giveSlotIfIdle();
  }

  waitingCallEnded(): void {
    this.open -= 1;
  }

  /** Waits on behalf of a call that does work itself. Other tasks can use the slot meanwhile. */
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
