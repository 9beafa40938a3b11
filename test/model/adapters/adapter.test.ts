import { describe, expect, test } from 'vitest';
import { createAdapter, type WireModelPort } from '../../../src/model/adapters/adapter.ts';
import { userMessage, type Message } from '../../../src/protocol/message.ts';
import type { ModelPart, ModelRequest } from '../../../src/protocol/model.ts';
import {
  adapterDeps,
  answerWith,
  collect,
  failed,
  finished,
  request,
  serve,
  sse,
  withoutPings,
  type Respond,
  type TestServer,
} from './support.ts';
import { WIRES, type Wire } from './wires.ts';

const KEY = 'key-1234567890';

function port(wire: Wire, server: TestServer): WireModelPort {
  return createAdapter(
    wire.dialect,
    { name: 'test', baseUrl: server.url, apiKey: KEY },
    adapterDeps(),
  );
}

function ask(wire: Wire, messages: readonly Message[] = [userMessage('Hi')]): ModelRequest {
  return request(messages, { model: { provider: 'test', id: wire.model, chain: [] } });
}

/** The body in pieces of one byte, each its own chunk on the wire. */
function byteByByte(events: readonly unknown[]): Respond {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.socket?.setNoDelay(true);
    for (const byte of Buffer.from(sse(events))) {
      response.write(Buffer.of(byte));
      // oxlint-disable-next-line no-await-in-loop -- each byte its own write
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  };
}

