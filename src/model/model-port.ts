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
import { routeModel } from './providers/cloud-route.ts';
import type { ConfiguredProvider } from './providers/configured-provider.ts';
import type { CloudKind } from './settings/clouds.ts';
import { withWatchdog, type LivenessLimits } from './watchdog.ts';

/** The limits of `[liveness]`, in milliseconds. */
export interface ModelPortLimits extends LivenessLimits {
  /** The first-token limit for servers at private addresses, whose models may take minutes to load. */
  readonly privateFirstTokenMs: number;
}

type ModelId = Pick<ResolvedModel, 'provider' | 'id'>;

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
  /** Starts to load the modules for the first request to a model. An unknown provider has no effect. */
  preload(model: ModelId): void;
  /** Returns the peculiarities of a model's server that its refusals have taught; null: nothing was sent to it. */
  learned(model: ModelId): LearnedSettings | null;
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
  const servers = new Map(deps.providers.map((provider) => [provider.name, provider]));
  /** Returns the key of the port to a model: all models of a provider share one, unless it is a cloud. */
  const keyOf = ({ provider, id }: ModelId): string => {
    const server = servers.get(provider);
    if (server?.cloud === undefined) return provider;
    const { baseUrl, protocol } = routeModel(server, id);
    return `${provider} ${protocol} ${baseUrl}`;
  };
  const load = (model: ModelId): Promise<OpenedPort> => {
    const name = keyOf(model);
    const known = loading.get(name);
    if (known !== undefined) return known;
    const opening = openPort(model, deps).then((port) => {
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
      port = await load(request.model);
    } catch (thrown) {
      yield createUnavailableFailure(request.model.provider, thrown);
      return;
    }
    yield* port.stream(request, signal, listener);
  }
  return {
    // A loaded port is called directly, because every generator in between costs time for each part of an answer.
    stream: (request, signal, listener) =>
      loaded.get(keyOf(request.model))?.stream(request, signal, listener) ??
      streamOnceLoaded(request, signal, listener),
    preload(model) {
      // The error is ignored, because the first request fails with the same error and reports it.
      load(model).catch(() => {});
    },
    learned: (model) => loaded.get(keyOf(model))?.learned?.(model.id) ?? null,
  };
}

async function openPort(model: ModelId, deps: ModelPortDeps): Promise<OpenedPort> {
  const { provider: name, id } = model;
  const loadLocalPort = deps.localPorts?.[name];
  if (loadLocalPort !== undefined) return loadLocalPort();
  const configured = deps.providers.find((each) => each.name === name);
  if (configured === undefined) throw new Error('no such provider is configured');
  const provider = routeModel(configured, id);
  const [{ createAdapter }, protocol] = await Promise.all([
    import('./adapters/adapter.ts'),
    loadProtocol(provider),
  ]);
  const { limits } = deps;
  const firstTokenMs = provider.isPrivate ? limits.privateFirstTokenMs : limits.firstTokenMs;
  const limiter = findSharedLimiter(provider, deps.admission, deps);
  const watchdogDeps = { clock: deps.clock, deadlines: deps.deadlines, limiter };
  const adapter = createAdapter(protocol, provider, deps);
  const port = withWatchdog(adapter, { ...limits, firstTokenMs }, watchdogDeps);
  return { stream: port.stream, learned: adapter.learned };
}

/** Loads the protocol of a provider: on a cloud, in the form that the cloud gives it. */
function loadProtocol({ protocol, cloud }: ConfiguredProvider): Promise<ProtocolAdapter> {
  const ofCloud = cloud === undefined ? undefined : CLOUD_PROTOCOLS[cloud.kind]?.[protocol];
  return (ofCloud ?? PROTOCOLS[protocol])();
}

type ProtocolLoaders = Readonly<Partial<Record<ProtocolName, () => Promise<ProtocolAdapter>>>>;

/** The functions that load the protocols which differ on a cloud from those of the vendors' own servers. */
const CLOUD_PROTOCOLS: Readonly<Partial<Record<CloudKind, ProtocolLoaders>>> = {
  bedrock: {
    anthropic: async () =>
      (await import('./adapters/bedrock/bedrock-anthropic.ts')).bedrockAnthropicProtocol,
  },
  vertex: {
    anthropic: async () =>
      (await import('./adapters/vertex/vertex-anthropic.ts')).vertexAnthropicProtocol,
    google: async () => (await import('./adapters/vertex/vertex-google.ts')).vertexGoogleProtocol,
  },
};

/** The functions that load the protocols. Each protocol is loaded only when it is used, because its provider package is large. */
const PROTOCOLS: Readonly<Record<ProtocolName, () => Promise<ProtocolAdapter>>> = {
  anthropic: async () =>
    (await import('./adapters/anthropic/anthropic-protocol.ts')).anthropicProtocol,
  'openai-responses': async () =>
    (await import('./adapters/openai-responses/responses-protocol.ts')).responsesProtocol,
  'openai-chat': async () => (await import('./adapters/openai-chat/chat-protocol.ts')).chatProtocol,
  google: async () => (await import('./adapters/google/google-protocol.ts')).googleProtocol,
  'bedrock-converse': async () =>
    (await import('./adapters/bedrock/converse-protocol.ts')).converseProtocol,
};

function createUnavailableFailure(provider: string, thrown: unknown): ModelPart {
  const message = `${provider}: ${errorMessage(thrown)}`;
  return { type: 'failed', failure: { kind: 'not_found', message, retryable: false } };
}
