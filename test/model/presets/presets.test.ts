import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { PRESET_NAMES, type PresetName } from '../../../src/model/settings/presets.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import { EFFORTS, type FailureKind, type ModelFailure } from '../../../src/protocol/model.ts';
import { collect, failed, finished } from '../adapters/support.ts';
import { WIRES } from './all.ts';
import { ask, askWithoutEffort, connect, expectedEnd, type Reply } from './connect.ts';
import {
  conversationAfter,
  conversationOfAnotherModel,
  type ErrorExample,
  type PartRefusal,
  type ProviderWire,
} from './wire.ts';

const wires = PRESET_NAMES.map((name) => [name, WIRES[name]] as const);

/** The headers that are the same for all providers. */
const COMMON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'muster/1.2.3' };

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
  const { key: keyVariable, env = {}, settings } = wire;
  const base = {
    env,
    ...(keyVariable === undefined ? {} : { key: keyVariable }),
    ...(settings === undefined ? {} : { settings: { [name]: settings } }),
  };
  const always = refusals.filter(({ isOnlyOnSomeModels }) => isOnlyOnSomeModels !== true);

  test('a conversation with parallel calls, their results and thoughts', async () => {
    const reply = (body: JsonObject, index: number): Reply =>
      refusalOf(always, body) ?? { body: turns[index]?.answer.body ?? '' };
    await using server = await connect({ ...base, reply });
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
    await using server = await connect({ ...base, reply });
    const asked = ask(name, wire, [...conversationOfAnotherModel(), userMessage('And c.ts?')]);
    finished(await collect(server.port, asked));
    expect(server.sent.length).toBe(1);
  });

  test.each(Object.entries(wire.recordings))('a recording: %s', async (_name, answer) => {
    await using server = await connect({ ...base, reply: () => ({ body: answer.body }) });
    const end = finished(await collect(server.port, ask(name, wire)));
    expect(end).toEqual(expectedEnd(answer));
  });

  test.each(Object.entries(wire.efforts))('the efforts of %s', async (model, expected) => {
    await using server = await connect({ ...base, reply: () => ({ body: first.answer.body }) });
    for (const effort of EFFORTS) {
      finished(await collect(server.port, ask(name, { model }, undefined, { effort })));
    }
    finished(await collect(server.port, askWithoutEffort(name, { model })));
    const bodies = server.sent.map(({ body }) => body);
    const without = bodies.at(-1) ?? {};
    expect(bodies.slice(0, -1).map((body) => findAddedFields(body, without))).toEqual(expected);
  });

  test('an effort that is refused is left out from then on', async () => {
    const plain = new Set<string>();
    const reply = (body: JsonObject): Reply => {
      const fields = Object.keys(findEffort(body));
      if (fields.length === 0) plain.add(JSON.stringify(body));
      const refusal = { error: { message: `unsupported value of ${fields.join(' and ')}` } };
      return fields.length > 0
        ? { status: 400, body: JSON.stringify(refusal) }
        : { body: second.answer.body };
    };
    await using server = await connect({ ...base, reply });
    finished(await collect(server.port, ask(name, wire)));
    const needed = server.sent.length;
    expect(needed).toBeGreaterThan(1);
    expect(needed).toBeLessThanOrEqual(3);
    finished(await collect(server.port, ask(name, wire)));
    expect(server.sent.length).toBe(needed + 1);
    expect(plain.size).toBe(1);
  });

  test.each(wire.errors)('an error: $name', async (example) => {
    const { status = 200, headers = {}, body } = example;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    await using server = await connect({ ...base, reply: () => ({ status, headers, body: text }) });
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
    await using server = await connect({ ...base, settings: gateway, reply });
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

/** Returns the fields of a body that request an effort, in the form of any vendor. */
function findEffort(body: JsonObject): JsonObject {
  const names = ['reasoning_effort', 'reasoning', 'output_config', 'enable_thinking'];
  const fields = names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]));
  const { thinking, generationConfig: config } = body;
  const isKept = isJsonObject(thinking) && thinking['clear_thinking'] === false;
  return {
    ...Object.fromEntries(fields),
    ...(thinking === undefined || isKept ? {} : { thinking }),
    ...(isJsonObject(config) && config['thinkingConfig'] !== undefined ? { config } : {}),
  };
}

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
