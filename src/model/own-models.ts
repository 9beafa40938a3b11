import { setImmediate } from 'node:timers/promises';
import { rejectOnAbort } from '../base/async.ts';
import type { Clock } from '../base/clock.ts';
import type { Deadlines } from '../base/deadlines.ts';
import { dropMissing } from '../base/drop-missing.ts';
import { errorMessage } from '../base/errors.ts';
import type { LanguageModelObject } from '../protocol/language-model.ts';
import {
  modelName,
  NO_USAGE,
  type ModelPart,
  type ModelPort,
  type Usage,
} from '../protocol/model.ts';
import type { WireModelPort } from './adapters/adapter.ts';
import type { ConfiguredProvider } from './providers/configured-provider.ts';
import { withWatchdog, type LivenessLimits } from './watchdog.ts';

/** The name of the provider of the models that a program brings along. */
export const OWN_PROVIDER = 'own';

/** A model that a program brings along, instead of a server. Its name is `own/ID`. */
export interface OwnModel {
  readonly id: string;
  readonly source:
    /** A model object of the AI SDK. */
    | { readonly kind: 'language-model'; readonly model: LanguageModelObject }
    | { readonly kind: 'port'; readonly port: ModelPort }
    /** A function that does the whole work of a task. Only the limits of the task bound its time. */
    | { readonly kind: 'function'; readonly port: ModelPort };
}

/** Creates the provider of these models. It has no server and needs no key. */
export function createOwnProvider(models: readonly OwnModel[]): ConfiguredProvider {
  return {
    name: OWN_PROVIDER,
    protocol: 'openai-chat',
    source: 'models of the program',
    vendor: null,
    tiers: {},
    models: models.map(({ id }) => id),
    baseUrl: '',
    apiKey: null,
    isPrivate: true,
  };
}

interface OwnPortDeps {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The limits on the silence of a model. They do not apply to functions. */
  readonly limits: LivenessLimits;
}

/** Creates the port to these models. Each request goes to the model that it names. */
export function createOwnPort(models: readonly OwnModel[], deps: OwnPortDeps): ModelPort {
  const opened = new Map<string, Promise<ModelPort | null>>();
  const open = (id: string): Promise<ModelPort | null> => {
    const port = opened.get(id) ?? openModel(models, id, deps);
    opened.set(id, port);
    return port;
  };
  return {
    async *stream(request, signal, listener) {
      const port = await open(request.model.id);
      if (port !== null) {
        yield* port.stream(request, signal, listener);
        return;
      }
      const message = `${modelName(request.model)}: the program has no such model`;
      yield { type: 'failed', failure: { kind: 'not_found', message, retryable: false } };
    },
  };
}

async function openModel(
  models: readonly OwnModel[],
  id: string,
  { limits, ...deps }: OwnPortDeps,
): Promise<ModelPort | null> {
  const source = models.find((model) => model.id === id)?.source;
  switch (source?.kind) {
    case undefined:
      return null;
    case 'function': {
      const { stream } = enforceContract(withoutObserver(source.port));
      return { stream: (request, signal) => stream(request, signal) };
    }
    case 'port':
      return withWatchdog(enforceContract(withoutObserver(source.port)), limits, deps);
    case 'language-model': {
      const { createLanguageModelPort } = await import('./adapters/language-model-port.ts');
      const port = createLanguageModelPort(source.model, deps);
      return withWatchdog(enforceContract(port), limits, deps);
    }
  }
}

/** Tells whether the last part of an answer has what every part of the engine relies on. The port may not be typed. */
function isComplete({ message, usage, reason }: Partial<Finished>): boolean {
  return Array.isArray(message?.content) && usage !== undefined && reason !== undefined;
}

type Finished = Extract<ModelPart, { readonly type: 'finished' }>;

/**
 * Returns the last part of an answer with a whole usage: a missing count is 0. A count that no answer can have would give back
 * budget, so it makes the usage count as missing.
 */
function withSoundUsage(part: Finished): Finished {
  const usage: Usage = { ...NO_USAGE, ...dropMissing({ ...part.usage }) };
  const isSound = Object.values({ ...usage } as Readonly<Record<string, unknown>>).every(
    (count) => typeof count === 'number' && Number.isFinite(count) && count >= 0,
  );
  return isSound ? { ...part, usage } : { ...part, usage: NO_USAGE, usageMissing: 'all' };
}

/** Returns a port that yields all parts, because a port of a program reports nothing else. */
function withoutObserver(port: ModelPort): WireModelPort {
  return { stream: (request, signal) => port.stream(request, signal) };
}

/**
 * Makes a port of a program keep the contract of a ModelPort: what it throws and a stream without a last part become a failure,
 * and after an abort its stream ends at once, even if the port does not notice.
 */
function enforceContract(port: WireModelPort): WireModelPort {
  return {
    async *stream(request, signal, observer) {
      // A program whose model and tools answer without waiting would never let a timer or a signal come to its turn.
      await setImmediate();
      // Whether the port connects to a server is not known, so the limit to the first token holds from the start.
      observer?.connected?.();
      const failWith = (message: string): ModelPart => ({
        type: 'failed',
        failure: {
          kind: signal.aborted ? 'cancelled' : 'server',
          message: `${modelName(request.model)}: ${message}`,
          retryable: false,
        },
      });
      let parts: AsyncIterator<ModelPart> | null = null;
      try {
        parts = port.stream(request, signal, observer)[Symbol.asyncIterator]();
        for (;;) {
          const next = await rejectOnAbort(parts.next(), signal);
          if (next.done === true) break;
          if (next.value.type === 'finished' && !isComplete(next.value)) {
            yield failWith(
              'its part `finished` needs a message with content, a usage and a reason',
            );
            return;
          }
          yield next.value.type === 'finished' ? withSoundUsage(next.value) : next.value;
          if (next.value.type === 'finished' || next.value.type === 'failed') return;
        }
        yield failWith('its stream ended without a last part (`finished` or `failed`)');
      } catch (thrown) {
        if (signal.aborted) void Promise.resolve(parts?.return?.()).catch(() => {});
        yield failWith(signal.aborted ? 'stopped' : errorMessage(thrown));
      }
    },
  };
}
