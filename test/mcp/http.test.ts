import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_MESSAGE_LIMITS } from '../../src/sys/processes/message-lines.ts';
import type { McpLogin } from '../../src/protocol/mcp-login.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { startHttpServer, startSseServer, startStreamingServer } from './servers/http.ts';
import { createHost, firstText, FOREVER, readEntry, tempDirectory } from './support.ts';

const options = { signal: FOREVER };

test('a renewal of a login that nobody answers holds up neither a start nor the end', async () => {
  const login: McpLogin = {
    server: 'http://127.0.0.1:9/',
    issuer: 'https://a.test',
    clientId: 'x',
    clientSecret: null,
    authMethod: 'none',
    tokenEndpoint: 'https://a.test/token',
    revocationEndpoint: null,
    resource: null,
    scope: null,
    accessToken: 'a',
    refreshToken: 'r',
    expiresAt: 0,
  };
  const host = createHost({
    logins: {
      store: {
        read: () => Promise.resolve({ login, demand: null }),
        add: () => Promise.resolve(),
        renew: () => Promise.resolve(),
        noteDemand: () => {},
        withLock: () => new Promise(() => {}),
      },
      createFetch: () => fetch,
      now: () => Date.now(),
      onSecret: () => {},
    },
  });
  const slow = host.open(readEntry({ url: login.server, startup_timeout_ms: 50 }));
  await expect(slow.start(FOREVER)).rejects.toThrow('it did not answer within');
  const started = host.open(readEntry({ url: login.server })).start(FOREVER);
  const refused = expect(started).rejects.toThrow('all connections were closed');
  await host.connections.close();
  await refused;
});

test('streamable HTTP: tools, resources, prompts, progress', async () => {
  const host = createHost();
  const { url } = await startStreamingServer();
  const server = host.open(readEntry({ url: `${url}/mcp` }));
  expect(await server.start(FOREVER)).toMatchObject({
    name: 'everything',
    protocolVersion: '2026-07-28',
  });
  expect((await server.listTools(FOREVER)).items.map(({ name }) => name)).toContain('echo');
  const progress: number[] = [];
  const slow = await server.callTool(
    'slow',
    { steps: 3, ms: 20 },
    { signal: FOREVER, onProgress: (each) => void progress.push(each.progress) },
  );
  expect([firstText(slow), progress.slice(0, 2)]).toEqual(['done', [1, 2]]);
  expect(await server.readResource('test://page/3', FOREVER)).toEqual([
    { uri: 'test://page/3', text: 'page 3' },
  ]);
  expect(await server.getPrompt('review', { file: 'x' }, FOREVER)).toMatchObject({
    messages: [{ role: 'user' }],
  });
});

test('headers of the entry and of its helper are sent with every request', async () => {
  const host = createHost();
  const { url, requests } = await startStreamingServer();
  const server = host.open(
    readEntry({
      url,
      headers: { 'X-Own': 'a', 'X-Both': 'entry' },
      headersHelper: `echo '{"X-Helped": "'$MCP_SERVER_NAME'", "X-Both": "helper"}'`,
    }),
  );
  await server.callTool('echo', { text: 'x' }, options);
  expect(requests.length).toBeGreaterThanOrEqual(2);
  for (const { headers } of requests) {
    expect(headers).toMatchObject({ 'x-own': 'a', 'x-helped': 's', 'x-both': 'helper' });
  }
});

test.each([
  ['exit 3', 'it exited with code 3'],
  ['echo no', 'Unexpected token'],
  [`echo '{"A": 1}'`, 'it printed no JSON object whose values are texts'],
  ['yes', 'it printed more than 64 KB'],
])('a helper that fails is an error: %s', async (headersHelper, message) => {
  const host = createHost();
  const server = host.open(readEntry({ url: 'http://127.0.0.1:9', headersHelper }));
  await expect(server.start(FOREVER)).rejects.toThrow('MCP server s: its headersHelper failed: ');
  await expect(server.start(FOREVER)).rejects.toThrow(message);
});