describe.each(WIRES)('$name', (wire) => {
  test('an observer gets the same parts, except for pings that it has seen', async () => {
    await using server = await serve(answerWith(wire.call('{"path":"a.ts"}')));
    const all = await collect(port(wire, server), ask(wire));
    const watched: ModelPart[] = [];
    let grew = 0;
    const observer = { argumentsGrew: () => void (grew += 1) };
    const stream = port(wire, server).stream(ask(wire), new AbortController().signal, observer);
    for await (const part of stream) watched.push(part);
    // Google's calls come in one event.
    expect(grew > 0).toBe(wire.name !== 'google');
    expect(watched).toEqual(all.filter((part) => part.type !== 'ping'));
  });

  test('the visible progress is given to the observer that takes it, in the order of the parts', async () => {
    await using server = await serve(answerWith(wire.answer));
    const all = await collect(port(wire, server), ask(wire));
    const seen: ModelPart[] = [];
    const observer = { progressed: (part: ModelPart) => void seen.push(part) };
    const stream = port(wire, server).stream(ask(wire), new AbortController().signal, observer);
    const parts: ModelPart[] = [];
    for await (const part of stream) {
      parts.push(part);
      seen.push(part);
    }
    expect(seen).toEqual(all.filter((part) => part.type !== 'ping'));
    expect(parts.map(({ type }) => type)).toEqual(['accepted', 'finished']);
  });

  test('reads an answer with reasoning, text and parallel calls', async () => {
    await using server = await serve(answerWith(wire.answer));
    const parts = withoutPings(await collect(port(wire, server), ask(wire)));
    const end = finished(parts);
    expect(end).toEqual({
      type: 'finished',
      message: wire.message,
      usage: wire.usage,
      reason: 'tool_calls',
      ...(end.servedBy === undefined
        ? {}
        : { servedBy: expect.stringMatching(/^(claude|gpt|qwen|gemini)/) }),
    });
    expect(parts[0]).toEqual({ type: 'accepted' });
    const streamed = parts.flatMap((part) => (part.type === 'text_delta' ? [part.text] : []));
    expect(streamed.join('')).toBe('Grüße, 世界 🌍!');
    expect(parts.filter((part) => part.type === 'tool_call_started')).toEqual(
      wire.message.content.flatMap((part) =>
        part.type === 'tool_call' ? [{ type: 'tool_call_started', id: part.id, name: 'Read' }] : [],
      ),
    );
  });

  test('reads the same answer split at every byte', async () => {
    await using server = await serve(byteByByte(wire.answer));
    const parts = await collect(port(wire, server), ask(wire));
    expect(finished(parts).message).toEqual(wire.message);
    expect(parts.filter((part) => part.type === 'accepted')).toHaveLength(1);
    expect(parts[0]).toEqual({ type: 'accepted' });
  });

  test('the response is accepted with the first byte of the body, not with the headers', async () => {
    let release = (): void => {};
    const firstByte = new Promise<void>((resolve) => (release = resolve));
    await using server = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      await firstByte;
      response.write(':');
    });
    const controller = new AbortController();
    const stream = port(wire, server).stream(ask(wire), controller.signal)[Symbol.asyncIterator]();
    const first = stream.next();
    let seen = false;
    const noted = first.then(() => (seen = true));
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(seen).toBe(false);
    release();
    await noted;
    expect((await first).value).toEqual({ type: 'accepted' });
    controller.abort();
    expect((await stream.next()).value).toMatchObject({ failure: { kind: 'cancelled' } });
  });

  test('the metadata of parts is sent back unchanged, and the prefix stays the same', async () => {
    await using server = await serve(answerWith(wire.answer));
    const first = ask(wire);
    const answer = finished(await collect(port(wire, server), first)).message;
    const second = ask(wire, [...first.messages, answer, results(answer)]);
    await collect(port(wire, server), second);
    const [one, two] = server.requests.map(({ body }) => withoutMarkers(JSON.parse(body)));
    expectAppended(one, two);
    for (const secret of SECRETS[wire.name] ?? []) {
      expect(server.requests[1]?.body).toContain(secret);
    }
  });

  test('arguments that are not JSON are kept unchanged, or fail as malformed', async () => {
    await using server = await serve(answerWith(wire.call('{"path": "a')));
    const last = (await collect(port(wire, server), ask(wire))).at(-1);
    if (wire.name === 'google') {
      expect(last).toMatchObject({ failure: { kind: 'malformed', retryable: true } });
      return;
    }
    expect(last).toMatchObject({
      reason: 'tool_calls',
      message: {
        content: [
          { type: 'tool_call', name: 'Read', input: '{"path": "a', malformed: '{"path": "a' },
        ],
      },
    });
  });

  test('a call id that is already in the history gets a suffix', async () => {
    await using server = await serve(answerWith(wire.answer));
    const history = [userMessage('Hi'), wire.message, results(wire.message)];
    const { message } = finished(await collect(port(wire, server), ask(wire, history)));
    const ids = message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
    const before = wire.message.content.flatMap((part) =>
      part.type === 'tool_call' ? [part.id] : [],
    );
    expect(ids).toEqual(before.map((id) => `${id}_2`));
  });

  test('an error inside the stream is a failure after the parts before it', async () => {
    await using server = await serve(answerWith(wire.errorInside));
    const parts = await collect(port(wire, server), ask(wire));
    expect(parts[0]).toEqual({ type: 'accepted' });
    expect(failed(parts)).toMatchObject({ kind: 'overloaded', retryable: true });
    expect(failed(parts).message).toMatch(/^test\/.*: .*Overloaded$/);
  });

  test('an answer without its final event is incomplete if the protocol has one', async () => {
    await using server = await serve(answerWith(wire.cutOff));
    const parts = await collect(port(wire, server), ask(wire));
    if (wire.hasEndEvent) {
      expect(failed(parts)).toMatchObject({ kind: 'connect', retryable: true });
      return;
    }
    const { message, reason, repairs } = finished(parts);
    expect({ message, reason }).toEqual({
      message: { role: 'assistant', content: [{ type: 'text', text: 'Grüße, 世界 🌍!' }] },
      reason: 'stop',
    });
    expect(repairs).toMatchObject({ missing_finish_reason: 1 });
  });

  test('a connection that breaks in the middle is a connect failure', async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(wire.cutOff.slice(0, -1)), () => response.socket?.destroy());
    });
    const failure = failed(await collect(port(wire, server), ask(wire)));
    expect(failure).toMatchObject({ kind: 'connect', retryable: true });
  });

  test('an event that is not JSON is malformed', async () => {
    await using server = await serve(answerWith(['data: {"type": \n\n']));
    const failure = failed(await collect(port(wire, server), ask(wire)));
    expect(failure).toMatchObject({ kind: 'malformed', retryable: true });
  });

  test('an abort in the middle ends the answer as cancelled, and ends the request', async () => {
    let closed = (): void => {};
    const ended = new Promise<void>((resolve) => (closed = resolve));
    await using server = await serve((response) => {
      response.on('close', closed);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(wire.answer.slice(0, -4)));
    });
    const controller = new AbortController();
    const parts = [];
    for await (const part of port(wire, server).stream(ask(wire), controller.signal)) {
      parts.push(part);
      if (part.type === 'reasoning_delta') controller.abort();
    }
    await ended;
    expect(failed(parts)).toEqual({
      kind: 'cancelled',
      message: `test/${wire.model}: stopped`,
      retryable: false,
    });
  });

  test('a consumer that stops early ends the request', async () => {
    let closed = (): void => {};
    const ended = new Promise<void>((resolve) => (closed = resolve));
    await using server = await serve((response) => {
      response.on('close', closed);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse(wire.answer.slice(0, -4)));
    });
    for await (const part of port(wire, server).stream(ask(wire), new AbortController().signal)) {
      if (part.type === 'reasoning_delta') break;
    }
    await ended;
  });

  test('an aborted signal sends nothing', async () => {
    await using server = await serve(answerWith(wire.answer));
    const parts = await collect(port(wire, server), ask(wire), AbortSignal.abort());
    expect(failed(parts).kind).toBe('cancelled');
    expect(server.requests).toEqual([]);
  });

  test('the turns use one connection', async () => {
    await using server = await serve(answerWith(wire.answer));
    const model = port(wire, server);
    for (let turn = 0; turn < 3; turn += 1) {
      finished(await collect(model, ask(wire)));
      // The end of the body comes after the end of the answer.
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    expect(server.connections()).toBe(1);
  });

  test('sends its user agent, and keeps its key from other servers and out of messages', async () => {
    await using server = await serve((response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { type: 'auth', message: `bad\nkey ${KEY}\u001b[2J` } }),
      );
    });
    const failure = failed(await collect(port(wire, server), ask(wire)));
    expect(failure).toEqual({
      kind: 'auth',
      message: `test/${wire.model}: HTTP 401: bad key [key] [2J (sent to ${server.url} with a key)`,
      retryable: false,
      status: 401,
    });
    const { headers, url, method } = server.requests[0]!;
    expect({ method, url, agent: headers['user-agent'], beta: headers['anthropic-beta'] }).toEqual({
      method: 'POST',
      url: wire.path,
      agent: 'muster/1.2.3',
      beta: undefined,
    });
    expect(Object.values(headers).filter((value) => String(value).includes(KEY))).toHaveLength(1);
  });

  test('sends no key header without a key', async () => {
    await using server = await serve(answerWith(wire.answer));
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: null };
    finished(await collect(createAdapter(wire.dialect, endpoint, adapterDeps()), ask(wire)));
    expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain('authorization');
    expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain('x-api-key');
    expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain('x-goog-api-key');
  });
});

