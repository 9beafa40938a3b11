import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { openWorld, type World } from './world.ts';

const TOKEN = 'a-token-of-the-server';

/** Starts the built program as an MCP server over HTTP, and returns what it prints on stderr when it listens. */
async function start(world: World, args: readonly string[], env = {}) {
  const running = world.start(['mcp', 'serve', '--http', '0', ...args], { env });
  let errors = '';
  running.process.stderr?.on('data', (text: string) => (errors += text));
  const LISTENS = /^MCP server: (http:\/\/127\.0\.0\.1:\d+\/mcp)\n/m;
  await waitUntilPasses(() => expect(errors).toMatch(LISTENS));
  return { running, url: LISTENS.exec(errors)?.[1] ?? '', errors: () => errors };
}

async function connect(url: string, token: string): Promise<Client> {
  const headers = { authorization: `Bearer ${token}` };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}

it.each([
  ['that it prints', () => ({})],
  [
    'of a variable',
    () => ({ args: ['--bearer-token-env-var', 'THE_TOKEN'], env: { THE_TOKEN: TOKEN } }),
  ],
  [
    'of a file',
    (directory: string) => {
      const path = join(directory, 'token');
      writeFileSync(path, `${TOKEN}\n`);
      return { args: ['--bearer-token-file', path] };
    },
  ],
])('muster mcp serve --http takes the token %s, and ends with a signal', async (_name, options) => {
  await using world = await openWorld({ script: () => ({ text: 'It is in a.ts.' }) });
  const { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = options(
    world.sandbox.root,
  );
  const { running, url, errors } = await start(world, args, env);
  const printed = /^Header: Authorization: Bearer (\S+)\n/m.exec(errors())?.[1];
  expect(printed).toEqual(args.length === 0 ? expect.any(String) : undefined);
  const client = await connect(url, printed ?? TOKEN);
  const input = { prompt: 'Find it.', agent: 'Explore' };
  const answer = await client.callTool({ name: 'Task', arguments: input });
  expect(answer.structuredContent).toMatchObject({ status: 'completed', result: 'It is in a.ts.' });
  await expect(connect(url, 'another-token-of-it')).rejects.toThrow(/401|invalid_token/i);
  running.process.kill('SIGTERM');
  const { code, stdout } = await running.finished;
  expect({ code, stdout }).toEqual({ code: 143, stdout: '' });
  await client.close();
});

it.each([
  ['is not set', {}],
  ['is too short', { THE_TOKEN: 'short' }],
])('refuses a token in a variable that %s', async (_name, env) => {
  await using world = await openWorld();
  const args = ['mcp', 'serve', '--http', '0', '--bearer-token-env-var', 'THE_TOKEN'];
  const { code, stderr } = await world.run(args, { env });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('the variable THE_TOKEN must hold a token of at least 16'),
  });
});
