import { ConcurrencyLimit } from '../../base/concurrency-limit.ts';
import { escapeTags } from '../../base/control-tags.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { unansweredCalls } from '../../protocol/state/conversation.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { NO_ACCESS, type Decision } from '../../protocol/permission.ts';
import { schedule, type ScheduledCall } from '../../policy/conflicts.ts';
import type { EngineDeps } from '../task/deps.ts';
import { execute } from './execute-call.ts';
import { NO_FILES } from '../permissions/file-access.ts';
import { judge } from '../permissions/judge.ts';
import { prepareCall, waitsForOthers } from '../permissions/prepare-call.ts';
import { SlotUse } from './slot-use.ts';
import { isStopOrder, stopOrder } from '../task/stop.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineSettings } from '../limits/engine-settings.ts';
import type { PreparedCall } from '../task/prepared-call.ts';

/**
 * Calls of one message beyond this are answered with an error and not run: together their results
 * must fit into a request. Those that wait for others do not count, they have limits of their own.
 */
const MOST_CALLS_A_MESSAGE = 100;
/** Times that one call runs in a row, whatever came back: a model that gets no further makes it for ever. */
const MOST_IDENTICAL_CALLS = 10;
/** Own calls of one task at the same time: each may have processes and files open. */
const MOST_AT_ONCE = 16;

/**
 * Runs the calls of one message, in parallel where they don't conflict, and returns when none of them
 * is at work any more. Rejects when the task is stopped while one waits, and when the log can't be
 * written; never for what a tool does.
 */
export async function runCalls(
  deps: EngineDeps,
  run: TaskRun,
  calls: readonly ToolCallPart[],
): Promise<void> {
  const prepared = withinCaps(run, calls, deps.settings);
  // Meanwhile; a call with effects sees to it itself. Who awaits it hears of a failure.
  if (prepared.every(changesNothing)) run.journal.keepAnswer().catch(() => {});
  const waits = prepared.filter(isWait).length;
  const slot = new SlotUse(run, { own: prepared.length - waits, waits });
  const waitsFor = schedule(prepared.map(scheduledCall));
  const atOnce = new ConcurrencyLimit(MOST_AT_ONCE);
  const working = (work: () => Promise<void>) => run.tree.idleDetector.working(work);
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
        .finally(() => (isWait(call) ? slot.waitEnded() : slot.ownCallEnded())),
    );
  }
  await run.tree.idleDetector.waiting(() => allDone(run, done));
}

/** The calls that may run; what is over a cap is refused. */
function withinCaps(
  run: TaskRun,
  calls: readonly ToolCallPart[],
  { noProgressCalls }: Pick<EngineSettings, 'noProgressCalls'>,
): readonly PreparedCall[] {
  const mostIdentical = Math.max(MOST_IDENTICAL_CALLS, noProgressCalls);
  const times = run.state.repetition.timesInARow;
  let own = 0;
  return calls.flatMap((call) => {
    const prepared = prepareCall(run, call);
    if (isWait(prepared)) return [prepared];
    own += 1;
    if (own > MOST_CALLS_A_MESSAGE) {
      const text = `a message may hold at most ${MOST_CALLS_A_MESSAGE} calls. Call it again in the next one.`;
      refuse(run, call, overCap(call, text));
      return [];
    }
    const isOver = (times.get(call.id) ?? 0) > mostIdentical;
    if (!isOver || !prepared.ready || isDelegation(prepared)) return [prepared];
    const text = `this very call was made ${mostIdentical} times in a row (limit identical_calls = ${mostIdentical}). Do something else, or give your final answer.`;
    refuse(run, call, { ...overCap(call, text), repeated: true });
    return [];
  });
}

function overCap(call: ToolCallPart, text: string): Refusal {
  return { tool: call.name, text: `Not run: ${text}`, error: 'LIMIT_EXCEEDED' };
}

/**
 * Where one call rejects for another reason than a stop, the log can't be written. What else runs,
 * children too, is stopped then and waited for: it would act with nobody to write it down.
 */
