import { describe, expect, it } from 'vitest';
import { runHttpHook, type HttpHookRun } from '../../src/hooks/run-http-hook.ts';
import { serve, type Respond } from '../model/adapters/support.ts';
import { makeClient } from '../web/support.ts';
import { PROJECT, USER } from './samples.ts';

type Parts = Partial<HttpHookRun> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowedVariables?: readonly string[];
};

/** Sends a hook of the user. */
function run(url: string, { headers = {}, allowedVariables = [], ...rest }: Parts = {}) {
  const client = makeClient();
  return runHttpHook(
    {
      action: { kind: 'http', url, headers, allowedVariables },
      source: USER,
      input: '{"a":1}\n',
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      findUrlProblem: async () => null,
      ...rest,
    },
    { send: (request) => client.send(request), env: { TOKEN: 'secret', OTHER: 'hidden' } },
  );
}

const ok: Respond = (response) => void response.end('{"continue":true}');

it('posts its input with headers, in which only listed variables are filled', async () => {
  await using server = await serve(ok);
  const headers = {
    Authorization: 'Bearer $TOKEN',
    'X-Both': '${TOKEN}/$OTHER/${NONE}',
    'content-type': 'text/plain',
    'Content-Length': '5',
  };
  const end = await run(`${server.url}/hook?x=1`, { headers, allowedVariables: ['TOKEN', 'NONE'] });
  expect(end).toEqual({ kind: 'answered', status: 200, body: '{"continue":true}' });
  const [seen] = server.requests;
  expect({ ...seen, headers: {} }).toEqual({
    method: 'POST',
    url: '/hook?x=1',
    body: '{"a":1}\n',
    headers: {},
  });
  expect(seen?.headers).toMatchObject({
    authorization: 'Bearer secret',
    'x-both': 'secret//',
    'content-type': 'application/json',
    'content-length': '8',
  });
});

it.each([204, 400, 404, 500])('reports the status %i', async (status) => {
  await using server = await serve((response) => void response.writeHead(status).end());
  expect(await run(server.url)).toEqual({ kind: 'answered', status, body: '' });
});

it('sends nothing for a hook that is not of the user if the task may not reach the server, or if there is none', async () => {
  await using server = await serve(ok);
  const findUrlProblem = async () => 'The deny rule forbids it.';
  const refused = await run(server.url, { source: PROJECT, findUrlProblem });
  expect(refused).toEqual({ kind: 'failed', reason: 'it was not sent: The deny rule forbids it.' });
  const withoutTask = await runHttpHook(
    {
      action: { kind: 'http', url: server.url, headers: {}, allowedVariables: [] },
      source: PROJECT,
      input: '{}',
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    },
    { send: () => Promise.reject(new Error('sent')), env: {} },
  );
  expect(withoutTask).toMatchObject({ reason: expect.stringContaining('only for a task') });
  expect(server.connections()).toBe(0);
  expect(await run(server.url, { findUrlProblem })).toMatchObject({ kind: 'answered' });
});

describe('a server that is not public', () => {
  it.each(['project', 'agent', 'skill'] as const)(
    'gets nothing from a hook of a %s',
    async (kind) => {
      await using server = await serve(ok);
      const end = await run(server.url, { source: { ...PROJECT, kind } });
      expect(end).toMatchObject({
        kind: 'failed',
        reason: expect.stringMatching(/no request was sent.*loopback address/),
      });
      expect(server.connections()).toBe(0);
    },
  );

  it('is not reached by its name either', async () => {
    await using server = await serve(ok);
    const url = `http://site.example:${new URL(server.url).port}/`;
    expect(await run(url, { source: PROJECT })).toMatchObject({ kind: 'failed' });
    expect(server.connections()).toBe(0);
  });
});

it('follows no redirect to another host', async () => {
  await using target = await serve(ok);
  const other = `http://other.example:${new URL(target.url).port}`;
  await using server = await serve(
    (response) => void response.writeHead(307, { location: other }).end(),
  );
  expect(await run(server.url)).toEqual({
    kind: 'failed',
    reason: `it was sent on to ${new URL(other).host}, which is not followed`,
  });
  expect(target.connections()).toBe(0);
});

it.each([1_048_577, 6 * 1024 * 1024])('reads no answer of %i bytes', async (size) => {
  await using server = await serve((response) => void response.end('x'.repeat(size)));
  expect(await run(server.url)).toEqual({
    kind: 'failed',
    reason: 'the server answered with more than 1048576 bytes (limit hook_output_bytes = 1048576)',
  });
});

describe('a server that does not answer', () => {
  it('is left after the time of the hook', async () => {
    await using server = await serve(() => {});
    const end = await run(server.url, { timeoutMs: 200 });
    expect(end).toEqual({ kind: 'timeout', limitMs: 200 });
  });

  it('is left when the signal aborts', async () => {
    const stop = new AbortController();
    await using server = await serve(() => stop.abort());
    expect(await run(server.url, { signal: stop.signal })).toEqual({
      kind: 'failed',
      reason: 'it was ended, because its call or task was stopped',
    });
  });

  it('or closes the connection is a failure', async () => {
    await using server = await serve((response) => void response.destroy());
    expect(await run(server.url)).toMatchObject({ kind: 'failed' });
  });
});
