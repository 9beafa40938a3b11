import { deferred, onAbort } from '../base/async.ts';
import type { Deadline } from '../base/deadlines.ts';
import { errorMessage, type ErrorCode } from '../base/errors.ts';
import { byteLength } from '../base/text.ts';
import { unansweredCalls } from '../protocol/conversation.ts';
import type { ToolCallPart } from '../protocol/message.ts';
import { NO_ACCESS, type Decision } from '../protocol/permission.ts';
import type { AnyTool, ToolOutput } from '../protocol/tool.ts';
import { schedule, type ScheduledCall } from '../policy/conflicts.ts';
import type { EngineDeps } from './deps.ts';
import { judge } from './judge.ts';
import { prepareCall, type PreparedCall, type ReadyCall } from './prepare-call.ts';
import { orderOf, stopOrder } from './stop.ts';
import type { TaskRun } from './task-run.ts';
import { toolContext } from './tool-context.ts';

/** Calls of one message beyond this are answered with an error and not run. */
const MOST_CALLS_A_MESSAGE = 100;
/** How long a stopped tool may take to clean up before its outcome is given up. */
const CLEANUP_MS = 2_500;

/**
 * Runs the calls of one message, in parallel where they don't conflict, and returns when every one
 * has its outcome in the log. Never rejects for what a tool does.
 */
export async function runCalls(
  deps: EngineDeps,
  run: TaskRun,
  calls: readonly ToolCallPart[],
): Promise<void> {
  const running = calls.slice(0, MOST_CALLS_A_MESSAGE);
  for (const call of calls.slice(MOST_CALLS_A_MESSAGE)) {
    refuse(run, call, {
      tool: call.name,
      text: `Not run: a message may hold at most ${MOST_CALLS_A_MESSAGE} calls. Call it again in the next one.`,
      error: 'LIMIT_EXCEEDED',
    });
  }
  const prepared = running.map((call) => prepareCall(run, call));
  const waitsFor = schedule(prepared.map(scheduledCall));
  const slot = slotKeeper(run, prepared);
  const done: Promise<void>[] = [];
  for (const [index, call] of prepared.entries()) {
    const earlier = (waitsFor[index] ?? []).map((before) => done[before]);
    done.push(
      Promise.all(earlier)
        .then(() => runCall(deps, run, call))
        .finally(() => slot.callEnded(call)),
    );
  }
  await allDone(run, done);
}

/**
 * A call rejects only when the log can't be written. What else runs, children too, is stopped then and
 * waited for: it would act with nobody to write it down, after its task has ended.
 */
