import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startHttpServer } from '../../e2e/mcp-http.ts';
import { BIN } from '../../e2e/muster.ts';
import { openWorld, type World } from '../../e2e/world.ts';
import { installPackages } from './install.ts';

const VERSION = '2.12.0';
const inspector = join(
  await installPackages({ '@modelcontextprotocol/inspector': VERSION }),
  'node_modules/.bin/mcp-inspector',
);

const TOOLS = ['Task', 'TaskOutput', 'TaskSend', 'TaskStop', 'TaskList'];
const finds = () => ({ text: 'It is in a.ts.' });

/** Sends one request with the inspector, and returns the result. `target`: how it reaches the server. */
async function inspect(
  world: World,
  target: readonly string[],
  request: readonly string[],
): Promise<Record<string, unknown>> {
  const env = world.sandbox.environment(world.model.env('anthropic'));
  const args = [inspector, '--cli', ...target, '--method', ...request];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: world.sandbox.workspace,
    env,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function openStdio(world: World): Promise<readonly string[]> {
  const variables = Object.entries(world.sandbox.environment(world.model.env('anthropic')));
  const env = variables.flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  return [...env, process.execPath, BIN, 'mcp', 'serve'];
}

async function openHttp(world: World): Promise<readonly string[]> {
  const { url, token } = await startHttpServer(world);
  return [url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
}

describe.each([
  ['stdio', openStdio],
  ['HTTP', openHttp],
])('the inspector over %s', (_name, open) => {
  test('lists and calls the tools, and lists the templates of resources', async () => {
    await using world = await openWorld({ script: finds });
    const target = await open(world);
    const { tools } = await inspect(world, target, ['tools/list']);
    expect(tools).toMatchObject(TOOLS.map((name) => ({ name })));
    const task = ['tools/call', '--tool-name', 'Task'];
    const input = ['--tool-arg', 'prompt=Find it.', 'agent=Explore'];
    expect(await inspect(world, target, [...task, ...input])).toMatchObject({
      structuredContent: { status: 'completed', result: 'It is in a.ts.' },
      isError: false,
    });
    const list = await inspect(world, target, ['tools/call', '--tool-name', 'TaskList']);
    expect(list).toMatchObject({ structuredContent: { tasks: [] } });
    const templates = await inspect(world, target, ['resources/templates/list']);
    expect(templates['resourceTemplates']).toMatchObject([
      { uriTemplate: 'muster://tasks/{task}/transcript' },
      { uriTemplate: 'muster://tasks/{task}/receipt' },
    ]);
  });
});