async function allDone(run: TaskRun, calls: readonly Promise<void>[]): Promise<void> {
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

function scheduledCall(call: PreparedCall): ScheduledCall {
  if (!call.ready) return { kind: 'meta', access: NO_ACCESS };
  // What a tool can't tell of itself may touch anything.
  if (call.access === null) return { kind: 'execute', access: NO_ACCESS };
  return { kind: call.tool.kind, access: call.access };
}

function changesNothing(call: PreparedCall): boolean {
  return !call.ready || call.tool.replay === 'pure';
}

/** A call that waits for others needs no slot of its own. */
function isWait(call: PreparedCall): boolean {
  return call.ready && waitsForOthers(call);
}

interface CallAtWork {
  readonly call: PreparedCall;
  readonly slot: SlotUse;
}

async function runCall(deps: EngineDeps, run: TaskRun, { call, slot }: CallAtWork): Promise<void> {
  if (run.cancellation.turnSignal.aborted) return;
  const unknown = run.state.unknownCalls.get(call.call.id);
  if (unknown !== undefined && !mayRunAgain(call)) {
    leaveUnknown(run, call.call, { tool: unknown, because: 'the process that ran it ended' });
    return;
  }
  if (!call.ready) {
    refuse(run, call.call, call);
    return;
  }
  if (unknown !== undefined && isDelegation(call)) {
    // It was allowed before, and a child may be at work for it.
    await execute(deps, run, { ...call, reach: NO_FILES });
    return;
  }
  const { idleDetector } = run.tree;
  const wait = isWait(call)
    ? <T>(ask: () => Promise<T>) => idleDetector.waiting(ask)
    : <T>(ask: () => Promise<T>) => slot.waiting(() => idleDetector.waiting(ask));
  const { allowed, reach, decision, refusal } =
    deps.decided === undefined
      ? await judge(deps, run, call, wait)
      : { ...(await deps.decided(call.call.id)), reach: NO_FILES };
  if (run.cancellation.turnSignal.aborted) return;
  if (allowed) {
    const { mode } = run.permissions.rights;
    await execute(deps, run, { ...call, reach, decision, mode });
    return;
  }
  refuse(run, call.call, {
    tool: call.tool.name,
    text: refusal,
    error: 'PERMISSION_DENIED',
    decision,
  });
}

/**
 * Whether a call that began under an owner that is gone may be run once more: one that changes nothing,
 * and one that finds what it did the first time.
 */
function mayRunAgain(call: PreparedCall): boolean {
  return call.ready && (call.tool.replay === 'pure' || call.tool.replay === 'keyed');
}

function isDelegation(call: PreparedCall): boolean {
  return call.ready && call.tool.kind === 'delegate';
}

/** It may have done anything or nothing: the model is told so, and nobody runs it again for it. */
function leaveUnknown(
  run: Pick<TaskRun, 'journal'>,
  call: ToolCallPart,
  { tool, because }: { readonly tool: string; readonly because: string },
): void {
  run.journal.record({
    type: 'call.ended',
    callId: call.id,
    tool,
    text: escapeTags(
      `Its outcome is unknown: ${because} while it ran. Look before you do it again.`,
    ),
    error: 'CANCELLED',
    facts: {},
    ms: 0,
  });
}

/**
 * Every call without an outcome gets one, so that the history is whole when the task is resumed: one
 * that had begun may have done anything, and the model is told so.
 */
export function closeOpenCalls(run: Pick<TaskRun, 'journal' | 'state'>, because: string): void {
  const { conversation, runningCalls, unknownCalls } = run.state;
  for (const call of unansweredCalls(conversation)) {
    const tool = runningCalls.get(call.id)?.tool ?? unknownCalls.get(call.id);
    if (tool === undefined) {
      refuse(run, call, { tool: call.name, text: `Not run: ${because}.`, error: 'CANCELLED' });
    } else {
      leaveUnknown(run, call, { tool, because });
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

function refuse(run: Pick<TaskRun, 'journal'>, call: ToolCallPart, refusal: Refusal): void {
  run.journal.record({
    type: 'call.refused',
    callId: call.id,
    tool: refusal.tool,
    // Ours, but it may quote a path, a rule or what the model sent.
    text: escapeTags(refusal.text),
    error: refusal.error,
    decision: refusal.decision ?? null,
    ...(refusal.repeated === true ? { repeated: true } : {}),
  });
}
