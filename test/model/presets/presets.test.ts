import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { createModelPort } from '../../../src/model/model-port.ts';
import { discoverProviders } from '../../../src/model/providers/providers.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { PRESET_NAMES, type PresetName } from '../../../src/model/settings/presets.ts';
import { userMessage, type Message } from '../../../src/protocol/message.ts';
import {
  EFFORTS,
  type FailureKind,
  type ModelFailure,
  type ModelRequest,
} from '../../../src/protocol/model.ts';
import type { HttpFetch } from '../../../src/sys/http/http-types.ts';
import { adapterDeps, collect, failed, finished, request, serve } from '../adapters/support.ts';
import { WIRES } from './all.ts';
import {
  conversationAfter,
  conversationOfAnotherModel,
  type ErrorExample,
  EFFORT,
  OUTPUT_LIMIT,
  QUESTION,
  type Answer,
  type PartRefusal,
  type ProviderWire,
} from './wire.ts';

const wires = PRESET_NAMES.map((name) => [name, WIRES[name]] as const);

const LIMITS = {
  connectMs: 20_000,
  firstTokenMs: 20_000,
  privateFirstTokenMs: 20_000,
  streamIdleMs: 20_000,
};

/** A response of the fake server. */
interface Reply {
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

/** The headers that are the same for all providers. */
const COMMON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'muster/1.2.3' };

let keys = 0;

/** Returns the environment of a provider with a key that no other test has, so that no rate limit is shared. */
function createEnvironment({ key, env = {} }: ProviderWire) {
  keys += 1;
  const value = key === undefined ? undefined : `${key.prefix}${keys}-test-0123456789`;
  return { value, env: key === undefined ? env : { ...env, [key.variable]: value } };
}

