import { deferred, onAbort } from '../../base/async.ts';
import { PausableDeadline, type Deadline } from '../../base/deadlines.ts';
import { escapeTags } from '../../base/control-tags.ts';
import { errorMessage } from '../../base/errors.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { decideStart, decideStartByRules } from '../../policy/decide.ts';
import type { Decision, PermissionMode } from '../../protocol/permission.ts';
import type { ToolOutput, AnyTool, ToolCaps, ToolContext } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import { decideNow } from '../permissions/judge.ts';
import { waitsForOthers } from '../permissions/prepare-call.ts';
import { readStopOrder } from '../task/stop-order.ts';
import type { TaskRun } from '../task/task-run.ts';
import { isMcpTool } from '../prompt/listed-tools.ts';
import type { WaitRunner } from '../questions/ask-person.ts';
import { runHooksAfter } from './call-hooks.ts';
import { createEditFeedback } from './edit-feedback.ts';
import { createServerPort } from './server-port.ts';
import { createToolContext } from './tool-context.ts';
import type { CallFileAccess, CallForProcess } from '../task/call-process.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import { sharedSearches } from '../../tools/search/shared-searches.ts';
import { appendNotes, spillText } from '../../tools/shared/output.ts';
import { byteLength, plural } from '../../base/text.ts';
import type { Budget } from '../limits/budget.ts';
import { limitMessage } from '../limits/limit-message.ts';

/** The time that a stopped tool has to clean up. A tool that needs longer is abandoned. */
const CLEANUP_TIMEOUT_MS = 2_500;

/** A call that was allowed, and the files that it may open. */
interface AllowedCall extends ReadyCall {
  readonly pathAccess: CallFileAccess;
  /** The decision that allowed the call. Absent if the call was allowed before a crash. */
  readonly decision?: Decision;
  /** The mode in which the call was allowed. Absent if the call was allowed before a crash. */
  readonly mode?: PermissionMode;
  /** The `narrowingCount` of the permissions when the call was allowed. Absent if it was allowed before a crash. */
  readonly narrowingCount?: number;
  /** Runs a wait for a person, during which the call does not count as work. */
  readonly runWait: WaitRunner;
}

/** Runs a call that was allowed. Records the start of the call before, and its outcome afterwards. */
export async function executeCall(
  deps: EngineDeps,
  run: TaskRun,
  allowed: AllowedCall,
): Promise<void> {
  const { call, tool } = allowed;
  const mayHaveEffects = tool.replay !== 'pure';
  run.journal.record({ type: 'call.started', callId: call.id, tool: tool.name, input: call.input });
  // A start that is on disk shows after a crash that the call may have had effects. A delegation changes nothing
  // itself, and its child syncs this log before it starts to work.
  if (mayHaveEffects && tool.kind !== 'delegate') await syncBeforeEffects(run);
  const startedAt = deps.clock.monotonic();
  const output = await runTool(deps, run, allowed);
  // Without a recorded outcome, the call runs again when the parked task is resumed.
  if (run.cancellation.isParked) throw run.cancellation.signal.reason;
  if (output.forced === true) run.cancellation.recordKill();
  const withdrawn = output.told ?? [];
  const hookNotes = await runHooksAfter(deps, run, allowed, output);
  const noted = appendNotes(output.text, [...(allowed.notes ?? []), ...hookNotes.map(citeHook)]);
  const fitted = fitOutput(noted, tool, outputOptions(deps, run.spec.id, call.id));
  const text = cutToToolBytes(run.budget, fitted);
  // The output contains these inputs, so they are withdrawn from the queue. The withdrawal comes first: after a crash
  // in the middle of the batch the call runs again and returns them once more.
  run.journal.record(
    ...(withdrawn.length === 0 ? [] : [{ type: 'input.withdrawn', ids: withdrawn } as const]),
    {
      type: 'call.ended',
      callId: call.id,
      tool: tool.name,
      // A nonce marks the text as outside text. Muster's own text and instructions of the user get none.
      ...((tool.ownWords === true && output.hasOutsideText !== true && hookNotes.length === 0) ||
      output.isInstruction === true
        ? { text: escapeTags(text) }
        : { text, nonce: drawNonce(text) }),
      ...(output.attachments === undefined || output.error !== undefined
        ? {}
        : { attachments: output.attachments }),
      error: output.error ?? null,
      facts: output.facts ?? {},
      ms: Math.round(deps.clock.monotonic() - startedAt),
    },
  );
  run.pendingAttachments.delete(call.id);
  if (mayHaveEffects) await run.journal.sync();
}

