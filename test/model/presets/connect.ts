import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { createModelPort } from '../../../src/model/model-port.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { userMessage, type Message } from '../../../src/protocol/message.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import type { HttpFetch } from '../../../src/sys/http/http-types.ts';
import { adapterDeps, request, serve } from '../adapters/support.ts';
import { EFFORT, OUTPUT_LIMIT, QUESTION, type Answer, type ProviderWire } from './wire.ts';

const LIMITS = {
  connectMs: 20_000,
  firstTokenMs: 20_000,
  privateFirstTokenMs: 20_000,
  streamIdleMs: 20_000,
};

/** A response of the fake server. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

interface SentRequest {
  readonly method: string | undefined;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

let keys = 0;

/** Returns the environment of a provider with a key that no other test has, so that no rate limit is shared. */
function createEnvironment({ key, env = {} }: Pick<ProviderWire, 'key' | 'env'>) {
  keys += 1;
  const value = key === undefined ? undefined : `${key.prefix}${keys}-test-0123456789`;
  return { value, env: key === undefined ? env : { ...env, [key.variable]: value } };
}

/** The variables and settings of the test, and the replies of the server. */
interface Connection extends Pick<ProviderWire, 'key' | 'env'> {
  readonly settings?: Readonly<Record<string, ProviderSettings>>;
  reply(body: JsonObject, index: number): Reply;
}

/** Connects to a server on loopback that replies to each request in turn, and lists what is sent to the vendor. */
export async function connect({ settings = {}, reply, ...variables }: Connection) {
  const server = await serve((response, seen, index) => {
    const { status = 200, headers = {}, body } = reply(JSON.parse(seen.body), index);
    const type = status === 200 ? 'text/event-stream' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  });
  const sent: SentRequest[] = [];
  const deps = adapterDeps();
  // Only the host is replaced, and only here: all else is as it would be sent to the vendor.
  const fetch: HttpFetch = (url, asked, observer) => {
    const { pathname, search } = new URL(url);
    const body: unknown = JSON.parse(String(asked?.body));
    sent.push({
      method: asked?.method,
      url: String(url),
      headers: asked?.headers ?? {},
      body: isJsonObject(body) ? body : {},
    });
    return deps.fetch(`${server.url}${pathname}${search}`, asked, observer);
  };
  const { value, env } = createEnvironment(variables);
  const port = createModelPort({
    ...deps,
    fetch,
    providers: discoverProviders({ providers: settings }, env),
    limits: LIMITS,
    admission: { maxConcurrent: 64, requestsPerMinute: 0 },
  });
  return {
    port,
    sent,
    key: value,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export function ask(
  provider: string,
  { model }: Pick<ProviderWire, 'model'>,
  messages: readonly Message[] = [userMessage(QUESTION)],
  overrides: Partial<ModelRequest> = {},
): ModelRequest {
  const resolved = { provider, id: model, chain: [] };
  return request(messages, {
    model: resolved,
    maxOutputTokens: OUTPUT_LIMIT,
    effort: EFFORT,
    ...overrides,
  });
}

/** The same request without an effort. */
export function askWithoutEffort(
  provider: string,
  wire: Pick<ProviderWire, 'model'>,
): ModelRequest {
  const { effort: _effort, ...asked } = ask(provider, wire);
  return asked;
}

/** The last part of a successful answer. */
export function expectedEnd({ content, usage, usageMissing, reason, servedBy, repairs }: Answer) {
  return {
    type: 'finished',
    message: { role: 'assistant', content },
    usage,
    reason,
    ...(usageMissing === undefined ? {} : { usageMissing }),
    ...(servedBy === undefined ? {} : { servedBy }),
    ...(repairs === undefined ? {} : { repairs }),
  };
}
