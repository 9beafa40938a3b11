import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import { unescapeTags } from '../base/control-tags.ts';
import type { JsonValue } from '../base/json.ts';
import { lazy } from '../base/lazy.ts';
import { NO_ACCESS } from '../protocol/permission.ts';
import type { AnyTool, ToolOutput } from '../protocol/tool.ts';
import type {
  CallDecision,
  ReuseOutcome,
  EngineDeps,
  CompactionStep,
} from '../engine/task/deps.ts';
import { isExternalEvent, type Epoch } from './epochs.ts';
import type { RerunLog } from './rerun-log.ts';
import { type OutputCap, readOutputCap } from '../protocol/output-cap.ts';
import type { ClaimFlag } from '../protocol/result.ts';
import type { RerunSource } from './idle-deps.ts';
import { stripStamp } from '../protocol/events/event-body.ts';

/** Replaces decisions and tools: it gives the logged decision and outcome of each call when the log reaches it. */
export class LoggedCalls {
  /** The calls that ran: a log of an earlier version may have arguments that are refused now. */
  private readonly ran: () => ReadonlySet<string>;
  private readonly judged = new Map<string, (decided: CallDecision) => void>();
  private readonly running = new Map<string, (output: ToolOutput) => void>();

  constructor(events: readonly TaskEvent[]) {
    const started = () =>
      events.flatMap((each) =>
        each.type === 'call.started' ? [keyOf(each.tool, each.input)] : [],
      );
    this.ran = lazy(() => new Set(started()));
  }

  /** Waits for the logged decision about a call. */
  decide(callId: string): Promise<CallDecision> {
    return new Promise((resolve) => this.judged.set(callId, resolve));
  }

  /** Returns a tool with the same description whose calls wait for their logged outcome. */
  asTool(tool: AnyTool): AnyTool {
    const { ownWords: _, ...shape } = tool;
    const describe = tool.describe?.bind(tool);
    const accepted = new Set<JsonValue>();
    return {
      ...shape,
      parse: (input) => {
        const parsed = tool.parse(input);
        // The logged outcome already contains the notes.
        if (parsed.ok) return { ok: true, input: parsed.input };
        if (!this.ran().has(keyOf(tool.name, input))) return parsed;
        accepted.add(input);
        return { ok: true, input };
      },
      ...(describe === undefined
        ? {}
        : {
            describe: (input: JsonValue, at: { readonly cwd: string }) =>
              accepted.has(input) ? NO_ACCESS : describe(input, at),
          }),
      run: (_input: unknown, { callId }: { readonly callId: string }) =>
        new Promise<ToolOutput>((resolve) => this.running.set(callId, resolve)),
    };
  }

  /** Gives an event to the call that waits for it. Returns false if there is none. */
  give(event: TaskEvent): boolean {
    switch (event.type) {
      case 'call.started':
        return settle(this.judged, event.callId, ALLOWED);
      case 'call.refused': {
        if (event.decision === null) return false;
        const refusal = unescapeTags(event.text);
        return settle(this.judged, event.callId, {
          allowed: false,
          decision: event.decision,
          refusal,
        });
      }
      case 'call.ended': {
        const { text, nonce, error, facts, attachments } = event;
        return settle(this.running, event.callId, {
          ...(nonce === undefined ? { text: unescapeTags(text), isInstruction: true } : { text }),
          ...(error === null ? {} : { error }),
          facts,
          ...(attachments === undefined ? {} : { attachments }),
        });
      }
      default:
        return false;
    }
  }

  /** Ends the wait for decisions after a stop order: these calls do not run. */
  release(): void {
    for (const callId of this.judged.keys()) settle(this.judged, callId, ALLOWED);
  }
}

function keyOf(tool: string, input: JsonValue): string {
  return JSON.stringify([tool, input]);
}

const ALLOWED: CallDecision = {
  allowed: true,
  decision: { verdict: 'allow', step: 'mode', reason: 'the log says that it ran' },
  refusal: '',
};

function settle<T>(waiting: Map<string, (value: T) => void>, callId: string, value: T): boolean {
  const resolve = waiting.get(callId);
  waiting.delete(callId);
  resolve?.(value);
  return resolve !== undefined;
}

/** The limits at which compaction ends. */
const LIMITS: ReadonlySet<string> = new Set(['context_window', 'compactions']);

/**
 * Returns the compaction step that the log has before the next request. It can't be decided again, since the log has
 * neither the size of the request nor the context window.
 */
export function loggedCompaction(script: RerunLog): CompactionStep {
  const body = nextOwnEvent(script);
  switch (body?.type) {
    case 'context.cleared':
    case 'context.dropped':
    case 'context.handed':
      return { kind: 'record', event: body };
    case 'summary.started':
      return { kind: 'summarise', event: body };
    case 'task.ended':
      return { kind: 'stuck', hit: null };
    case 'limit.reached': {
      const { type: _type, ...hit } = body;
      return LIMITS.has(hit.limit) ? { kind: 'stuck', hit } : { kind: 'none' };
    }
    default:
      return { kind: 'none' };
  }
}

/** Returns the next event that the loop itself wrote. */
function nextOwnEvent(script: RerunLog): EventBody | undefined {
  const event = script.find((each) => !isExternalEvent(each));
  return event === undefined ? undefined : stripStamp(event);
}

/** Returns the output cap of the next logged request, or null if no budget lowered it. */
export function loggedOutputCap(next: TaskEvent | undefined): OutputCap | null {
  return next?.type === 'turn.started' ? (readOutputCap(next.outputCap) ?? null) : null;
}

/** Returns the flags of the next logged end, since files and rules may have changed since then. */
export function loggedFlags(script: RerunLog): readonly ClaimFlag[] {
  const ended = script.find(({ type }) => type === 'task.ended');
  return ended?.type === 'task.ended' ? (ended.claims ?? []) : [];
}

/** Returns the logged outcome of the search for an earlier result, or null if there was none. */
export function loggedReuse(script: RerunLog): ReuseOutcome | null {
  const body = nextOwnEvent(script);
  return body?.type === 'task.reused' || body?.type === 'reuse.missed' ? body : null;
}

/** Returns the logged settings, or the present ones for an older log. Tool outputs in the log are already cut. */
export function recordedSettings(
  { settings }: RerunSource,
  { events }: Epoch,
): EngineDeps['settings'] {
  const started = events.find((event) => event.type === 'task.started');
  const recorded = started?.type === 'task.started' ? started.settings : undefined;
  const caps = { ...settings.caps, resultBytes: Infinity, readBytes: Infinity };
  return { ...settings, ...recorded, caps };
}
