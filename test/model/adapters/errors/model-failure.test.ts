import { describe, expect, test } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { toModelFailure } from '../../../../src/model/adapters/errors/model-failure.ts';
import { readRetryAfter } from '../../../../src/model/adapters/errors/read-refusal.ts';
import { describeErrorBody } from '../../../../src/model/adapters/errors/error-body.ts';
import { userMessage } from '../../../../src/protocol/message.ts';
import type { ModelFailure } from '../../../../src/protocol/model.ts';
import { adapterDeps, collect, failed, refuseWith, request, serve } from '../support.ts';
import { WIRES, type Wire } from '../wires.ts';

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
  { what: 'no money', status: 402, body: said, expected: failure('rate_limit', 402, false) },
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

function fail(wire: Wire, baseUrl: string): Promise<ModelFailure> {
  return failWith(wire, { name: 'test', baseUrl, apiKey: 'k' });
}

async function failWith(
  wire: Wire,
  endpoint: Parameters<typeof createAdapter>[1],
): Promise<ModelFailure> {
  const port = createAdapter(wire.dialect, endpoint, adapterDeps());
  const model = { provider: 'test', id: wire.model, chain: [] };
  const parts = await collect(port, request([userMessage('Hi')], { model }));
  expect(parts).toHaveLength(1);
  return failed(parts);
}

describe.each(WIRES)('$name', (wire) => {
  test.each(REFUSALS)('$what', async ({ what, expected, ...refusal }) => {
    const { message, ...rest } = await refused(wire, refusal);
    expect(rest).toEqual(expected);
    const [says, ...hint] = message.split(' (sent to ');
    expect(says).toBe(`test/${wire.model}: HTTP ${refusal.status}: said so`);
    // What a person has to look at stands behind it.
    const isAboutAccount = expected.kind === 'auth' || /^(no money|quota spent)$/.test(what);
    expect(hint.length).toBe(isAboutAccount || expected.kind === 'not_found' ? 1 : 0);
  });

  test.each(OVERFLOWS)('too much context: %s', async (message) => {
    const got = await refused(wire, { status: 400, body: { error: { message } } });
    expect(got).toMatchObject({ kind: 'context_overflow', retryable: false });
  });

  test('a refused key is reported with its variable and the base URL', async () => {
    await using server = await serve(refuseWith(401, said));
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'secret-key', keyFrom: 'A_KEY' };
    const got = await failWith(wire, endpoint);
    expect(got.message).toBe(
      `test/${wire.model}: HTTP 401: said so (sent to ${server.url} with the key in A_KEY)`,
    );
    const keyless = await failWith(wire, { name: 'test', baseUrl: server.url, apiKey: null });
    expect(keyless.message).toBe(
      `test/${wire.model}: HTTP 401: said so (sent to ${server.url} without a key)`,
    );
  });

  test('an unknown path or model is reported with the full address', async () => {
    await using server = await serve(refuseWith(404, said));
    const got = await fail(wire, server.url);
    expect(got.message).toBe(
      `test/${wire.model}: HTTP 404: said so (sent to ${server.url}${server.requests[0]?.url.replace('?alt=sse', '')})`,
    );
  });

  test('a server that does not exist is a connection failure', async () => {
    const server = await serve(() => {});
    await server[Symbol.asyncDispose]();
    const got = await fail(wire, server.url);
    expect(got).toMatchObject({ kind: 'connect', retryable: true });
    expect(got.message).toContain('ECONNREFUSED');
  });

  test('a web page instead of an answer is reported', async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(`<!doctype html><title>Sign in | Corp</title>${'<p>x</p>'.repeat(20_000)}`);
    });
    const got = await fail(wire, server.url);
    expect(got).toMatchObject({ kind: 'bad_request', retryable: false });
    const { host } = new URL(server.url);
    expect(got.message).toMatch(
      `test/${wire.model}: a web page instead of an answer from ${host}: "Sign in | Corp" (the base URL is not that of a model API, or a proxy requires a login first: ${server.url}/`,
    );
  });

  test('a redirect is not followed, since it would pass on the key', async () => {
    await using server = await serve((response) => {
      response.writeHead(307, { location: 'http://me:pw@127.0.0.1:9/login?token=secret#x' });
      response.end();
    });
    const got = await fail(wire, server.url);
    expect(got).toMatchObject({ kind: 'bad_request', retryable: false });
    expect(got.message).toBe(
      `test/${wire.model}: the server redirects to http://127.0.0.1:9/login: set its base URL to that address`,
    );
  });

  test("a proxy's page is reported as a refusal", async () => {
    const got = await refused(wire, { status: 502, body: 'Bad\r\n  gateway' });
    expect(got.message).toBe(`test/${wire.model}: HTTP 502: Bad gateway`);
  });

  test('a refusal with an empty body has a message', async () => {
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
  { headers: { 'retry-after': '9'.repeat(40) }, body: '', ms: 31_536_000_000 },
  { headers: { 'retry-after': '-5' }, body: '', ms: undefined },
  { headers: {}, body: '{"error":{"details":[{"retryDelay": "34.1s"}]}}', ms: 34_100 },
  { headers: {}, body: '', ms: undefined },
])('Retry-After $headers $body', ({ headers, body, ms }) => {
  expect(readRetryAfter(headers, body, NOW)).toBe(ms);
});