async function allDone(run: TaskRun, calls: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.all(calls);
  } catch (thrown) {
    run.stop(stopOrder('parent', `the log of task ${run.spec.id} can't be written`));
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

/** Every call without an outcome gets one, so that the history is whole when the task is resumed. */
export function refuseUnrun(run: TaskRun): void {
  for (const call of unansweredCalls(run.state.conversation)) {
    const because = run.signal.aborted ? orderOf(run.signal).because : 'the task ended';
    refuse(run, call, { tool: call.name, text: `Not run: ${because}.`, error: 'CANCELLED' });
  }
}

/** Gives the task's slot back while nothing but children is at work. */
function slotKeeper(run: TaskRun, calls: readonly PreparedCall[]) {
  let own = calls.filter((call) => !isDelegation(call)).length;
  const release = () => {
    if (own === 0) run.giveSlot();
  };
  if (calls.some(isDelegation)) release();
  return {
    callEnded(call: PreparedCall): void {
      if (isDelegation(call)) return;
      own -= 1;
      if (calls.some(isDelegation)) release();
    },
  };
}

function isDelegation(call: PreparedCall): boolean {
  return call.ready && call.tool.kind === 'delegate';
}

async function runCall(deps: EngineDeps, run: TaskRun, prepared: PreparedCall): Promise<void> {
  const { call } = prepared;
  if (run.signal.aborted) return;
  if (!prepared.ready) {
    refuse(run, call, prepared);
    return;
  }
  const { tool } = prepared;
  const { allowed, roots, decision, refusal } = await judge(deps, run, prepared);
  if (run.signal.aborted) return;
  if (!allowed) {
    refuse(run, call, {
      tool: tool.name,
      text: refusal,
      error: 'PERMISSION_DENIED',
      decision,
    });
    return;
  }
  await execute(deps, run, { ...prepared, roots });
}

interface AllowedCall extends ReadyCall {
  readonly roots: readonly string[];
}

async function execute(deps: EngineDeps, run: TaskRun, ready: AllowedCall): Promise<void> {
  const { call, tool } = ready;
  run.journal.record({
    type: 'call.started',
    callId: call.id,
    tool: tool.name,
    input: call.input,
  });
  // A delegation changes nothing itself, and its child syncs this log before it does anything.
  if (tool.replay !== 'pure' && tool.kind !== 'delegate') await run.journal.sync();
  const startedAt = deps.clock.monotonic();
  const output = await runTool(deps, run, ready);
  run.journal.record({
    type: 'call.ended',
    callId: call.id,
    tool: tool.name,
    text: capped(output.text, tool, deps),
    error: output.error ?? null,
    facts: output.facts ?? {},
    ms: Math.round(deps.clock.monotonic() - startedAt),
  });
  if (tool.replay !== 'pure') await run.journal.sync();
}

/** Waiting is no work: these are bounded by limits of their own. */
const UNTIMED_TOOLS: ReadonlySet<string> = new Set(['Task', 'TaskOutput', 'AskUser']);

/**
 * Runs a tool under the task's signal and `tool_seconds`. One that does not stop when told is given
 * up after a while: its outcome is an error, and the loop goes on.
 */
async function runTool(deps: EngineDeps, run: TaskRun, ready: AllowedCall): Promise<ToolOutput> {
  const { tool, input, call, roots } = ready;
  const controller = new AbortController();
  const forget = onAbort(run.signal, () => controller.abort(run.signal.reason));
  const { toolMs } = deps.settings.caps;
  const timeout = UNTIMED_TOOLS.has(tool.name)
    ? null
    : deps.deadlines.after(toolMs, () => controller.abort(TIMED_OUT));
  const givenUp = deferred<ToolOutput>();
  const cleanup: Deadline[] = [];
  const giveUp = onAbort(controller.signal, () => {
    const outcome = interrupted(controller.signal, toolMs);
    cleanup.push(deps.deadlines.after(CLEANUP_MS, () => givenUp.resolve(outcome)));
  });
  try {
    const context = toolContext(deps, run, { callId: call.id, roots, signal: controller.signal });
    const output = await Promise.race([tool.run(input, context), givenUp.promise]);
    return controller.signal.reason === TIMED_OUT ? timedOut(output, toolMs) : output;
  } catch (thrown) {
    if (controller.signal.aborted) return interrupted(controller.signal, toolMs);
    return { text: `${tool.name} broke: ${errorMessage(thrown)}`, error: 'INTERNAL_ERROR' };
  } finally {
    timeout?.cancel();
    for (const deadline of cleanup) deadline.cancel();
    forget();
    giveUp();
  }
}

const TIMED_OUT = Symbol('tool_seconds');

function interrupted(signal: AbortSignal, toolMs: number): ToolOutput {
  if (signal.reason === TIMED_OUT) return timedOut({ text: '' }, toolMs);
  return { text: `Stopped: ${orderOf(signal).because}.`, error: 'CANCELLED' };
}

function timedOut(output: ToolOutput, toolMs: number): ToolOutput {
  const notice = `Ended after the limit tool_seconds = ${toolMs / 1000}.`;
  return { ...output, text: `${notice}\n${output.text}`.trimEnd(), error: 'TIMEOUT' };
}

/** A last fence: tools keep their own caps, and this one only catches those that don't. */
function capped(text: string, tool: AnyTool, deps: EngineDeps): string {
  const { resultBytes, readBytes } = deps.settings.caps;
  const most = (tool.name === 'Read' ? readBytes : resultBytes) + 4_096;
  if (text.length <= most && byteLength(text) <= most) return text;
  const kept = Buffer.from(text, 'utf8').subarray(0, most).toString('utf8');
  return `${kept}\n[Cut at ${most} bytes of ${byteLength(text)}]`;
}

interface Refusal {
  readonly tool: string;
  readonly text: string;
  readonly error: ErrorCode;
  readonly decision?: Decision;
}

function refuse(run: TaskRun, call: ToolCallPart, refusal: Refusal): void {
  run.journal.record({
    type: 'call.refused',
    callId: call.id,
    tool: refusal.tool,
    text: refusal.text,
    error: refusal.error,
    decision: refusal.decision ?? null,
  });
}
