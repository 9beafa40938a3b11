import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createStarter } from '../../src/api/mcp/server-starter.ts';
import type { McpServer } from '../../src/mcp/server-use.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import { findMarked, waitForMarked } from '../e2e/processes.ts';
import { HAS_BUBBLEWRAP, Place } from '../sys/sandbox/support.ts';
import { startStreamingServer } from './servers/http.ts';
import { createHost, firstText, FOREVER, readEntry, tempDirectory, type Host } from './support.ts';

const WRITER = join(import.meta.dirname, 'servers', 'writer.cjs');
const SIGNAL = { signal: FOREVER };

/** Makes a directory of the session and two workspaces of it. */
function makeTrees(base = tempDirectory()) {
  const [source, one, two] = ['source', 'one', 'two'].map((name) => join(base, name));
  if (source === undefined || one === undefined || two === undefined) throw new Error('no trees');
  for (const each of [source, one, two]) mkdirSync(each, { recursive: true });
  return { source, one: { source, tree: one }, two: { source, tree: two } };
}

async function write(server: McpServer, name: string): Promise<Readonly<Record<string, unknown>>> {
  const result = await server.callTool('write', { name, text: 'x' }, SIGNAL);
  return JSON.parse(firstText(result)) as Readonly<Record<string, unknown>>;
}

const states = ({ connections }: Host) =>
  connections.status().map(({ state, tree, users }) => [state, tree, users]);

test('a server for a workspace has its directory and its roots, and ends with its last use', async () => {
  const { source, one, two } = makeTrees();
  const host = createHost({ cwd: source, roots: [source] });
  const entry = host.stdio(WRITER, { GIVEN: join(source, 'given') });
  const uses = [
    host.connections.open(entry),
    host.connections.open(entry, one),
    host.connections.open(entry, one),
    host.connections.open(entry, two),
  ] as const;
  const answers = await Promise.all(uses.map((use, index) => write(use, `file-${index}`)));
  const facts = (cwd: string, index: number) => ({
    cwd,
    pid: answers[index]?.['pid'],
    instance: answers[index]?.['instance'],
    calls: expect.any(Number),
    roots: [pathToFileURL(cwd).href],
    args: [],
    given: join(cwd, 'given'),
    failed: null,
  });
  expect(answers).toEqual([source, one.tree, one.tree, two.tree].map(facts));
  expect(new Set(answers.map(({ pid }) => pid)).size).toBe(3);
  expect([source, one.tree, two.tree].map((each) => readdirSync(each).toSorted())).toEqual([
    ['file-0'],
    ['file-1', 'file-2'],
    ['file-3'],
  ]);
  await uses[1].release();
  expect(states(host)).toEqual([
    ['ready', null, 1],
    ['ready', one.tree, 1],
    ['ready', two.tree, 1],
  ]);
  await uses[2].release();
  await uses[3].release();
  expect(states(host)).toEqual([['ready', null, 1]]);
  expect(findMarked(host.mark)).toEqual([answers[0]?.['pid']]);
});

test('a server over HTTP has a connection for each workspace', async () => {
  const { source, one } = makeTrees();
  const { url } = await startStreamingServer();
  const host = createHost({ cwd: source, roots: [source] });
  const entry = readEntry({ url });
  await host.connections.open(entry).start(FOREVER);
  const use = host.connections.open(entry, one);
  await use.start(FOREVER);
  expect(states(host)).toEqual([
    ['ready', null, 1],
    ['ready', one.tree, 1],
  ]);
  await use.release();
  expect(states(host)).toEqual([['ready', null, 1]]);
});

test('a server that cannot start for a workspace names it, and that of the session goes on', async () => {
  const { source, one } = makeTrees();
  const host = createHost({ cwd: source, roots: [source] });
  const entry = host.stdio(WRITER, { BROKEN_IN: one.tree });
  await write(host.connections.open(entry), 'a');
  await expect(host.connections.open(entry, one).start(FOREVER)).rejects.toThrow(
    `MCP server s: in the workspace ${one.tree}, it could not be started: exited with code 3; the end of its stderr: no server runs here`,
  );
  expect(host.connections.status().map(({ state }) => state)).toEqual(['ready', 'stopped']);
});

