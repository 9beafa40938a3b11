import { errorMessage, unreachable } from '../base/errors.ts';
import type { ModelPart, ModelPort, ModelRequest, AnswerListener } from '../protocol/model.ts';
import type { AdapterDeps, createAdapter } from './adapters/adapter.ts';
import type { Dialect } from './adapters/dialect.ts';
import type { Protocol } from './endpoints.ts';
import type { LimiterSettings } from './limiter/allowance.ts';
import { limiterOf } from './limiter/limiters.ts';
import type { ConfiguredProvider } from './providers.ts';
import { withWatchdog, type LivenessLimits } from './watchdog.ts';

/** `[liveness]`, in milliseconds. */
export interface ConnectLimits extends LivenessLimits {
  /** The first-token limit of a private address: local models load for minutes. */
  readonly privateFirstTokenMs: number;
}

export interface ConnectDeps extends AdapterDeps {
  readonly providers: readonly ConfiguredProvider[];
  readonly limits: ConnectLimits;
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
export function createModelPort(deps: ConnectDeps): ConnectedModels {
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

async function open(name: string, deps: ConnectDeps): Promise<ModelPort> {
  const other = deps.others?.[name];
  if (other !== undefined) return other();
  const provider = deps.providers.find((one) => one.name === name);
  if (provider === undefined) throw new Error('no such provider is configured');
  const { createAdapter, dialect } = await loadProtocol(provider.protocol);
  const { limits } = deps;
  const firstTokenMs = provider.isPrivate ? limits.privateFirstTokenMs : limits.firstTokenMs;
  const limiter = limiterOf(provider, deps.admission, deps);
  const watched = { clock: deps.clock, deadlines: deps.deadlines, limiter };
  return withWatchdog(createAdapter(dialect, provider, deps), { ...limits, firstTokenMs }, watched);
}

interface ProtocolModule {
  readonly dialect: Dialect;
  readonly createAdapter: typeof createAdapter;
}

/** Only the package of the provider in use is ever loaded, in one file with what it shares. */
async function loadProtocol(protocol: Protocol): Promise<ProtocolModule> {
  switch (protocol) {
    case 'anthropic':
      return await import('./adapters/anthropic.ts');
    case 'openai-responses':
      return await import('./adapters/openai-responses.ts');
    case 'openai-chat':
      return await import('./adapters/openai-chat.ts');
    case 'google':
      return await import('./adapters/google.ts');
    default:
      return unreachable(protocol);
  }
}

function unavailable(provider: string, thrown: unknown): ModelPart {
  const message = `${provider}: ${errorMessage(thrown)}`;
  return { type: 'failed', failure: { kind: 'not_found', message, retryable: false } };
}
