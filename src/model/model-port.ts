import { type ProtocolName } from './settings/presets.ts';
import { errorMessage } from '../base/errors.ts';
import type {
  ModelPart,
  ModelPort,
  ModelRequest,
  AnswerListener,
  ResolvedModel,
} from '../protocol/model.ts';
import type { AdapterDeps, LearnedSettings } from './adapters/adapter.ts';
import type { ProtocolAdapter } from './adapters/protocol-adapter.ts';

import type { LimiterSettings } from './limiter/allowance.ts';
import { findSharedLimiter } from './limiter/limiter.ts';
import type { ConfiguredProvider } from './providers/configured-provider.ts';
import { withWatchdog, type LivenessLimits } from './watchdog.ts';

/** The limits of `[liveness]`, in milliseconds. */
export interface ModelPortLimits extends LivenessLimits {
  /** The first-token limit for a private address, since local models take minutes to load. */
  readonly privateFirstTokenMs: number;
}

/** The dependencies of the port to all models. */
export interface ModelPortDeps extends AdapterDeps {
  readonly providers: readonly ConfiguredProvider[];
  readonly limits: ModelPortLimits;
  /** The limits on the requests to each base URL and key. */
  readonly admission: LimiterSettings;
  /** Loads models that need no network, by provider name (`offline`), at their first request. */
  readonly localPorts?: Readonly<Record<string, () => Promise<ModelPort>>>;
}

/** The port to all configured models. */
export interface ConnectedModels extends ModelPort {
  /** Starts to load the modules that the provider's first request needs. Does nothing for an unknown name. */
  preload(provider: string): void;
  /** Returns the peculiarities of a model's server that its refusals have taught; null: nothing was sent to it. */
  learned(model: Pick<ResolvedModel, 'provider' | 'id'>): LearnedSettings | null;
}

/** The port to one provider. */
interface OpenedPort extends ModelPort {
  /** Default: the provider has no server. */
  learned?(model: string): LearnedSettings;
}

/** Creates the port to all configured models. Each request goes to the provider of its model. */
export function createModelPort(deps: ModelPortDeps): ConnectedModels {
  const ports = new Map<string, Promise<OpenedPort>>();
  const loaded = new Map<string, OpenedPort>();
  const load = (name: string): Promise<OpenedPort> => {
    const known = ports.get(name);
    if (known !== undefined) return known;
    const loading = openPort(name, deps).then((port) => {
      loaded.set(name, port);
      return port;
    });
    ports.set(name, loading);
    return loading;
  };
  async function* streamOnceLoaded(
    request: ModelRequest,
    signal: AbortSignal,
    listener?: AnswerListener,
  ): AsyncGenerator<ModelPart, void, undefined> {
    let port: ModelPort;
    try {
      port = await load(request.model.provider);
    } catch (thrown) {
      yield unavailable(request.model.provider, thrown);
      return;
    }
    yield* port.stream(request, signal, listener);
  }
  return {
    // A loaded port is called directly, since each generator in between costs time for every part.
    stream: (request, signal, listener) =>
      loaded.get(request.model.provider)?.stream(request, signal, listener) ??
      streamOnceLoaded(request, signal, listener),
    preload(name) {
      // The next request fails in the same way, and reports it.
      load(name).catch(() => {});
    },
    learned: ({ provider, id }) => loaded.get(provider)?.learned?.(id) ?? null,
  };
}

async function openPort(name: string, deps: ModelPortDeps): Promise<OpenedPort> {
  const other = deps.localPorts?.[name];
  if (other !== undefined) return other();
  const provider = deps.providers.find((one) => one.name === name);
  if (provider === undefined) throw new Error('no such provider is configured');
  const [{ createAdapter }, protocol] = await Promise.all([
    import('./adapters/adapter.ts'),
    PROTOCOLS[provider.protocol](),
  ]);
  const { limits } = deps;
  const firstTokenMs = provider.isPrivate ? limits.privateFirstTokenMs : limits.firstTokenMs;
  const limiter = findSharedLimiter(provider, deps.admission, deps);
  const parts = { clock: deps.clock, deadlines: deps.deadlines, limiter };
  const adapter = createAdapter(protocol, provider, deps);
  const port = withWatchdog(adapter, { ...limits, firstTokenMs }, parts);
  return { stream: port.stream, learned: adapter.learned };
}

/** The loaders of the protocols, so that only the provider packages in use are ever loaded. */
const PROTOCOLS: Readonly<Record<ProtocolName, () => Promise<ProtocolAdapter>>> = {
  anthropic: async () =>
    (await import('./adapters/anthropic/anthropic-protocol.ts')).anthropicProtocol,
  'openai-responses': async () =>
    (await import('./adapters/openai-responses/responses-protocol.ts')).responsesProtocol,
  'openai-chat': async () => (await import('./adapters/openai-chat/chat-protocol.ts')).chatProtocol,
  google: async () => (await import('./adapters/google/google-protocol.ts')).googleProtocol,
};

function unavailable(provider: string, thrown: unknown): ModelPart {
  const message = `${provider}: ${errorMessage(thrown)}`;
  return { type: 'failed', failure: { kind: 'not_found', message, retryable: false } };
}