test.each([
  ['{"error":{"message":"a"}}', 'a'],
  ['[{"error":{"code":400,"message":"b"}}]', 'b'],
  ['{"error":"c"}', 'c'],
  ['{"message":"d","error":{}}', 'd'],
  ['{"detail":[{"msg":"e"}]}', 'e'],
  ['{"errors":[{"code":5007,"message":"e1"}],"success":false}', 'e1'],
  ['{"Message":"e2"}', 'e2'],
  ['{"error_code":1,"error_msg":"e3"}', 'e3'],
  ['{"Response":{"Error":{"Code":"x","Message":"e4"}}}', 'e4'],
  ['{"base_resp":{"status_code":1,"status_msg":"e5"}}', 'e5'],
  [
    '{"error":{"message":"Provider returned error","metadata":{"raw":"{\\"error\\":{\\"message\\":\\"f\\"}}"}}}',
    'Provider returned error: f',
  ],
  ['plain \u0007text\n', 'plain text'],
  ['{"unknown":1}', '{"unknown":1}'],
  ['x'.repeat(600), `${'x'.repeat(500)}…`],
])('finds the message in %s', (body, says) => {
  expect(describeErrorBody(body, 'api.example.com')).toBe(says);
});

const NGINX =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>';

test.each([
  [
    JSON.stringify({ error: { message: `<!DOCTYPE html>\n${NGINX}` } }),
    'a web page: "502 Bad Gateway"',
  ],
  [
    JSON.stringify({ error: { message: 'Provider returned error', metadata: { raw: NGINX } } }),
    'Provider returned error: a web page: "502 Bad Gateway"',
  ],
  [
    `upstream error: ${NGINX} (request id: 7)`,
    'upstream error: a web page: "502 Bad Gateway" (request id: 7)',
  ],
  [`upstream error: ${NGINX.slice(0, 60)}`, 'upstream error: a web page: "502 Bad Gateway"'],
  ['{"detail":"failed: <html><body></body></html>"}', 'failed: a web page without a title'],
  [
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message><RequestId>7</RequestId></Error>',
    'Access Denied (AccessDenied)',
  ],
  ['<Error><Message>Access Denied</Message></Error>', 'Access Denied'],
  [
    '<ErrorResponse xmlns="x"><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate &lt;exceeded&gt;</Message></Error></ErrorResponse>',
    'Rate <exceeded> (Throttling)',
  ],
  [
    '<soap:Envelope><soap:Body><soap:Fault><faultcode>soap:Server</faultcode><faultstring>Policy failed</faultstring></soap:Fault></soap:Body></soap:Envelope>',
    'Policy failed (soap:Server)',
  ],
  [
    '<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html><title>Blocked</title></html>',
    'a web page instead of an answer from api.example.com: "Blocked"',
  ],
  [
    '{"message":"<b>Access denied</b><br/>Ask <a href=\\"https://x\\">the &quot;IT&quot;</a>"}',
    'Access denied Ask the "IT"',
  ],
  [
    '{"message":"no </think> and no <tool_call> in a prompt"}',
    'no </think> and no <tool_call> in a prompt',
  ],
  ['{"message":"List<a> is no type"}', 'List<a> is no type'],
])('markup inside a message is removed: %#', (body, says) => {
  expect(describeErrorBody(body, 'api.example.com')).toBe(says);
});

