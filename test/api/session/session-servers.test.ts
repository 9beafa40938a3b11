import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';
import type { SessionOptions, TaskEvent } from '../../../src/api/index.ts';
import {
  startFakeModel,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../../src/testing/index.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A server of the tool `ask` that creates a file when it starts. */
const SERVER = `
require('node:fs').writeFileSync(process.argv[2], '');
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
function answer({ id, method }) {
  if (id === undefined) return;
  const send = (body) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
  if (method === 'initialize') {
    return send({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  }
  if (method === 'tools/list') return send({ result: { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] } });
  if (method === 'tools/call') return send({ result: { content: [{ type: 'text', text: 'asked' }] } });
  send({ error: { code: -32601, message: 'unknown method' } });
}
`;

/** A home with the server, and a model that calls the tool of a server if it has one. */
async function createWorld(script: (request: RecordedRequest) => Answer = callTool) {
  const model = await startFakeModel({ script });
  opened.push(() => model.close());
  const home = mkdtempSync(join(tmpdir(), 'muster-test-'));
  opened.push(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, 'server.cjs'), SERVER);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  const mark = (name: string) => join(home, `${name}.started`);
  const entryOf = (name: string) => ({
    command: process.execPath,
    args: [join(home, 'server.cjs'), mark(name)],
  });
  return {
    write,
    entryOf,
    configure: (...names: readonly string[]) => {
      const mcpServers = Object.fromEntries(names.map((name) => [name, entryOf(name)]));
      write('.config/muster/mcp.json', JSON.stringify({ mcpServers }));
    },
    isStarted: (name: string) => existsSync(mark(name)),
    toolsOf: (index: number) =>
      (model.requests.at(index)?.tools ?? [])
        .map(({ name }) => name)
        .filter((name) => name.startsWith('mcp__')),
    open: async (options: SessionOptions = {}) => {
      const notices: string[] = [];
      const muster = await openSession({
        cwd: home,
        dataDir: join(home, 'data'),
        environment: { HOME: home, PATH: process.env['PATH'] ?? '', ...model.env('anthropic') },
        flags: [{ flag: '--allow', key: 'permissions.allow', text: 'mcp__*' }],
        onNotice: (line) => void notices.push(line),
        ...options,
      });
      opened.push(() => muster.close());
      return { muster, notices };
    },
  };
}

function callTool(request: RecordedRequest): Answer {
  const tool = request.tools.find(({ name }) => name.startsWith('mcp__'));
  return tool === undefined || toolResultRounds(request) > 0
    ? { text: 'done' }
    : { toolCalls: [{ name: tool.name, input: {} }] };
}

const agentFile = (name: string, ...lines: readonly string[]) =>
  `---\n${[`name: ${name}`, 'description: Asks.', ...lines].join('\n')}\n---\nYou ask.\n`;

it('a session whose agent is not known asks no server, and asks those of an agent on request', async () => {
  const world = await createWorld();
  world.configure('a', 'b');
  world.write('.config/muster/agents/asker.md', agentFile('asker', 'tools: mcp__b__*'));
  const { muster } = await world.open({ mainAgent: null });
  expect(muster.servers.list().map(({ id, state }) => [id, state])).toEqual([
    ['a', 'unused'],
    ['b', 'unused'],
  ]);
  expect([muster.listAwaitedServers(), muster.listAwaitedServers('asker')]).toEqual([
    ['a', 'b'],
    ['b'],
  ]);
  await muster.prepareServers('asker');
  expect([world.isStarted('a'), world.isStarted('b')]).toEqual([false, true]);
  expect(muster.listAwaitedServers('asker')).toEqual([]);
  await muster.start({ prompt: 'go', agent: 'asker' }).result;
  expect(world.toolsOf(-1)).toEqual(['mcp__b__ask']);
});

it('a session waits for the servers of its main agent', async () => {
  const world = await createWorld();
  world.configure('a', 'b');
  world.write('.config/muster/agents/asker.md', agentFile('asker', 'tools: mcp__b__*'));
  const { muster } = await world.open({ mainAgent: 'asker' });
  expect([world.isStarted('a'), world.isStarted('b')]).toEqual([false, true]);
  expect(muster.servers.list().map(({ state }) => state)).toEqual(['unused', 'connected']);
});

it('a session with a person asks them in the background', async () => {
  const world = await createWorld();
  world.configure('a');
  const { muster } = await world.open({ attended: true, questions: 'wait' });
  let changes = 0;
  muster.servers.watch(() => {
    changes += 1;
  });
  await waitUntilPasses(() => {
    expect(muster.servers.list().map(({ state }) => state)).toEqual(['connected']);
  });
  expect(changes).toBeGreaterThan(0);
});

it('a disabled server is left out of new tasks, and is started again on request', async () => {
  const world = await createWorld();
  world.configure('a');
  const { muster } = await world.open();
  muster.servers.setEnabled('a', false);
  await muster.start({ prompt: 'go' }).result;
  expect([world.toolsOf(-1), muster.servers.list()[0]?.state]).toEqual([[], 'disabled']);
  muster.servers.setEnabled('a', true);
  await muster.servers.restart('a');
  expect(muster.servers.list()[0]).toMatchObject({ state: 'connected', error: null });
  await muster.start({ prompt: 'go' }).result;
  expect(world.toolsOf(-1)).toEqual(['mcp__a__ask']);
  await expect(muster.servers.restart('none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('the server of a definition that appears during the session is used', async () => {
  const script = (request: RecordedRequest): Answer => {
    const isChild = !request.tools.some(({ name }) => name === 'Task');
    if (isChild) return callTool(request);
    const input = { prompt: 'ask', description: 'ask', subagent_type: 'late' };
    return toolResultRounds(request) === 0
      ? { toolCalls: [{ name: 'Task', input }] }
      : { text: 'done' };
  };
  const world = await createWorld(script);
  world.write('.config/muster/agents/early.md', agentFile('early'));
  const { muster } = await world.open();
  expect(muster.servers.list()).toEqual([]);
  const own = JSON.stringify([{ own: world.entryOf('own') }]);
  world.write('.config/muster/agents/late.md', agentFile('late', `mcp-servers: ${own}`));
  const events: TaskEvent[] = [];
  await waitUntilPasses(async () => {
    await muster.start({ prompt: 'go' }, (event) => void events.push(event)).result;
    expect(events.filter(({ type }) => type === 'child.created')).not.toEqual([]);
  });
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'call.ended', tool: 'mcp__own__ask', text: 'asked' }),
  );
  expect(muster.servers.list()).toMatchObject([{ id: 'late/own', agent: 'late', scope: 'user' }]);
});

it('a resumed task has its servers asked again if the record of their tools is gone', async () => {
  let requests = 0;
  const world = await createWorld(() => {
    requests += 1;
    return requests % 2 === 1
      ? { toolCalls: [{ name: 'mcp__a__ask', input: {} }] }
      : { text: 'done' };
  });
  world.configure('a', 'b');
  const first = await world.open();
  const { id, result } = first.muster.start({ prompt: 'go' });
  await result;
  await first.muster.close();
  world.write('data/mcp-tools.json', '');
  const { muster } = await world.open({ mainAgent: null });
  const texts: string[] = [];
  const run = await muster.resume({ id, prompt: 'again' }, (event) => {
    if (event.type === 'call.ended') texts.push(event.text);
  });
  await run.result;
  expect(texts).toEqual(['asked']);
});
