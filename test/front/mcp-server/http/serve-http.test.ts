import { connect } from 'node:net';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { serveTasksOverHttp } from '../../../../src/front/mcp-server/http/serve-http.ts';
import { toolResultRounds } from '../../../../src/testing/index.ts';
import { waitUntilPasses } from '../../../wait-until-passes.ts';
import { headers, open, serve, TOKEN, type Script } from '../http-support.ts';

const agent = 'Explore';
const finds: Script = { script: () => ({ text: 'It is in a.ts.' }) };
const dawdles: Script = { script: () => ({ text: 'late', delayMs: 60_000 }) };

async function call(client: Client, name: string, input: Record<string, unknown>) {
  const answer = await client.callTool({ name, arguments: input });
  return { ...answer, data: answer.structuredContent as { readonly task_id: string } };
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
};

async function post(url: string, body: unknown, more: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe.each(['old', 'new'] as const)('a client of the %s revision', (revision) => {
  test('runs a task in the foreground, and in the background', async () => {
    const { client } = await open(await serve(finds), revision);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(['Task', 'TaskOutput', 'TaskSend', 'TaskStop', 'TaskList']);
    const answer = await call(client, 'Task', { prompt: 'Find it.', agent });
    expect(answer.data).toMatchObject({ status: 'completed', result: 'It is in a.ts.' });
    const background = { prompt: 'Find it.', agent, run_in_background: true };
    const { data } = await call(client, 'Task', background);
    const output = await call(client, 'TaskOutput', { task_id: data.task_id });
    expect(output.data).toMatchObject({ status: 'completed', result: 'It is in a.ts.' });
  });

  test('is asked what a task wants to know', async () => {
    const served = await serve({
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [{ name: 'Write', input: { file_path: 'a', content: 'b' } }] }
          : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` },
    });
    const input = { prompt: 'Write it.', agent: 'general-purpose' };
    const { client } = await open(served, revision, true);
    const answer = await call(client, 'Task', input);
    expect(answer.data).toMatchObject({ result: expect.not.stringContaining('refused') });
    const other = await open(served, revision);
    const refused = await call(other.client, 'Task', input);
    expect(refused.data).toMatchObject({ result: expect.stringContaining('shows no forms') });
  });

  test('does not see the tasks of another client', async () => {
    const served = await serve(finds);
    const [one, two] = [await open(served, 'old'), await open(served, revision)];
    const { data } = await call(one.client, 'Task', { prompt: 'Find it.', agent });
    const list = await call(two.client, 'TaskList', {});
    expect(list.structuredContent).toEqual({ tasks: [] });
    const output = await call(two.client, 'TaskOutput', { task_id: data.task_id });
    expect(output.isError).toBe(true);
    expect((await call(one.client, 'TaskList', {})).structuredContent).toMatchObject({
      tasks: [{ task_id: data.task_id }],
    });
  });
});

describe('a session', () => {
  test('ends with DELETE, and its tasks are stopped', async () => {
    const served = await serve(dawdles);
    const { client, transport } = await open(served, 'old');
    const input = { prompt: 'Dawdle.', agent, run_in_background: true };
    const { data } = await call(client, 'Task', input);
    const id = transport.sessionId ?? '';
    await transport.terminateSession();
    expect(served.session.readResult(data.task_id).data.status).toBe('stopped');
    const late = await post(
      served.url,
      { ...initialize, method: 'tools/list' },
      { 'mcp-session-id': id },
    );
    expect([late.status, late.text]).toEqual([404, expect.stringContaining('no such session')]);
  });

  test('that nothing uses ends, but not while a task is at work', async () => {
    const served = await serve(
      {
        script: (request) =>
          toolResultRounds(request) === 0
            ? {
                toolCalls: [{ name: 'Write', input: { file_path: 'a', content: 'b' } }],
                delayMs: 300,
              }
            : { text: 'done' },
      },
      { idleMs: 20 },
    );
    const begun = await post(served.url, {
      ...initialize,
      params: { ...initialize.params, capabilities: { elicitation: {} } },
    });
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const input = { prompt: 'Write it.', agent: 'general-purpose', run_in_background: true };
    const params = { name: 'Task', arguments: input };
    const started = await post(
      served.url,
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params },
      session,
    );
    const id = /"task_id":"(\w+)"/.exec(started.text)?.[1] ?? '';
    // The task asks whether it may write, and the client has gone.
    await waitUntilPasses(() => {
      expect(served.session.readResult(id)).toMatchObject({
        data: { status: 'stopped', receipt: { endedBecause: expect.stringContaining('session') } },
      });
    });
    const late = await post(served.url, { ...initialize, method: 'tools/list' }, session);
    expect(late.status).toBe(404);
  });

  test('that nothing uses makes room for a new one, and others do not', async () => {
    const served = await serve(dawdles, { maxSessions: 1 });
    const first = await post(served.url, initialize);
    const { client } = await open(served, 'old');
    const gone = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' };
    expect((await post(served.url, { ...initialize, method: 'ping' }, gone)).status).toBe(404);
    await call(client, 'Task', { prompt: 'Dawdle.', agent, run_in_background: true });
    const refused = await post(served.url, initialize);
    expect([refused.status, refused.text]).toEqual([
      503,
      expect.stringContaining('All 1 sessions are in use'),
    ]);
  });
});

describe('a faulty request', () => {
  test.each([
    ['that is no JSON', 'not json', {}, 400, 'not valid JSON'],
    ['without messages', '[]', {}, 400, 'empty JSON-RPC batch'],
    ['that is no message', '{}', {}, 400, 'jsonrpc'],
    ['without a session', { ...initialize, method: 'ping' }, {}, 400, 'mcp-session-id'],
    ['of another type', 'x', { 'content-type': 'text/plain' }, 415, 'application/json'],
    ['that is too large', 'x'.repeat(10 * 1024 * 1024 + 1), {}, 413, 'more than 10485760 bytes'],
    ['without a token', initialize, { authorization: '' }, 401, 'invalid_token'],
    ['from another site', initialize, { origin: 'https://evil.example' }, 403, 'Origin'],
  ])('%s is refused, and the server goes on', async (_name, body, more, status, words) => {
    const served = await serve(finds);
    const refused = await post(served.url, body, more);
    expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(words)]);
    expect((await post(served.url, initialize)).status).toBe(200);
  });

  test('that breaks off, or is no HTTP, disturbs nobody', async () => {
    const served = await serve(finds);
    const port = Number(new URL(served.url).port);
    const start = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
    for (const text of [
      'garbage\r\n\r\n',
      `${start}Content-Length: 500\r\n\r\n{"jsonrpc"`,
      `${start}Host: two\r\nContent-Length: 2\r\n\r\n{}`,
    ]) {
      const socket = connect(port, '127.0.0.1');
      await new Promise<void>((resolve) => socket.write(text, () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
    }
    const { client } = await open(served, 'old');
    const answer = await call(client, 'Task', { prompt: 'Find it.', agent });
    expect(answer.data).toMatchObject({ status: 'completed' });
  });
});

test('an address that is in use is named', async () => {
  const { url, session } = await serve(finds);
  const port = Number(new URL(url).port);
  const again = serveTasksOverHttp(session, {
    address: { host: '127.0.0.1', port },
    token: TOKEN,
    hasToolPerAgent: false,
    onListening: () => {},
    onNotice: () => {},
    signal: new AbortController().signal,
  });
  await expect(again).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(`127.0.0.1:${port} cannot be used (EADDRINUSE)`),
  });
});
