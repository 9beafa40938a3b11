import { isLowerCapFailure } from '../engine/turn/request.ts';
import { deferred, type Deferred } from '../base/async.ts';
import type {
  ModelChooser,
  CallDecision,
  ReuseOutcome,
  EngineDeps,
  CompactionStep,
} from '../engine/task/deps.ts';
import type { TaskEvent, EventBody } from '../protocol/events/event.ts';
import {
  type ModelFailure,
  type ModelPart,
  type ModelPort,
  type ModelRequest,
  modelName,
  type ResolvedModel,
} from '../protocol/model.ts';
import type { RerunLog } from './rerun-log.ts';
import { unescapeTags } from '../base/control-tags.ts';
import type { JsonValue } from '../base/json.ts';
import { lazy } from '../base/lazy.ts';
import { NO_ACCESS } from '../protocol/permission.ts';
import type { AnyTool, ToolOutput } from '../protocol/tool.ts';
import { isExternalEvent, type Epoch } from './epochs.ts';
import { type OutputCap, readOutputCap } from '../protocol/output-cap.ts';
import type { ClaimFlag } from '../protocol/result.ts';
import type { RerunSource } from './idle-deps.ts';
import { stripStamp } from '../protocol/events/event-body.ts';

interface OpenRequest {
  readonly request: ModelRequest;
  readonly parts: ModelPart[];
  wake: Deferred<void>;
  isHeld: boolean;
}

/** Replaces a model: it gives the logged answer when the log reaches it. */
export class LoggedModel implements ModelPort {
  private open: OpenRequest | null = null;

  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    const open: OpenRequest = { request, parts: [], wake: deferred(), isHeld: false };
    this.open = open;
    for (;;) {
      await open.wake.promise;
      open.wake = deferred<void>();
      for (let part = open.parts.shift(); part !== undefined; part = open.parts.shift()) {
        if (part.type === 'finished' || part.type === 'failed') this.open = null;
        yield part;
      }
    }
  }

  get isAsked(): boolean {
    return this.open !== null;
  }

  /** Gives an event to the open request. Returns false if it can't answer it. `after` is the next event of the log. */
  give(event: TaskEvent, after: TaskEvent | undefined): boolean {
    const { open } = this;
    const part = open === null ? null : partOf(event, open.request);
    if (open === null || part === null) return false;
    const wasRefused = after?.type === 'limit.reached' || isLowerCapFailure(event);
    const isHeld = open.isHeld && event.type === 'turn.failed' && wasRefused;
    if (event.type === 'turn.failed' && event.text !== undefined) {
      open.parts.push({ type: 'text_delta', text: event.text });
    }
    // The held request was admitted, and then a limit left no room for it.
    open.parts.push(isHeld ? { type: 'admitted' } : part);
    open.isHeld ||= part.type === 'held';
    open.wake.resolve();
    return true;
  }
}

function finished(
  { message, usage, reason, model: answered }: WholeAnswer,
  model: ModelRequest['model'],
): ModelPart {
  const own = `${model.provider}/`;
  const id = answered.startsWith(own) ? answered.slice(own.length) : answered;
  const served = id === model.id ? {} : { servedBy: id };
  return { type: 'finished', message, usage, reason, ...served };
}

type WholeAnswer = Pick<
  Extract<TaskEvent, { type: 'turn.ended' }>,
  'message' | 'usage' | 'reason' | 'model'
>;

function partOf(event: TaskEvent, { model }: ModelRequest): ModelPart | null {
  switch (event.type) {
    case 'turn.accepted':
      return { type: 'accepted' };
    case 'turn.held':
      return { type: 'held', because: event.because, untilMs: event.untilMs };
    case 'turn.ended':
    case 'summary.refused':
      return finished(event, model);
    case 'context.summarised': {
      const content = [{ type: 'text', text: event.summary } as const];
      return finished({ ...event, message: { role: 'assistant', content } }, model);
    }
    case 'turn.retried':
    case 'turn.failed':
      return { type: 'failed', failure: asItCame(event.failure), usage: event.usage };
    default:
      return null;
  }
}

/** Removes the note that the loop added when it gave up, since the loop adds it again. */
function asItCame({ message, ...failure }: ModelFailure): ModelFailure {
  return { ...failure, message: message.replace(/ \(given up after \d[^()]*\)$/, '') };
}

const UNKNOWN = { contextWindow: null, maxOutput: null, price: null };

/** Replaces the choice of models: the log has the chosen models and their costs. */
export function loggedModels(script: RerunLog, whole: readonly TaskEvent[]): ModelChooser {
  return {
    forTask: ({ parent }) => parent,
    details: async () => UNKNOWN,
    outputLimit: () => null,
    fallbacks: (model) => standInFor(model, script.position, whole),
  };
}

/** Returns the logged fallback for the next failure of a model. */
function standInFor(
  model: ResolvedModel,
  from: number,
  whole: readonly TaskEvent[],
): readonly ResolvedModel[] {
  for (const event of whole) {
    if (event.seq <= from || event.type !== 'terms.changed' || event.fallback === undefined)
      continue;
    if (event.fallback.from !== modelName(model)) continue;
    // The first step of the chain explains the fallback; the loop adds it again.
    return [{ ...event.model, chain: event.model.chain.slice(1) }];
  }
  return [];
}

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
        const { callId, decision } = event;
        if (decision === null) return false;
        const refusal = unescapeTags(event.text);
        return settle(this.judged, callId, { allowed: false, decision, refusal });
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
