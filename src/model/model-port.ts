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
  /** The first-token limit for servers at private addresses, whose models may take minutes to load. */
  readonly privateFirstTokenMs: number;
}

/** The dependencies of the port to all models. */
export interface ModelPortDeps extends AdapterDeps {
  readonly providers: readonly ConfiguredProvider[];
  readonly limits: ModelPortLimits;
  /** The limits on the requests to each provider account, which is a base URL and an API key. */
  readonly admission: LimiterSettings;
  /** The functions that load the models without a network, by provider name (`offline`). Each is called at its first request. */
  readonly localPorts?: Readonly<Record<string, () => Promise<ModelPort>>>;
}

/** The port to all configured models. */
export interface ConnectedModels extends ModelPort {
  /** Starts to load the modules for the first request to a provider. An unknown name has no effect. */
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
  const loading = new Map<string, Promise<OpenedPort>>();
  const loaded = new Map<string, OpenedPort>();
  const load = (name: string): Promise<OpenedPort> => {
    const known = loading.get(name);
    if (known !== undefined) return known;
    const opening = openPort(name, deps).then((port) => {
      loaded.set(name, port);
      return port;
    });
    loading.set(name, opening);
    return opening;
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
      yield createUnavailableFailure(request.model.provider, thrown);
      return;
    }
    yield* port.stream(request, signal, listener);
  }
  return {
    // A loaded port is called directly, because every generator in between costs time for each part of an answer.
    stream: (request, signal, listener) =>
      loaded.get(request.model.provider)?.stream(request, signal, listener) ??
      streamOnceLoaded(request, signal, listener),
    preload(name) {
      // The error is ignored, because the first request fails with the same error and reports it.
      load(name).catch(() => {});
    },
    learned: ({ provider, id }) => loaded.get(provider)?.learned?.(id) ?? null,
  };
}

async function openPort(name: string, deps: ModelPortDeps): Promise<OpenedPort> {
  const loadLocalPort = deps.localPorts?.[name];
  if (loadLocalPort !== undefined) return loadLocalPort();
  const provider = deps.providers.find((each) => each.name === name);
  if (provider === undefined) throw new Error('no such provider is configured');
  const [{ createAdapter }, protocol] = await Promise.all([
    import('./adapters/adapter.ts'),
    PROTOCOLS[provider.protocol](),
  ]);
  const { limits } = deps;
  const firstTokenMs = provider.isPrivate ? limits.privateFirstTokenMs : limits.firstTokenMs;
  const limiter = findSharedLimiter(provider, deps.admission, deps);
  const watchdogDeps = { clock: deps.clock, deadlines: deps.deadlines, limiter };
  const adapter = createAdapter(protocol, provider, deps);
  const port = withWatchdog(adapter, { ...limits, firstTokenMs }, watchdogDeps);
  return { stream: port.stream, learned: adapter.learned };
}

/** The functions that load the protocols. Each protocol is loaded only when it is used, because its provider package is large. */
const PROTOCOLS: Readonly<Record<ProtocolName, () => Promise<ProtocolAdapter>>> = {
  anthropic: async () =>
    (await import('./adapters/anthropic/anthropic-protocol.ts')).anthropicProtocol,
  'openai-responses': async () =>
    (await import('./adapters/openai-responses/responses-protocol.ts')).responsesProtocol,
  'openai-chat': async () => (await import('./adapters/openai-chat/chat-protocol.ts')).chatProtocol,
  google: async () => (await import('./adapters/google/google-protocol.ts')).googleProtocol,
};

function createUnavailableFailure(provider: string, thrown: unknown): ModelPart {
  const message = `${provider}: ${errorMessage(thrown)}`;
  return { type: 'failed', failure: { kind: 'not_found', message, retryable: false } };
}
