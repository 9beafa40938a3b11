import type { AcceptanceOutcome } from '../protocol/acceptance.ts';
import type { WorkspacePort } from '../protocol/workspace.ts';
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

/** A request that waits for its logged answer. */
interface OpenRequest {
  readonly request: ModelRequest;
  readonly parts: ModelPart[];
  wake: Deferred<void>;
  isHeld: boolean;
}

/** Replaces a model: returns the logged answer when the rerun reaches it in the log. */
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

  /** True while a request waits for its logged answer. */
  get isWaiting(): boolean {
    return this.open !== null;
  }

  /**
   * Passes an event of the log to the open request. Returns false if there is no such request or the event is not a
   * part of an answer.
   *
   * @param after the next event of the log
   */
  replay(event: TaskEvent, after: TaskEvent | undefined): boolean {
    const { open } = this;
    const part = open === null ? null : toModelPart(event, open.request);
    if (open === null || part === null) return false;
    const wasRefused = after?.type === 'limit.reached' || isLowerCapFailure(event);
    const isHeld = open.isHeld && event.type === 'turn.failed' && wasRefused;
    if (event.type === 'turn.failed' && event.text !== undefined) {
      open.parts.push({ type: 'text_delta', text: event.text });
    }
    // The held request was admitted, but then a limit left no budget for it.
    open.parts.push(isHeld ? { type: 'admitted' } : part);
    open.isHeld ||= part.type === 'held';
    open.wake.resolve();
    return true;
  }
}

function buildFinishedPart(
  { message, usage, reason, model: answered }: LoggedAnswer,
  model: ModelRequest['model'],
): ModelPart {
  const providerPrefix = `${model.provider}/`;
  const id = answered.startsWith(providerPrefix) ? answered.slice(providerPrefix.length) : answered;
  const served = id === model.id ? {} : { servedBy: id };
  return { type: 'finished', message, usage, reason, ...served };
}

type LoggedAnswer = Pick<
  Extract<TaskEvent, { type: 'turn.ended' }>,
  'message' | 'usage' | 'reason' | 'model'
>;

function toModelPart(event: TaskEvent, { model }: ModelRequest): ModelPart | null {
  switch (event.type) {
    case 'turn.accepted':
      return { type: 'accepted' };
    case 'turn.held':
      return { type: 'held', because: event.because, untilMs: event.untilMs };
    case 'turn.ended':
    case 'summary.refused':
      return buildFinishedPart(event, model);
    case 'context.summarised': {
      const content = [{ type: 'text', text: event.summary } as const];
      return buildFinishedPart({ ...event, message: { role: 'assistant', content } }, model);
    }
    case 'turn.retried':
    case 'turn.failed':
      return { type: 'failed', failure: removeRetryNote(event.failure), usage: event.usage };
    default:
      return null;
  }
}

/** Removes the note that the loop added to the failure when it gave up, because the loop adds the note again. */
function removeRetryNote({ message, ...failure }: ModelFailure): ModelFailure {
  return { ...failure, message: message.replace(/ \(given up after \d[^()]*\)$/, '') };
}

const UNKNOWN_DETAILS = { contextWindow: null, maxOutput: null, price: null };

/** Replaces the choice of models: the log contains the chosen models and their costs. */
export function createLoggedModels(
  script: RerunLog,
  allEvents: readonly TaskEvent[],
): ModelChooser {
  return {
    forTask: ({ parent }) => parent,
    details: async () => UNKNOWN_DETAILS,
    outputLimit: () => null,
    fallbacks: (model) => findLoggedFallback(model, script.position, allEvents),
  };
}

/** Returns the logged fallback for the next failure of a model. */
function findLoggedFallback(
  model: ResolvedModel,
  from: number,
  allEvents: readonly TaskEvent[],
): readonly ResolvedModel[] {
  for (const event of allEvents) {
    if (event.seq <= from || event.type !== 'terms.changed' || event.fallback === undefined)
      continue;
    if (event.fallback.from !== modelName(model)) continue;
    // The first entry of the chain explains the fallback. The loop adds this entry again.
    return [{ ...event.model, chain: event.model.chain.slice(1) }];
  }
  return [];
}

/**
 * Replaces decisions and tools: returns the logged decision and outcome of each call when the rerun reaches them in
 * the log.
 */
export class LoggedCalls {
  /**
   * The calls that ran, by tool and input. A log of an earlier version may contain arguments that would be refused
   * now.
   */
  private readonly startedCalls: () => ReadonlySet<string>;
  private readonly undecided = new Map<string, (decided: CallDecision) => void>();
  private readonly running = new Map<string, (output: ToolOutput) => void>();

  constructor(events: readonly TaskEvent[]) {
    const started = () =>
      events.flatMap((each) =>
        each.type === 'call.started' ? [toCallKey(each.tool, each.input)] : [],
      );
    this.startedCalls = lazy(() => new Set(started()));
  }

