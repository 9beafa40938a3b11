import { deferred, onAbort } from '../../base/async.ts';
import type { Deadline } from '../../base/deadlines.ts';
import { escapeTags } from '../../base/control-tags.ts';
import { errorMessage } from '../../base/errors.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { decideStart } from '../../policy/decide.ts';
import type { Decision, PermissionMode } from '../../protocol/permission.ts';
import type {
  FileAccess,
  ToolOutput,
  AnyTool,
  ToolCaps,
  ToolContext,
} from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import { waitsForOthers } from '../permissions/prepare-call.ts';
import { readStopOrder } from '../task/stop-order.ts';
import type { TaskRun } from '../task/task-run.ts';
import { toolContext } from './tool-context.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import { appendNotes, spillText } from '../../tools/shared/output.ts';
import { byteLength, plural } from '../../base/text.ts';
import type { Budget } from '../limits/budget.ts';
import { limitMessage } from '../limits/limit-message.ts';

/** How long a stopped tool may take to clean up before its outcome is given up. */
const CLEANUP_MS = 2_500;

interface AllowedCall extends ReadyCall {
  readonly pathAccess: FileAccess;
  /** The decision that allows it. Absent for a call that was allowed before a crash. */
  readonly decision?: Decision;
  /** The mode in which it was allowed. Absent for a call that was allowed before a crash. */
  readonly mode?: PermissionMode;
}

