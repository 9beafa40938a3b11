import { describe, expect, test } from 'vitest';
import { createAdapter } from '../../src/model/adapters/adapter.ts';
import { retryAfter } from '../../src/model/adapters/retry-after.ts';
import { serverSays } from '../../src/model/adapters/server-says.ts';
import { userMessage } from '../../src/protocol/message.ts';
import type { ModelFailure } from '../../src/protocol/model.ts';
import { adapterDeps, collect, failed, refuseWith, request, serve } from './support.ts';
import { WIRES, type Wire } from './wires.ts';

interface Refusal {
  readonly what: string;
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly expected: Omit<ModelFailure, 'message'>;
}

const said = { error: { type: 'some_error', message: 'said so' } };
const failure = (
  kind: ModelFailure['kind'],
  status: number,
  retryable: boolean,
): Refusal['expected'] => ({ kind, status, retryable });

const REFUSALS: readonly Refusal[] = [
  { what: 'wrong key', status: 401, body: said, expected: failure('auth', 401, false) },
  { what: 'no money', status: 402, body: said, expected: failure('auth', 402, false) },
  { what: 'forbidden', status: 403, body: said, expected: failure('auth', 403, false) },
  { what: 'no such model', status: 404, body: said, expected: failure('not_found', 404, false) },
  { what: 'time-out', status: 408, body: said, expected: failure('server', 408, true) },
  { what: 'too large', status: 413, body: said, expected: failure('context_overflow', 413, false) },
  { what: 'bad request', status: 400, body: said, expected: failure('bad_request', 400, false) },
  {
    what: 'rate limit with seconds',
    status: 429,
    body: said,
    headers: { 'retry-after': '7' },
    expected: { ...failure('rate_limit', 429, true), retryAfterMs: 7000 },
  },
  {
    what: 'rate limit with milliseconds',
    status: 429,
    body: said,
    headers: { 'retry-after-ms': '250', 'retry-after': '1' },
    expected: { ...failure('rate_limit', 429, true), retryAfterMs: 250 },
  },
  {
    what: 'quota spent',
    status: 429,
    body: { error: { message: 'said so', code: 'insufficient_quota' } },
    expected: failure('rate_limit', 429, false),
  },
  { what: 'server error', status: 500, body: said, expected: failure('server', 500, true) },
  { what: 'bad gateway', status: 502, body: said, expected: failure('server', 502, true) },
  { what: 'unavailable', status: 503, body: said, expected: failure('overloaded', 503, true) },
  { what: 'overloaded', status: 529, body: said, expected: failure('overloaded', 529, true) },
];

const OVERFLOWS = [
  'prompt is too long: 210000 tokens > 200000 maximum',
  "This model's maximum context length is 128000 tokens.",
  'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
  'the request exceeds the available context size, try increasing it',
  'Your input exceeds the context window of this model.',
];

async function refused(
  wire: Wire,
  refusal: Omit<Refusal, 'expected' | 'what'>,
): Promise<ModelFailure> {
  await using server = await serve(refuseWith(refusal.status, refusal.body, refusal.headers));
  return await fail(wire, server.url);
}

async function fail(wire: Wire, baseUrl: string): Promise<ModelFailure> {
  const port = createAdapter(wire.dialect, { name: 'test', baseUrl, apiKey: 'k' }, adapterDeps());
  const model = { provider: 'test', id: wire.model, chain: [] };
  const parts = await collect(port, request([userMessage('Hi')], { model }));
  expect(parts).toHaveLength(1);
  return failed(parts);
}

describe.each(WIRES)('$name', (wire) => {
  test.each(REFUSALS)('$what', async ({ expected, ...refusal }) => {
    const { message, ...rest } = await refused(wire, refusal);
    expect(rest).toEqual(expected);
    expect(message).toBe(`test/${wire.model}: HTTP ${refusal.status}: said so`);
  });

  test.each(OVERFLOWS)('too much context: %s', async (message) => {
    const got = await refused(wire, { status: 400, body: { error: { message } } });
    expect(got).toMatchObject({ kind: 'context_overflow', retryable: false });
  });

  test('nobody there', async () => {
    const server = await serve(() => {});
    await server[Symbol.asyncDispose]();
    const got = await fail(wire, server.url);
    expect(got).toMatchObject({ kind: 'connect', retryable: true });
    expect(got.message).toContain('ECONNREFUSED');
  });

  test('a web page instead of a model', async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end('<!doctype html>');
    });
    const got = await fail(wire, server.url);
    expect(got).toMatchObject({ kind: 'bad_request', retryable: false });
    expect(got.message).toContain('its base URL is not that of a model API');
  });

  test('a redirect, which would take the key along', async () => {
    await using server = await serve((response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:9/' });
      response.end();
    });
    const got = await fail(wire, server.url);
    expect(got).toMatchObject({ kind: 'bad_request', retryable: false });
    expect(got.message).toContain('redirects');
  });

  test('a refusal that is a page of a proxy', async () => {
    const got = await refused(wire, { status: 502, body: 'Bad\r\n  gateway' });
    expect(got.message).toBe(`test/${wire.model}: HTTP 502: Bad gateway`);
  });

  test('a refusal without a word', async () => {
    const got = await refused(wire, { status: 500, body: '' });
    expect(got.message).toBe(`test/${wire.model}: HTTP 500: Internal Server Error`);
  });
});

const NOW = Date.parse('2026-11-22T00:00:00Z');

test.each([
  { headers: { 'retry-after': 'Sun, 22 Nov 2026 00:00:05 GMT' }, body: '', ms: 5000 },
  { headers: { 'retry-after': 'Sat, 21 Nov 2026 00:00:05 GMT' }, body: '', ms: 0 },
  { headers: { 'retry-after': ' 1.5 ' }, body: '', ms: 1500 },
  { headers: { 'retry-after': 'soon' }, body: '', ms: undefined },
  { headers: { 'retry-after': '-5' }, body: '', ms: undefined },
  { headers: {}, body: '{"error":{"details":[{"retryDelay": "34.1s"}]}}', ms: 34_100 },
  { headers: {}, body: '', ms: undefined },
])('Retry-After $headers $body', ({ headers, body, ms }) => {
  expect(retryAfter(headers, body, NOW)).toBe(ms);
});

test.each([
  ['{"error":{"message":"a"}}', 'a'],
  ['[{"error":{"code":400,"message":"b"}}]', 'b'],
  ['{"error":"c"}', 'c'],
  ['{"message":"d","error":{}}', 'd'],
  ['{"detail":[{"msg":"e"}]}', 'e'],
  ['plain \u0007text\n', 'plain text'],
  ['{"unknown":1}', '{"unknown":1}'],
  ['x'.repeat(600), `${'x'.repeat(500)}…`],
])('what the server says in %s', (body, says) => {
  expect(serverSays(body)).toBe(says);
});