  /** Waits for the logged decision about a call. */
  decide(callId: string): Promise<CallDecision> {
    return new Promise((resolve) => this.undecided.set(callId, resolve));
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
        // Leave out the notes, because the logged outcome contains them already.
        if (parsed.ok) return { ok: true, input: parsed.input };
        if (!this.startedCalls().has(toCallKey(tool.name, input))) return parsed;
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

  /** Passes an event of the log to the call that waits for it. Returns false if there is no such call. */
  replay(event: TaskEvent): boolean {
    switch (event.type) {
      case 'call.started':
        return resolveWaiting(this.undecided, event.callId, ALLOWED);
      case 'call.refused': {
        const { callId, decision } = event;
        if (decision === null) return false;
        const refusal = unescapeTags(event.text);
        return resolveWaiting(this.undecided, callId, {
          allowed: false,
          decision,
          refusal,
        });
      }
      case 'call.ended': {
        const { text, nonce, error, facts, attachments } = event;
        return resolveWaiting(this.running, event.callId, {
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

  /** Ends the wait for decisions after a stop order. The calls do not run in spite of this. */
  allowAll(): void {
    for (const callId of this.undecided.keys()) resolveWaiting(this.undecided, callId, ALLOWED);
  }
}

function toCallKey(tool: string, input: JsonValue): string {
  return JSON.stringify([tool, input]);
}

const ALLOWED: CallDecision = {
  allowed: true,
  decision: { verdict: 'allow', step: 'mode', reason: 'the log says that it ran' },
  refusal: '',
};

function resolveWaiting<T>(
  waiting: Map<string, (value: T) => void>,
  callId: string,
  value: T,
): boolean {
  const resolve = waiting.get(callId);
  waiting.delete(callId);
  resolve?.(value);
  return resolve !== undefined;
}

/** The limits that end a task during compaction. */
const COMPACTION_LIMITS: ReadonlySet<string> = new Set(['context_window', 'compactions']);

/**
 * Returns the compaction step before the next request in the log. The step can't be decided again, because the log
 * contains neither the size of the request nor the context window.
 */
export function findLoggedCompaction(script: RerunLog): CompactionStep {
  const body = findNextOwnEvent(script);
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
      return COMPACTION_LIMITS.has(hit.limit) ? { kind: 'stuck', hit } : { kind: 'none' };
    }
    default:
      return { kind: 'none' };
  }
}

/** Returns the next event that the loop itself wrote. */
function findNextOwnEvent(script: RerunLog): EventBody | undefined {
  const event = script.find((each) => !isExternalEvent(each));
  return event === undefined ? undefined : stripStamp(event);
}

/** Returns the output cap of the next logged request, or null if no budget lowered it. */
export function readLoggedOutputCap(next: TaskEvent | undefined): OutputCap | null {
  return next?.type === 'turn.started' ? (readOutputCap(next.outputCap) ?? null) : null;
}

/** Returns the flags of the next logged end, since files and rules may have changed since then. */
export function findLoggedFlags(script: RerunLog): readonly ClaimFlag[] {
  const ended = script.find(({ type }) => type === 'task.ended');
  return ended?.type === 'task.ended' ? (ended.claims ?? []) : [];
}

/** Returns the logged outcome of the search for an earlier result, or null if there was none. */
export function findLoggedReuse(script: RerunLog): ReuseOutcome | null {
  const body = findNextOwnEvent(script);
  return body?.type === 'task.reused' || body?.type === 'reuse.missed' ? body : null;
}

/**
 * Finds the outcome of the next check of the work in the log, since the directory has changed since then. The promise
 * never settles if the task was stopped, or its process died, during the check.
 */
export function findLoggedAcceptance(script: RerunLog): Promise<AcceptanceOutcome> {
  const body = findNextOwnEvent(script);
  return body?.type === 'acceptance.checked'
    ? Promise.resolve(body.outcome)
    : new Promise(() => {});
}

/** Creates the workspaces of a rerun, which finds in the log what the tasks left in them. */
export function createLoggedWorkspaces(script: RerunLog): WorkspacePort {
  return {
    prepare: async () => {},
    findProblem: () => NO_WORKSPACES,
    plan: () => {
      throw new Error(NO_WORKSPACES);
    },
    landingStates: async () => new Map(),
    diff: () => Promise.reject(new Error(NO_WORKSPACES)),
    proposeLanding: () => Promise.reject(new Error(NO_WORKSPACES)),
    discard: () => Promise.reject(new Error(NO_WORKSPACES)),
    // The log contains the event as one from outside.
    open: async () => null,
    close: async () => {
      const closed = script.find(({ type }) => type === 'workspace.closed');
      return closed?.type === 'workspace.closed' ? closed.left : null;
    },
  };
}

const NO_WORKSPACES = 'A rerun creates no workspaces.';

/**
 * Returns the settings for the rerun of an epoch: the recorded ones, or the present ones for an older log. The output
 * limits are lifted, because tool outputs in the log are cut already. So is the limit on the time of the tree, because the
 * log contains its end as an event from outside.
 */
export function buildLoggedSettings(
  { settings }: RerunSource,
  { events }: Epoch,
): EngineDeps['settings'] {
  const started = events.find((event) => event.type === 'task.started');
  const recorded = started?.type === 'task.started' ? started.settings : undefined;
  const caps = { ...settings.caps, resultBytes: Infinity, readBytes: Infinity };
  return { ...settings, ...recorded, caps, treeWallMs: null };
}