function citeHook(text: string): string {
  return `A hook says: ${text}`;
}

/**
 * Resolves when the log of a task, and the rights in the logs of all tasks above it, are on disk. An answer to a question of
 * a subagent is recorded in the log of the conversation, and nothing may happen because of a grant that can still be lost.
 */
async function syncBeforeEffects(run: TaskRun): Promise<void> {
  const syncs = [run.journal.sync()];
  for (let above = run.parent; above !== null; above = above.parent)
    syncs.push(above.journal.syncNewestRights());
  await Promise.all(syncs);
}

/** Returns the limits of an output, and the path of the file for the full text of a large output. */
function outputOptions({ settings, store, redactBytes }: EngineDeps, task: string, callId: string) {
  return {
    caps: settings.caps,
    spillPath: () => store.createSpillFile(task, callId),
    ...(redactBytes === undefined ? {} : { redactBytes }),
  };
}

/** The abort reason of a tool that has exceeded `tool_seconds`. */
const TIMED_OUT = Symbol('tool_seconds');

/**
 * Runs a tool until it ends, the task is stopped or `tool_seconds` have passed. A tool that does not stop then is
 * abandoned after `CLEANUP_TIMEOUT_MS`: its outcome is an error, and the loop continues. A tool that waits for other
 * tasks is never abandoned, since these tasks abandon their own tools.
 */
async function runTool(deps: EngineDeps, run: TaskRun, ready: AllowedCall): Promise<ToolOutput> {
  const { tool, call, pathAccess } = ready;
  // The task was stopped while the start of the call was being recorded.
  if (run.cancellation.turnSignal.aborted) {
    const { reason } = readStopOrder(run.cancellation.turnSignal);
    return { text: `Not run: ${reason}.`, error: 'CANCELLED' };
  }
  const { turnSignal } = run.cancellation;
  const controller = new AbortController();
  const removeStopListener = onAbort(turnSignal, () => controller.abort(turnSignal.reason));
  const { toolMs } = deps.settings.caps;
  const deadlines: Deadline[] = [];
  const waitsForTasks = waitsForOthers(ready);
  const limit = waitsForTasks
    ? null
    : new PausableDeadline(deps, toolMs, () => controller.abort(TIMED_OUT));
  if (limit !== null) deadlines.push(limit);
  const abandoned = deferred<ToolOutput>();
  const removeAbandonListener = onAbort(controller.signal, () => {
    if (waitsForTasks) return;
    const outcome = interrupted(controller.signal, toolMs);
    deadlines.push(deps.deadlines.after(CLEANUP_TIMEOUT_MS, () => abandoned.resolve(outcome)));
  });
  const runWait: WaitRunner = (wait) =>
    ready.runWait(async () => (limit === null ? await wait() : await limit.pauseDuring(wait)));
  const describeStop = () => describeInterruption(controller.signal, toolMs);
  const server = isMcpTool(tool.name)
    ? createServerPort(deps, run, { callId: call.id, tool: tool.name, runWait })
    : undefined;
  try {
    const created = createToolContext(deps, run, {
      ...(server === undefined ? {} : { server }),
      callId: call.id,
      tool: tool.name,
      pathAccess,
      decision: ready.decision,
      signal: controller.signal,
      runWait,
    });
    const paths = listRealWrites(ready);
    const feedback =
      tool.kind === 'edit' ? createEditFeedback(deps, run, { context: created, paths }) : null;
    const context = feedback?.context ?? created;
    const work = async () => {
      const refusal =
        refuseStart(deps, run, ready) ??
        (hasNewRules(deps, run, ready) ? await refuseByRules(deps, run, ready) : null);
      if (refusal !== null) return { text: refusal, error: 'PERMISSION_DENIED' } as const;
      await feedback?.begin();
      const output = await runWhereTaskRuns(run, ready, { context, describeStop });
      return (await feedback?.format(output)) ?? output;
    };
    // Other tasks can change the files while they are checked.
    const edit = async () => {
      const edited = await run.tree.fileLocks.withLock(paths, work);
      return (await feedback?.addProblems(edited)) ?? edited;
    };
    const endChange = mayChangeFiles(ready) ? sharedSearches.beginChange() : null;
    // A tool that is abandoned may still change files.
    const outcome = (tool.kind === 'edit' ? edit() : work()).finally(endChange);
    const output = await Promise.race([outcome, abandoned.promise]);
    const isReadOnly = ready.decision?.confinement === 'read-only';
    if (tool.kind === 'execute' && !isReadOnly) deps.onCommand?.();
    return controller.signal.reason === TIMED_OUT ? timedOut(output, toolMs) : output;
  } catch (thrown) {
    if (controller.signal.aborted) {
      // The tool ended by itself after the abort, so nothing had to be killed.
      return { ...interrupted(controller.signal, toolMs), forced: false };
    }
    return { text: `${tool.name} broke: ${errorMessage(thrown)}`, error: 'INTERNAL_ERROR' };
  } finally {
    for (const deadline of deadlines) deadline.cancel();
    removeStopListener();
    removeAbandonListener();
    await server?.close();
  }
}

