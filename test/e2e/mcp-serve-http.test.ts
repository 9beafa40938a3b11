import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { startHttpServer } from './mcp-http.ts';
import { openWorld } from './world.ts';

const TOKEN = 'a-token-of-the-server';

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
  const { running, url, token } = await startHttpServer(world, args, env);
  expect(token).toEqual(args.length === 0 ? expect.any(String) : null);
  const client = await connect(url, token ?? TOKEN);
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