/** Connects to a server on loopback that replies to each request in turn, and lists what is sent to the vendor. */
async function connect(
  name: string,
  wire: ProviderWire,
  reply: (body: JsonObject, index: number) => Reply,
  settings: Readonly<Record<string, ProviderSettings>> = wire.settings === undefined
    ? {}
    : { [name]: wire.settings },
) {
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
  const { value, env } = createEnvironment(wire);
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

function ask(
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
function askWithoutEffort(provider: string, wire: Pick<ProviderWire, 'model'>): ModelRequest {
  const { effort: _effort, ...asked } = ask(provider, wire);
  return asked;
}

/** The last part of a successful answer. */
function expectedEnd({ content, usage, usageMissing, reason, servedBy, repairs }: Answer) {
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

/** The failure that an error becomes: its words, and where a person has to look. */
function expectedFailure(name: string, wire: ProviderWire, example: ErrorExample): ModelFailure {
  const { status, kind, isTransient = false, statusInside, retryAfterMs } = example;
  const isAboutAccount = kind === 'auth' || (kind === 'rate_limit' && !isTransient);
  const keyHint = wire.key === undefined ? 'without a key' : `with the key in ${wire.key.variable}`;
  const base = wire.url.replace(/\/(?:chat\/completions|responses|messages|models\/.*)$/, '');
  const address = wire.url.replace(/\?.*$/, '');
  const hints = [
    ...(status !== undefined && isAboutAccount ? [` (sent to ${base} ${keyHint})`] : []),
    ...(status !== undefined && kind === 'not_found' ? [` (sent to ${address})`] : []),
  ];
  const code = status ?? statusInside;
  const says = `${example.says ?? messageOf(example.body)}${hints.join('')}`;
  return {
    kind,
    message: `${name}/${wire.model}: ${code === undefined ? '' : `HTTP ${code}: `}${says}`,
    retryable: isTransient,
    ...(code === undefined ? {} : { status: code }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function messageOf(body: unknown): string {
  const { error, message, detail } = body as Record<string, unknown>;
  if (isJsonObject(error)) return String(error['message']);
  return String(message ?? error ?? detail);
}

function refusalOf(refusals: readonly PartRefusal[], body: JsonObject): Reply | null {
  const refusal = refusals.find(({ isRefused }) => isRefused(body));
  if (refusal === undefined) return null;
  return { status: refusal.status, body: JSON.stringify(refusal.body) };
}

function withKey(headers: Readonly<Record<string, string>>, key: string | undefined) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', key ?? '')]),
  );
}

describe.each(wires)('%s', (name: PresetName, wire) => {
  const { turns, refusals } = wire;
  const [first, second] = turns;
  const always = refusals.filter(({ isOnlyOnSomeModels }) => isOnlyOnSomeModels !== true);

  test('a conversation with parallel calls, their results and thoughts', async () => {
    await using server = await connect(name, wire, (body, index) => {
      return refusalOf(always, body) ?? { body: turns[index]?.answer.body ?? '' };
    });
    const { port, sent, key } = server;
    const calls = finished(await collect(port, ask(name, wire)));
    expect(calls).toEqual(expectedEnd(first.answer));
    const history = conversationAfter(`${name}/${wire.model}`, first.answer);
    const end = finished(await collect(port, ask(name, wire, history)));
    expect(end).toEqual(expectedEnd(second.answer));
    const headers = { ...COMMON_HEADERS, ...withKey(wire.headers, key) };
    expect(sent).toEqual(
      turns.map(({ body }) => ({ method: 'POST', url: wire.url, headers, body })),
    );
  });

  test('a conversation that another model has begun is not refused', async () => {
    const reply = (body: JsonObject): Reply =>
      refusalOf(always, body) ?? { body: second.answer.body };
    await using server = await connect(name, wire, reply);
    const asked = ask(name, wire, [...conversationOfAnotherModel(), userMessage('And c.ts?')]);
    finished(await collect(server.port, asked));
    expect(server.sent.length).toBe(1);
  });

  test.each(Object.entries(wire.recordings))('a recording: %s', async (_name, answer) => {
    await using server = await connect(name, wire, () => ({ body: answer.body }));
    const end = finished(await collect(server.port, ask(name, wire)));
    expect(end).toEqual(expectedEnd(answer));
  });

  test.each(Object.entries(wire.efforts))('the efforts of %s', async (model, expected) => {
    await using server = await connect(name, wire, () => ({ body: first.answer.body }));
    for (const effort of EFFORTS) {
      finished(await collect(server.port, ask(name, { model }, undefined, { effort })));
    }
    finished(await collect(server.port, askWithoutEffort(name, { model })));
    const bodies = server.sent.map(({ body }) => body);
    const without = bodies.at(-1) ?? {};
    expect(bodies.slice(0, -1).map((body) => findAddedFields(body, without))).toEqual(expected);
  });

  test.each(wire.errors)('an error: $name', async (example) => {
    const { status = 200, headers = {}, body } = example;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    await using server = await connect(name, wire, () => ({ status, headers, body: text }));
    const parts = await collect(server.port, askWithoutEffort(name, wire));
    expect(failed(parts)).toEqual(expectedFailure(name, wire, example));
    const last = parts.at(-1);
    expect(last?.type === 'failed' ? last.usage : null).toEqual(example.usage);
    expect(server.sent.length).toBe(1);
  });

  const learnt = refusals.filter(({ isUnclear, isNotSent }) => (isUnclear ?? isNotSent) !== true);
  test.each(learnt)('a gateway to it that refuses: $name', async (refusal) => {
    const gateway = { gateway: { baseUrl: 'https://gateway.example/v1' } };
    const answer = { body: second.answer.body };
    const reply = (body: JsonObject): Reply => refusalOf([refusal], body) ?? answer;
    await using server = await connect('gateway', wire, reply, gateway);
    const { isOfAnotherModel = false, model = wire.model, ...overrides } = refusal.by ?? {};
    const history = isOfAnotherModel
      ? conversationOfAnotherModel()
      : conversationAfter(`gateway/${model}`, first.answer);
    finished(await collect(server.port, ask('gateway', { model }, history, overrides)));
    const refused = server.sent.map(({ body }) => refusal.isRefused(body));
    expect(refused).toEqual([...refused.slice(0, -1).fill(true), false]);
    expect(refused.length).toBeGreaterThan(1);
  });
});

/** Returns the fields of a body that another one has not, or has with another value. */
function findAddedFields(body: JsonObject, other: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(other[name]),
    ),
  );
}

test.each(wires)('%s: the errors that every vendor has are covered', (_name, { key, errors }) => {
  const kinds = new Set(errors.map(({ kind }) => kind));
  const needed = key === undefined ? [] : ['auth'];
  expect([...needed, 'not_found'].filter((kind) => !kinds.has(kind as FailureKind))).toEqual([]);
});
