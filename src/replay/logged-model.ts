import { isLowerCapFailure } from '../engine/turn/request.ts';
import { deferred, type Deferred } from '../base/async.ts';
import type { ModelChooser } from '../engine/task/deps.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import {
  type ModelFailure,
  type ModelPart,
  type ModelPort,
  type ModelRequest,
  modelName,
  type ResolvedModel,
} from '../protocol/model.ts';
import type { RerunLog } from './rerun-log.ts';

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