/** Runs a call that was allowed. Writes its intent to the log before, and its outcome after. */
export async function execute(deps: EngineDeps, run: TaskRun, ready: AllowedCall): Promise<void> {
  const { call, tool } = ready;
  const mayHaveEffects = tool.replay !== 'pure';
  run.journal.record({ type: 'call.started', callId: call.id, tool: tool.name, input: call.input });
  // A delegation changes nothing itself, and its child syncs this log before it does anything.
  if (mayHaveEffects && tool.kind !== 'delegate') await run.journal.sync();
  const startedAt = deps.clock.monotonic();
  const output = await runTool(deps, run, ready);
  // The call has no outcome, so it runs again when the task is resumed.
  if (run.cancellation.isParked) throw run.cancellation.signal.reason;
  if (output.forced === true) run.cancellation.recordKill();
  const told = output.told ?? [];
  const noted = appendNotes(output.text, ready.notes);
  const text = cutToToolBytes(run.budget, fitOutput(noted, tool, spillOf(deps, run.spec.id, call)));
  // The withdrawal comes first: after a crash in the middle of the batch the call runs again and reports once more.
  run.journal.record(
    ...(told.length === 0 ? [] : [{ type: 'input.withdrawn', ids: told } as const]),
    {
      type: 'call.ended',
      callId: call.id,
      tool: tool.name,
      ...(tool.ownWords === true || output.isInstruction === true
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

/** Returns the limits of an output, and the place for the full text of a large one. */
function spillOf({ settings, store, redactBytes }: EngineDeps, task: string, call: ToolCallPart) {
  return {
    caps: settings.caps,
    spillPath: () => store.createSpillFile(task, call.id),
    ...(redactBytes === undefined ? {} : { redactBytes }),
  };
}

const TIMED_OUT = Symbol('tool_seconds');

/**
 * Runs a tool until it ends, the task is stopped or `tool_seconds` have passed. A tool that does not stop then is
 * abandoned after a while: its outcome is an error, and the loop continues. A tool that waits for other tasks is never
 * abandoned, since these tasks abandon their own tools.
 */
async function runTool(deps: EngineDeps, run: TaskRun, ready: AllowedCall): Promise<ToolOutput> {
  const { tool, input, call, pathAccess } = ready;
  // The stop came while the intent was being written.
  if (run.cancellation.turnSignal.aborted) {
    const { reason } = readStopOrder(run.cancellation.turnSignal);
    return { text: `Not run: ${reason}.`, error: 'CANCELLED' };
  }
  const { turnSignal } = run.cancellation;
  const controller = new AbortController();
  const forget = onAbort(turnSignal, () => controller.abort(turnSignal.reason));
  const { toolMs } = deps.settings.caps;
  const deadlines: Deadline[] = [];
  const waits = waitsForOthers(ready);
  if (!waits) {
    deadlines.push(deps.deadlines.after(toolMs, () => controller.abort(TIMED_OUT)));
  }
  const givenUp = deferred<ToolOutput>();
  const giveUp = onAbort(controller.signal, () => {
    if (waits) return;
    const outcome = interrupted(controller.signal, toolMs);
    deadlines.push(deps.deadlines.after(CLEANUP_MS, () => givenUp.resolve(outcome)));
  });
  try {
    const context = toolContext(deps, run, {
      callId: call.id,
      pathAccess,
      decision: ready.decision,
      signal: controller.signal,
    });
    const work = async () => {
      const refusal = refuseStart(deps, run, ready);
      return refusal === null
        ? await tool.run(input, context)
        : ({ text: refusal, error: 'PERMISSION_DENIED' } as const);
    };
    const outcome =
      tool.kind === 'edit' ? run.tree.fileLocks.withLock(writesOf(ready), work) : work();
    const output = await Promise.race([outcome, givenUp.promise]);
    return controller.signal.reason === TIMED_OUT ? timedOut(output, toolMs) : output;
  } catch (thrown) {
    if (controller.signal.aborted) {
      return { ...interrupted(controller.signal, toolMs), forced: false };
    }
    return { text: `${tool.name} broke: ${errorMessage(thrown)}`, error: 'INTERNAL_ERROR' };
  } finally {
    for (const deadline of deadlines) deadline.cancel();
    forget();
    giveUp();
  }
}

/**
 * Decides about a call once more when it has written its intent and holds the locks on its files, since a person may
 * have set a narrower mode meanwhile. Returns the refusal for the model, or null. A rerun uses the logged decision.
 */
function refuseStart({ decided }: EngineDeps, run: TaskRun, call: AllowedCall): string | null {
  if (decided !== undefined || call.mode === undefined) return null;
  const { mode } = run.permissions.rights;
  return decideStart(call.tool.name, { allowedIn: call.mode, mode });
}

/** Returns the real paths that a call was allowed to change. */
function writesOf({ access, pathAccess }: AllowedCall): readonly string[] {
  return (access?.writes ?? []).map((path) => pathAccess.judged.get(path)?.real ?? path);
}

function interrupted(signal: AbortSignal, toolMs: number): ToolOutput {
  if (signal.reason === TIMED_OUT) return timedOut({ text: '' }, toolMs);
  const text = `Stopped: ${readStopOrder(signal).reason}.`;
  return { text, error: 'CANCELLED', forced: true };
}

function timedOut(output: ToolOutput, toolMs: number): ToolOutput {
  const notice = `Ended after the limit tool_seconds = ${toolMs / 1000}.`;
  return { ...output, text: `${notice}\n${output.text}`.trimEnd(), error: 'TIMEOUT' };
}

/** Cuts the result of a call to the remaining bytes of the caps on all results of its task and its tree. */
function cutToToolBytes(budget: Budget, text: string): string {
  const bytes = byteLength(text);
  const { granted, hit } = budget.useToolBytes(bytes);
  if (hit === null) return text;
  const kept = new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, granted), {
    stream: true,
  });
  return `${kept}\n[Cut at ${granted} of ${bytes} bytes: ${limitMessage(hit)}]`.trimStart();
}

/** The bytes by which a tool may exceed its limits before its output is cut here. */
const CAP_SLACK = 4_096;
/** The maximum number of bytes that one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** The bytes reserved for the line between head and tail. */
const NOTE_BYTES = 1_000;

/** Says whether an output fits into a request as it is. Tools limit their own output, but not all of them do. */
export function isWithinCaps(
  text: string,
  { name }: Pick<AnyTool, 'name'>,
  { resultBytes, readBytes }: ToolCaps,
): boolean {
  const most = (name === 'Read' ? readBytes : resultBytes) + CAP_SLACK;
  return text.length <= most / MAX_BYTES_PER_UNIT || byteLength(text) <= most;
}

/**
 * Returns the text of an output for a request. An output above the limits is cut to its beginning and its end,
 * and the full text goes into the spill file of the call.
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
  const left = bytes.length - byteLength(head) - byteLength(tail);
  return `${head}\n[… ${plural(left, 'byte')} left out; ${spillText(text, context)} …]\n${tail}`;
}

/** Returns the beginning: full lines if they fill at least half of the size, or else full characters. */
function takeHead(bytes: Buffer, most: number): string {
  const end = bytes.lastIndexOf('\n', most - 1);
  if (end > most / 2) return bytes.toString('utf8', 0, end);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, most), {
    stream: true,
  });
}

function takeTail(bytes: Buffer, most: number): string {
  let from = bytes.length - most;
  const line = bytes.indexOf('\n', from) + 1;
  if (line > 0 && line < bytes.length - most / 2) return bytes.toString('utf8', line);
  while (((bytes[from] ?? 0) & 0b1100_0000) === 0b1000_0000) from += 1;
  return bytes.toString('utf8', from);
}