test.each(WIRES)('markup of an error inside a stream: $name', async (wire) => {
  const error = {
    type: 'error',
    error: { type: 'api_error', code: 502, message: `upstream: ${NGINX}` },
  };
  const events = wire.name === 'google' ? [{ error: error.error }] : [error];
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  const port = createAdapter(
    wire.dialect,
    { name: 'test', baseUrl: server.url, apiKey: null },
    adapterDeps(),
  );
  const model = { provider: 'test', id: wire.model, chain: [] };
  const { message } = failed(await collect(port, request([userMessage('Hi')], { model })));
  expect(message).toContain('upstream: a web page: "502 Bad Gateway"');
  expect(message).not.toContain('<');
});

const FROM = 'a web page instead of an answer from api.example.com';

/** Pages of Cloudflare, nginx, HAProxy, Amazon's load balancer, Google and Squid, much shortened. */
test.each([
  [
    '<!DOCTYPE html>\n<!--[if lt IE 7]> <html class="no-js ie6"> <![endif]-->\n<head>\n<title>api.example.com | 502: Bad gateway</title>\n<meta charset="UTF-8" /></head><body><h1>Bad gateway</h1></body>',
    `${FROM}: "api.example.com | 502: Bad gateway"`,
  ],
  [
    '<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n<hr><center>nginx/1.18.0 (Ubuntu)</center>',
    `${FROM}: "504 Gateway Time-out"`,
  ],
  [
    '<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>',
    `${FROM}: "503 Service Unavailable"`,
  ],
  [
    '<!DOCTYPE html><html lang=en><meta charset=utf-8><title>Error 404 (Not Found)!!1</title><style>*{margin:0}</style>',
    `${FROM}: "Error 404 (Not Found)!!1"`,
  ],
  [
    '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN"><html><head><title>ERROR: Cache Access Denied</title>',
    `${FROM}: "ERROR: Cache Access Denied"`,
  ],
  [
    '<html lang="en-US"><head><title>Just a moment...</title></head>',
    `${FROM}: "Just a moment..."`,
  ],
  [
    '<title>\n  Caf&eacute; &amp; Bar &#8211; \u001b[31mlog&nbsp;in&#0; &lt;b&gt;\n</title>',
    `${FROM}: "Caf&eacute; & Bar – [31mlog in&#0; <b>"`,
  ],
  ['<html></html>', `${FROM}: without a title`],
  [`<html>${'<title '.repeat(9000)}`, `${FROM}: without a title`],
  [`<html><title>${'x'.repeat(10_000)}`, `${FROM}: without a title`],
  ['\uFEFF <html><h1></h1><p>Blocked by policy</p>', `${FROM}: "Blocked by policy"`],
])('a web page is reduced to its title: %#', (page, says) => {
  expect(describeErrorBody(page, 'api.example.com')).toBe(says);
});

test.each([
  ['CERT_NOT_YET_VALID', 'the clock of this machine says 2006-12-02'],
  ['CERT_HAS_EXPIRED', 'the clock of this machine says 2006-12-02'],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'for your own certificates, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE',
  ],
])('the error %s says what may be wrong', (code, hint) => {
  const cause = Object.assign(new Error('bad certificate'), { code });
  const context = {
    model: 'p/m',
    server: { name: 'p', baseUrl: 'https://p.test', apiKey: null },
    isAnswering: false,
    now: Date.parse('2006-12-02T03:04:05Z'),
  };
  expect(toModelFailure(new TypeError('fetch failed', { cause }), context)).toEqual({
    kind: 'connect',
    message: `p/m: no trusted connection: bad certificate (${code}); ${hint}`,
    retryable: false,
  });
});