const MAX = 3;

test('an idle server of a workspace makes room for another one, and a used one does not', async () => {
  const { source } = makeTrees();
  const host = createHost({ cwd: source, roots: [source], workspaceServers: MAX });
  const entry = host.stdio(WRITER);
  const open = (index: number): McpServer => {
    const tree = join(source, `tree-${index}`);
    mkdirSync(tree);
    return host.connections.open(entry, { source, tree });
  };
  const stop = new AbortController();
  const uses = Array.from({ length: MAX }, (_, index) => open(index));
  for (const use of uses) await use.start(FOREVER);
  await open(MAX).start(FOREVER);
  const running = () => states(host).filter(([state]) => state === 'ready').length;
  expect([running(), states(host)[0]?.[0]]).toEqual([MAX, 'stopped']);
  // Those of the session do not count.
  await host.connections.open(entry).start(FOREVER);
  const calls = uses.slice(1).map((use) => use.callTool('wait', {}, { signal: stop.signal }));
  const last = open(MAX + 1);
  await last.start(FOREVER);
  const lastCall = last.callTool('wait', {}, { signal: stop.signal });
  const late = open(MAX + 2);
  await expect(late.start(FOREVER)).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: expect.stringContaining(`the limit workspace_servers = ${MAX} is reached`),
  });
  stop.abort(new Error('enough'));
  await Promise.allSettled([...calls, lastCall]);
  // It was no failure of the server, so it starts at once.
  await late.start(FOREVER);
  expect(running()).toBe(MAX + 1);
});

const NO_RULES = { allow: [], ask: [], deny: [] };

test.runIf(HAS_BUBBLEWRAP)(
  'the sandbox of a workspace keeps a server out of the directory for which it stands',
  async () => {
    const sandboxed = new Place();
    const node = sandboxed.node();
    const { source, one } = makeTrees(sandboxed.root);
    const script = sandboxed.write('work/writer.cjs', readFileSync(WRITER, 'utf8'));
    const startProcess = createStarter({
      sandbox: sandboxed.sandbox(),
      home: sandboxed.home,
      rules: NO_RULES,
    });
    const host = createHost({ cwd: source, roots: [source], startProcess });
    const [name = '', value = ''] = host.mark.split('=');
    const fields = { command: node, args: [script], env: { [name]: value } };
    const use = host.connections.open(readEntry(fields), one);
    expect(await write(use, 'inside')).toMatchObject({ cwd: one.tree, failed: null });
    expect(await write(use, join(source, 'outside'))).toMatchObject({ failed: 'EROFS' });
    // In the session, and if its entry says so, it runs without one.
    const free = host.connections.open(readEntry({ ...fields, sandbox: false }), one);
    expect(await write(free, join(source, 'free'))).toMatchObject({ failed: null });
    expect(await write(host.connections.open(readEntry(fields)), 'own')).toMatchObject({
      cwd: source,
      failed: null,
    });
    expect([readdirSync(source).toSorted(), readdirSync(one.tree)]).toEqual([
      ['free', 'own'],
      ['inside'],
    ]);
    await Promise.all([use.release(), free.release()]);
    await waitForMarked(host.mark, (pids) => pids.length === 1);
  },
);

test('without a sandbox, a server of the user starts for a workspace as a command does', async () => {
  const { source, one } = makeTrees();
  const startProcess = createStarter({
    sandbox: createUnavailableSandbox('it is missing', ''),
    home: source,
    rules: NO_RULES,
  });
  const host = createHost({ cwd: source, roots: [source], startProcess });
  const use = host.connections.open(host.stdio(WRITER), one);
  expect(await write(use, 'a')).toMatchObject({ cwd: one.tree, failed: null });
  const always = host.connections.open(host.stdio(WRITER, {}, { sandbox: true }), one);
  await expect(always.start(FOREVER)).rejects.toThrow(
    `in the workspace ${one.tree}, MCP server s should run in the sandbox, but there is none: it is missing`,
  );
});