/** Tells whether a call itself may change files. What its subagents do is told by their own calls. */
function mayChangeFiles(call: AllowedCall): boolean {
  const { replay, kind } = call.tool;
  return replay !== 'pure' && kind !== 'delegate' && !waitsForOthers(call);
}

/** Runs a call in the process of its task, or, if the task or the tool has none, in this process. */
async function runWhereTaskRuns(
  { process }: Pick<TaskRun, 'process'>,
  { tool, input, pathAccess: { basis } }: AllowedCall,
  rest: Pick<CallForProcess, 'context' | 'describeStop'>,
): Promise<ToolOutput> {
  return process?.runs(tool) === true
    ? await process.run({ tool, input, basis, ...rest })
    : await tool.run(input, rest.context);
}

/**
 * Decides about a call once more after its start was recorded and its files were locked, since a person may have set a
 * narrower mode meanwhile. Returns the refusal for the model, or null. A rerun uses the logged decision.
 */
function refuseStart({ decided }: EngineDeps, run: TaskRun, call: AllowedCall): string | null {
  if (decided !== undefined || call.mode === undefined) return null;
  const { mode } = run.permissions.rights;
  return decideStart(call.tool.name, { allowedIn: call.mode, mode });
}

/** Returns true if a person has changed the rules since a call was allowed, so that they may forbid the call now. */
function hasNewRules({ decided }: EngineDeps, run: TaskRun, call: AllowedCall): boolean {
  if (decided !== undefined || call.narrowingCount === undefined) return false;
  return call.narrowingCount !== run.permissions.narrowingCount;
}

/** Decides about an allowed call by the present rules. Returns the refusal for the model, or null. */
async function refuseByRules(
  deps: EngineDeps,
  run: TaskRun,
  call: AllowedCall,
): Promise<string | null> {
  const { decision } = await decideNow(deps, run, call);
  return decideStartByRules(call.tool.name, { before: call.decision, now: decision });
}

/** Lists the real paths that a call was allowed to change. */
function listRealWrites({ access, pathAccess }: AllowedCall): readonly string[] {
  return (access?.writes ?? []).map((path) => pathAccess.judged.get(path)?.real ?? path);
}

