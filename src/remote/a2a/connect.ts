import type { AgentCard } from '@a2a-js/sdk';
import {
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';
import type { WebFetch } from '../../sys/http/web-fetch.ts';
import { showUrl, type A2aEndpoint } from './agent-card.ts';
import { A2aError } from './failure.ts';

/** A connection for one request, which remembers how the server answered last. */
export interface A2aConnection {
  readonly client: Client;
  /** True if the server sends updates as a stream. Otherwise it has to be asked for them. */
  readonly isStreaming: boolean;
  /** The HTTP status of the last response; null if there was none. */
  status(): number | null;
}

/** Creates the client for one request. `fetch` adds the credentials. */
export async function openConnection(
  endpoint: A2aEndpoint,
  fetch: WebFetch,
): Promise<A2aConnection> {
  let status: number | null = null;
  const fetchImpl: typeof globalThis.fetch = async (input, init) => {
    status = null;
    const response = await fetch(new URL(input instanceof Request ? input.url : input), init);
    ({ status } = response);
    return response;
  };
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  // `polling` asks servers without a stream to answer at once, so that progress can be shown.
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    clientConfig: { polling: true },
  });
  const client = await factory.createFromAgentCard(toCard(endpoint));
  return { client, isStreaming: endpoint.isStreaming, status: () => status };
}

/** Creates a card with nothing but the endpoint, since everything else that a server says is not used. */
function toCard({ url, binding, version, tenant, isStreaming }: A2aEndpoint): AgentCard {
  const { href } = url;
  return {
    name: '',
    description: '',
    version: '',
    provider: undefined,
    supportedInterfaces: [
      { url: href, protocolBinding: binding, protocolVersion: version, tenant },
    ],
    capabilities: { streaming: isStreaming, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
  };
}

/**
 * Returns a `fetch` that sends headers in addition, to one origin only. A redirect is an error, because following it would
 * send the work and the credentials elsewhere.
 */
export function createGuardedFetch(
  fetch: WebFetch,
  { origin }: URL,
  readHeaders: () => Promise<Readonly<Record<string, string>>>,
): WebFetch {
  return async (address, init = {}) => {
    const url = new URL(address);
    if (url.origin !== origin)
      throw new A2aError('bad_request', `a request to ${url.origin} was not sent`);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(await readHeaders())) headers.set(name, value);
    const response = await fetch(url, { ...init, headers });
    const target = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || target === null) return response;
    await response.body?.cancel();
    const redirect = URL.parse(target, url.href);
    const shown = redirect === null ? '' : ` to ${showUrl(redirect)}`;
    const message = `${showUrl(url)} redirects${shown}, which is not followed; write the address itself`;
    throw new A2aError('bad_request', message);
  };
}