test('an abort ends the request in the server', async () => {
  const host = createHost();
  const { url } = await startStreamingServer();
  const server = host.open(readEntry({ url }));
  const controller = new AbortController();
  const call = server.callTool(
    'slow',
    { steps: 1000, ms: 20 },
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  await expect(call).rejects.toMatchObject({ kind: 'cancelled', isOutcomeUnknown: true });
  expect(firstText(await server.callTool('echo', { text: 'x' }, options))).toBe('echo: x');
});

test('the transport before streamable HTTP is used if the entry says so, or if nothing else works', async () => {
  const host = createHost();
  const { url } = await startSseServer();
  for (const entry of [{ type: 'sse', url: `${url}/sse` }, { url: `${url}/sse` }]) {
    const server = host.open(readEntry(entry));
    expect(await server.start(FOREVER)).toMatchObject({ protocolVersion: '2024-11-05' });
    expect(firstText(await server.callTool('t', {}, options))).toBe('over SSE');
  }
});

test('the end of an event stream ends the calls that wait for it', async () => {
  const host = createHost();
  const { url } = await startSseServer();
  const server = host.open(readEntry({ type: 'sse', url: `${url}/sse` }));
  await expect(server.callTool('hang-up', {}, options)).rejects.toMatchObject({
    kind: 'lost',
    isOutcomeUnknown: true,
  });
});

test('a response that ends without a result is an error at once', async () => {
  const host = createHost();
  const { url } = await startStreamingServer({
    before: async (request, response) => {
      if (request.headers['mcp-name'] !== 'echo') return;
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(': nothing\n\n');
    },
  });
  const server = host.open(readEntry({ url }));
  await expect(server.callTool('echo', { text: 'x' }, options)).rejects.toMatchObject({
    message: 'MCP server s: the response ended without a result',
    kind: 'lost',
    isOutcomeUnknown: true,
  });
});

test('a connection that breaks during a call leaves its outcome unknown', async () => {
  const host = createHost();
  const { url } = await startStreamingServer({
    before: (request, response) => {
      if (request.headers['mcp-name'] === 'echo') response.destroy();
    },
  });
  const server = host.open(readEntry({ url }));
  await expect(server.callTool('echo', { text: 'x' }, options)).rejects.toMatchObject({
    kind: 'lost',
    isOutcomeUnknown: true,
  });
});

test('a server that nobody serves is an error that says why', async () => {
  const host = createHost();
  const server = host.open(readEntry({ url: 'http://127.0.0.1:9/mcp' }));
  await expect(server.start(FOREVER)).rejects.toThrow(
    'no connection to http://127.0.0.1:9/mcp: no server accepts connections there (ECONNREFUSED)',
  );
});

test('a server that requires a login is named', async () => {
  const host = createHost();
  const { url } = await startHttpServer((request, response) => {
    request.resume();
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  const server = host.open(readEntry({ url }));
  await expect(server.start(FOREVER)).rejects.toMatchObject({
    message: expect.stringContaining('MCP server s: '),
    kind: 'login',
    code: 'PERMISSION_DENIED',
  });
});

test('a helper runs again when the server no longer accepts its headers', async () => {
  const host = createHost();
  const file = join(tempDirectory(), 'headers.json');
  let accepted = 'one';
  const { url } = await startStreamingServer({
    before: (request, response) => {
      if (request.headers['x-token'] !== accepted) response.writeHead(401).end();
    },
  });
  writeFileSync(file, '{"X-Token": "one"}');
  const server = host.open(readEntry({ url, headersHelper: `cat ${file}` }));
  const echo = async () => firstText(await server.callTool('echo', { text: 'x' }, options));
  expect(await echo()).toBe('echo: x');
  accepted = 'two';
  writeFileSync(file, '{"X-Token": "two"}');
  expect(await echo()).toBe('echo: x');
  accepted = 'three';
  await expect(echo()).rejects.toMatchObject({ kind: 'login' });
});

test('a redirect within the server is followed, and one to another server is refused without a connection', async () => {
  const host = createHost();
  const other = await startHttpServer((_, response) => void response.end());
  const { url } = await startStreamingServer({
    before: (request, response) => {
      if (request.url === '/mcp') response.writeHead(307, { location: '/mcp/' }).end();
      if (request.url === '/away') response.writeHead(307, { location: `${other.url}/mcp` }).end();
    },
  });
  const server = host.open(readEntry({ url: `${url}/mcp` }));
  expect(firstText(await server.callTool('echo', { text: 'x' }, options))).toBe('echo: x');
  const away = host.open(readEntry({ url: `${url}/away` }));
  await expect(away.start(FOREVER)).rejects.toMatchObject({ kind: 'start' });
  expect(other.requests).toEqual([]);
});

test('a message above the limit ends the request', async () => {
  const host = createHost({
    messageLimits: { ...DEFAULT_MESSAGE_LIMITS, maxMessageBytes: 100_000 },
  });
  const { url } = await startStreamingServer();
  const server = host.open(readEntry({ url }));
  const small = await server.callTool('big', { bytes: 90_000 }, options);
  expect(firstText(small).length).toBe(90_000);
  await expect(server.callTool('big', { bytes: 200_000 }, options)).rejects.toThrow(
    'MCP server s: ',
  );
});

test('a session that the server has forgotten is opened again', async () => {
  const host = createHost();
  let sessions = 0;
  const known = new Set<string>();
  const { url } = await startHttpServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const { id, method } = JSON.parse(text) as { id?: number; method: string };
    const session = String(request.headers['mcp-session-id'] ?? '');
    const send = (result: unknown, headers = {}) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    if (method === 'initialize') {
      sessions += 1;
      known.clear();
      known.add(`session${sessions}`);
      send(
        {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        },
        { 'mcp-session-id': `session${sessions}` },
      );
    } else if (method === 'server/discover') {
      response.writeHead(400).end();
    } else if (!known.has(session)) {
      response.writeHead(404).end();
    } else if (id === undefined) {
      response.writeHead(202).end();
    } else {
      send({ content: [{ type: 'text', text: session }] });
    }
  });
  const server = host.open(readEntry({ url }));
  expect(firstText(await server.callTool('t', {}, options))).toBe('session1');
  known.clear();
  expect(firstText(await server.callTool('t', {}, options))).toBe('session2');
  await waitUntilPasses(() =>
    expect(host.connections.status()).toMatchObject([{ state: 'ready' }]),
  );
});
