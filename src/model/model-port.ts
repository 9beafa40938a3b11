import { errorMessage, unreachable } from '../base/errors.ts';
import type { ModelPart, ModelPort, ModelRequest, AnswerListener } from '../protocol/model.ts';
import type { AdapterDeps, WireModelPort } from './adapters/adapter.ts';
import type { Endpoint } from './adapters/protocol-adapter.ts';
import type { ProtocolName } from './providers/vendors.ts';
import type { LimiterSettings } from './limiter/allowance.ts';
import { findSharedLimiter } from './limiter/limiter.ts';
import type { ConfiguredProvider } from './providers/providers.ts';
import { withWatchdog, type LivenessLimits } from './watchdog.ts';

/** `[liveness]`, in milliseconds. */
export interface ModelPortLimits extends LivenessLimits {
  /** The first-token limit of a private address: local models load for minutes. */
  readonly privateFirstTokenMs: number;
}

export interface ModelPortDeps extends AdapterDeps {
  readonly providers: readonly ConfiguredProvider[];
  readonly limits: ModelPortLimits;
  /** Of each base URL and key. */
  readonly admission: LimiterSettings;
  /** Models that need no network, by provider name (`offline`); loaded at their first request. */
  readonly others?: Readonly<Record<string, () => Promise<ModelPort>>>;
}

export interface ConnectedModels extends ModelPort {
  /** Starts loading what the provider's first request will need. Unknown names do nothing. */
  preload(provider: string): void;
}

/** The port to all configured models: each request goes to the provider that its model names. */
export function createModelPort(deps: ModelPortDeps): ConnectedModels {
  const ports = new Map<string, Promise<ModelPort>>();
  const loaded = new Map<string, ModelPort>();
  const load = (name: string): Promise<ModelPort> => {
    const known = ports.get(name);
    if (known !== undefined) return known;
    const loading = open(name, deps).then((port) => {
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
    // Each generator that parts pass through costs with each of them.
    stream: (request, signal, listener) =>
      loaded.get(request.model.provider)?.stream(request, signal, listener) ??
      streamOnceLoaded(request, signal, listener),
    preload(name) {
      // The request that comes after finds the same failure, and tells it.
      load(name).catch(() => {});
    },
  };
}

async function open(name: string, deps: ModelPortDeps): Promise<ModelPort> {
  const other = deps.others?.[name];
  if (other !== undefined) return other();
  const provider = deps.providers.find((one) => one.name === name);
  if (provider === undefined) throw new Error('no such provider is configured');
  const createProtocolAdapter = await loadProtocol(provider.protocol);
  const { limits } = deps;
  const firstTokenMs = provider.isPrivate ? limits.privateFirstTokenMs : limits.firstTokenMs;
  const limiter = findSharedLimiter(provider, deps.admission, deps);
  const watched = { clock: deps.clock, deadlines: deps.deadlines, limiter };
  return withWatchdog(createProtocolAdapter(provider, deps), { ...limits, firstTokenMs }, watched);
}

type CreateAdapter = (endpoint: Endpoint, deps: AdapterDeps) => WireModelPort;

/** Loads the module of one protocol, so that only the provider packages in use are ever loaded. */
async function loadProtocol(protocol: ProtocolName): Promise<CreateAdapter> {
  switch (protocol) {
    case 'anthropic':
      return (await import('./adapters/anthropic/anthropic-protocol.ts')).createAnthropicAdapter;
    case 'openai-responses':
      return (await import('./adapters/openai-responses/responses-protocol.ts'))
        .createResponsesAdapter;
    case 'openai-chat':
      return (await import('./adapters/openai-chat/chat-protocol.ts')).createChatAdapter;
    case 'google':
      return (await import('./adapters/google/google-protocol.ts')).createGoogleAdapter;
    default:
      return unreachable(protocol);
  }
}

function unavailable(provider: string, thrown: unknown): ModelPart {
  const message = `${provider}: ${errorMessage(thrown)}`;
  return { type: 'failed', failure: { kind: 'not_found', message, retryable: false } };
}