/** Creates the output of a tool that was ended by a stop or by `tool_seconds`, and of which nothing else is known. */
function interrupted(signal: AbortSignal, toolMs: number): ToolOutput {
  if (signal.reason === TIMED_OUT) return timedOut({ text: '' }, toolMs);
  const text = `Stopped: ${describeInterruption(signal, toolMs)}.`;
  return { text, error: 'CANCELLED', forced: true };
}

/** Describes why a call was ended, as a clause. */
function describeInterruption(signal: AbortSignal, toolMs: number): string {
  return signal.reason === TIMED_OUT
    ? `the limit tool_seconds = ${toolMs / 1000} was reached`
    : readStopOrder(signal).reason;
}

/** Marks an output as that of a tool that has exceeded `tool_seconds`. */
function timedOut(output: ToolOutput, toolMs: number): ToolOutput {
  const notice = `Ended after the limit tool_seconds = ${toolMs / 1000}.`;
  return { ...output, text: `${notice}\n${output.text}`.trimEnd(), error: 'TIMEOUT' };
}

/** Cuts a result to the bytes that remain of the caps on all results of the task and of the tree. */
function cutToToolBytes(budget: Budget, text: string): string {
  const bytes = byteLength(text);
  const { granted, hit } = budget.useToolBytes(bytes);
  if (hit === null) return text;
  const kept = new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, granted), {
    stream: true,
  });
  return `${kept}\n[Cut at ${granted} of ${bytes} bytes: ${limitMessage(hit)}]`.trimStart();
}

/** The number of bytes by which a tool may exceed its limit before its output is cut here. */
const CAP_SLACK_BYTES = 4_096;
/** The maximum number of bytes that one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** The number of bytes reserved for the line that replaces the middle of an output. */
const NOTE_BYTES = 1_000;

/** Returns true if an output is within the limits. Most tools limit their own output, but not all of them do. */
export function isWithinCaps(
  text: string,
  { name }: Pick<AnyTool, 'name'>,
  { resultBytes, readBytes }: ToolCaps,
): boolean {
  const maxBytes = (name === 'Read' ? readBytes : resultBytes) + CAP_SLACK_BYTES;
  return text.length <= maxBytes / MAX_BYTES_PER_UNIT || byteLength(text) <= maxBytes;
}

/**
 * Returns the text of an output for a request. An output above the limits is cut to its beginning and its end, and its
 * full text is written to the spill file of the call.
 */
export function fitOutput(
  text: string,
  tool: Pick<AnyTool, 'name'>,
  context: Pick<ToolContext, 'caps' | 'spillPath' | 'redactBytes'>,
): string {
  if (isWithinCaps(text, tool, context.caps)) return text;
  const bytes = Buffer.from(text, 'utf8');
  const half = Math.max(0, Math.floor((context.caps.resultBytes - NOTE_BYTES) / 2));
  const head = takeHead(bytes, half);
  const tail = takeTail(bytes, half);
  const omitted = bytes.length - byteLength(head) - byteLength(tail);
  return `${head}\n[… ${plural(omitted, 'byte')} left out; ${spillText(text, context)} …]\n${tail}`;
}

/** Returns at most the first `size` bytes: full lines if they fill at least half of them, and else full characters. */
function takeHead(bytes: Buffer, size: number): string {
  const end = bytes.lastIndexOf('\n', size - 1);
  if (end > size / 2) return bytes.toString('utf8', 0, end);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, size), {
    stream: true,
  });
}

/** Returns at most the last `size` bytes, cut like `takeHead`. */
function takeTail(bytes: Buffer, size: number): string {
  let from = bytes.length - size;
  const line = bytes.indexOf('\n', from) + 1;
  if (line > 0 && line < bytes.length - size / 2) return bytes.toString('utf8', line);
  while (((bytes[from] ?? 0) & 0b1100_0000) === 0b1000_0000) from += 1;
  return bytes.toString('utf8', from);
}