const SECRETS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['"signature":"c2lnbmF0dXJl"'],
  'openai-responses': ['"encrypted_content":"ZW5jcnlwdGVk"', '"id":"rs_1"'],
  'openai-chat': ['"reasoning_content":"Let me see."'],
  google: ['"thoughtSignature":"dGhvdWdodA=="', '"thoughtSignature":"Y2FsbA=="'],
};

function results(message: Wire['message']): Message {
  return {
    role: 'tool',
    content: message.content.flatMap((part) =>
      part.type === 'tool_call'
        ? [
            {
              type: 'tool_result' as const,
              callId: part.id,
              name: part.name,
              text: 'text',
              isError: false,
            },
          ]
        : [],
    ),
  };
}

function withoutMarkers(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner)),
  );
}

/** All fields the same, but that the conversation of the second begins with that of the first. */
function expectAppended(one: unknown, two: unknown): void {
  const first = Object.entries(one as object);
  const second = new Map(Object.entries(two as object));
  expect(first.map(([key]) => key)).toEqual([...second.keys()]);
  for (const [key, value] of first) {
    const later: unknown = second.get(key);
    if (['messages', 'input', 'contents'].includes(key)) {
      expect((later as unknown[]).slice(0, (value as unknown[]).length)).toEqual(value);
      expect((later as unknown[]).length).toBeGreaterThan((value as unknown[]).length);
    } else {
      expect(later).toEqual(value);
    }
  }
}
