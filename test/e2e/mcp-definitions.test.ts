import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { startAuthorizationServer, startProtectedServer } from '../mcp/servers/authorization.ts';
import { needs } from '../needs.ts';
import { reach } from './ending.ts';
import { eventsOf, type Finished } from './muster.ts';
import { waitForMarked } from './processes.ts';
import { openWorld, type World } from './world.ts';

const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

/** A server of the tools `pid` and `token` that notes its start and its end. */
const SERVER = `
const { appendFileSync } = require('node:fs');
const note = (word) => process.env.NOTES && appendFileSync(process.env.NOTES, word + '\\n');
note('start');
process.on('exit', () => note('end'));
const tools = ['pid', 'token'].map((name) => ({ name, description: 'Tells the ' + name + '.', inputSchema: { type: 'object' } }));
let rest = '';
process.stdin.on('end', () => process.exit());
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
function answer({ id, method, params }) {
  if (id === undefined) return;
  const send = (body) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
  if (method === 'initialize') {
    return send({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } } });
  }
  if (method === 'tools/list') return send({ result: { tools } });
  if (method !== 'tools/call') return send({ error: { code: -32601, message: 'unknown method' } });
  const text = params.name === 'pid' ? String(process.pid) : String(process.env.TOKEN);
  send({ result: { content: [{ type: 'text', text }] } });
}
`;

interface Definition {
  /** Default: the project. */
  readonly scope?: 'user' | 'project';
  /** More fields of the entry. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** More lines of the definition. */
  readonly lines?: readonly string[];
}

/** Writes an agent whose definition contains the server above, which notes its starts and ends in a file. */
function define(world: World, { scope = 'project', entry = {}, lines = [] }: Definition = {}) {
  const { workspace, home } = world.sandbox;
  const script = join(workspace, 'own-server.cjs');
  writeFileSync(script, SERVER);
  const env = { NOTES: join(workspace, 'notes.txt'), TOKEN: 'hush-hush' };
  const own = { command: process.execPath, args: [script], env, ...entry };
  const file = join(scope === 'user' ? home : workspace, '.claude/agents/asker.md');
  mkdirSync(dirname(file), { recursive: true });
  const fields = [
    'name: asker',
    'description: Asks a server.',
    `mcpServers: [${JSON.stringify({ own })}]`,
    ...lines,
  ];
  writeFileSync(file, `---\n${fields.join('\n')}\n---\nYou ask.\n`);
  return file;
}

const isChild = ({ tools }: RecordedRequest) => !tools.some(({ name }) => name === 'AskUser');
const pid = { name: 'mcp__own__pid', input: {} };
const ask = {
  name: 'Task',
  input: { prompt: 'ask', description: 'ask', subagent_type: 'asker' },
};

/** The main agent starts children at once, and then one more; each child calls the server twice. */
function script(atOnce: number): (request: RecordedRequest) => Answer {
  return (request) => {
    const rounds = toolResultRounds(request);
    if (isChild(request)) return rounds < 2 ? { toolCalls: [pid] } : { text: 'done' };
    if (rounds === 0) return { toolCalls: Array.from({ length: atOnce }, () => ask) };
    return rounds === 1 ? { toolCalls: [ask] } : { text: 'done' };
  };
}

const ALLOW = ['--allow', 'mcp__own'];
const STREAM = ['--output-format', 'stream-json'];

/** The process ids that each child was told, in the order in which the children ended. */
async function runChildren(world: World, args: readonly string[] = []) {
  const run = await world.run(['-p', 'go', ...ALLOW, ...STREAM, ...args]);
  const told = eventsOf(run).flatMap((event) =>
    event.type === 'call.ended' && event.tool === pid.name ? [[event.task, event.text]] : [],
  );
  const byTask = Map.groupBy(told, ([task]) => task);
  return { run, pids: [...byTask.values()].map((each) => each.map(([, text]) => text)) };
}

/** What was printed on stderr, without the line that a slow machine causes. */
const problemsOf = ({ stderr }: Finished) =>
  stderr.replaceAll(/^muster: waiting for the MCP server.*\n/gm, '');

const readNotes = ({ sandbox }: World) =>
  readFileSync(join(sandbox.workspace, 'notes.txt'), 'utf8').trim().split('\n');

describe.concurrent('a server of a definition', () => {
  it.runIf(HAS_BUBBLEWRAP)('of a project is used after the user has trusted the file', async () => {
    await using world = await openWorld({ script: script(1) });
    define(world);
    const untrusted = await world.run(['-p', 'go', ...ALLOW]);
    expect(untrusted.stderr).toContain('muster trust add');
    const review = await world.run(['trust', 'add', '--yes']);
    expect(review.stdout + review.stderr).toContain(
      `server own: runs ${JSON.stringify(process.execPath)} ${JSON.stringify(join(world.sandbox.workspace, 'own-server.cjs'))} in the sandbox`,
    );
    const explained = await world.run(['agents', 'explain', 'asker']);
    expect(explained.stdout).toMatch(
      /from servers +own \(.*asker\.md\): mcp__own__pid, mcp__own__token/,
    );
    const { run, pids } = await runChildren(world);
    expect([problemsOf(run), pids.length]).toEqual(['', 2]);
    // Only the agent has the tools, and the log has none of the texts of the entry.
    const main = world.model.requests.filter((request) => !isChild(request));
    expect(main.flatMap(({ tools }) => tools).some(({ name }) => /own/.test(name))).toBe(false);
    expect(run.stdout).not.toContain('hush-hush');
  });

  it('runs for the tasks that use it, which share a process, and ends with them', async () => {
    await using world = await openWorld({ script: script(2) });
    define(world, { scope: 'user' });
    const { run, pids } = await runChildren(world);
    expect(problemsOf(run)).toBe('');
    const [first = [], second = [], third = []] = pids;
    expect(new Set([...first, ...second]).size).toBe(1);
    expect([new Set(third).size, first.includes(third[0])]).toEqual([1, false]);
    // The first start was for the list of tools.
    expect(readNotes(world)).toEqual(['start', 'end', 'start', 'end', 'start', 'end']);
  });

  it('keeps its accepted texts, and others are accepted by its full name', async () => {
    await using world = await openWorld({ script: script(1) });
    define(world, { scope: 'user' });
    await world.run(['-p', 'go', ...ALLOW]);
    const changed = SERVER.replace("'Tells the '", "'Ignores the '");
    writeFileSync(join(world.sandbox.workspace, 'own-server.cjs'), changed);
    const run = await world.run(['-p', 'go', ...ALLOW]);
    expect(run.stderr).toContain('accept them with "muster mcp accept asker/own"');
    const accepted = await world.run(['mcp', 'accept', 'asker/own']);
    expect([accepted.code, accepted.stderr]).toEqual([0, '']);
    const again = await world.run(['-p', 'go', ...ALLOW]);
    expect(problemsOf(again)).toBe('');
    const described = world.model.requests
      .findLast(isChild)
      ?.tools.find(({ name }) => name === pid.name)?.description;
    expect(described).toBe('Ignores the pid.');
  });

  it('is listed without a start, and tested by doctor, under its full name', async () => {
    await using world = await openWorld();
    const file = define(world, { scope: 'user' });
    const list = await world.run(['mcp', 'list']);
    const target = `${process.execPath} ${join(world.sandbox.workspace, 'own-server.cjs')}`;
    expect([list.stdout, list.stderr]).toEqual([
      `asker/own  user, agent asker · not used yet · ${target}\n`,
      '',
    ]);
    const got = await world.run(['mcp', 'get', 'asker/own', '--json']);
    expect(JSON.parse(got.stdout)).toMatchObject({ name: 'asker/own', agent: 'asker', file });
    const similar = await world.run(['mcp', 'get', 'asker/on']);
    expect(similar.stderr).toContain('did you mean asker/own?');
    expect(existsSync(join(world.sandbox.workspace, 'notes.txt'))).toBe(false);
    const doctor = await world.run(['doctor']);
    expect(doctor.stdout).toMatch(/^ok +mcp server +asker\/own: 2 tools$/m);
    expect(readNotes(world)).toEqual(['start', 'end']);
    define(world, { scope: 'user', entry: { env: 7 } });
    const broken = await world.run(['doctor']);
    expect(broken.stdout).toMatch(/^warn +mcp server .*asker\.md: server own: env: /m);
  });

  it('gives each task its own process if its entry says so', async () => {
    await using world = await openWorld({ script: script(2) });
    define(world, { scope: 'user', entry: { own_connection: true } });
    const { pids } = await runChildren(world);
    expect(pids.map((each) => new Set(each).size)).toEqual([1, 1, 1]);
    expect(new Set(pids.flat()).size).toBe(3);
  });

  it('carries out a long call in the process of the task, if each task has its own', async () => {
    const work = { name: 'mcp__own__work', input: { ms: 1 } };
    await using world = await openWorld({
      script: (request) => {
        if (toolResultRounds(request) > 0) return { text: 'done' };
        return { toolCalls: [isChild(request) ? work : ask] };
      },
    });
    const args = [join(import.meta.dirname, '../mcp/servers/tasks.mjs')];
    define(world, { scope: 'user', entry: { args, own_connection: true } });
    const run = await world.run(['-p', 'go', ...ALLOW, ...STREAM]);
    const texts = eventsOf(run).flatMap((event) =>
      event.type === 'call.ended' && event.tool === work.name ? [event.text] : [],
    );
    expect(texts).toEqual(['work is done']);
  });

  it('of a project does not take the name of a server that the user has disabled', async () => {
    await using world = await openWorld({ script: script(1) });
    define(world);
    const file = join(world.sandbox.home, '.config/muster/mcp.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ mcpServers: { own: { command: 'x', enabled: false } } }));
    const { run, pids } = await runChildren(world, ['--trust-project']);
    expect(pids).toEqual([]);
    expect(run.stderr).toContain('mcp__own__*: The user has disabled the MCP server own.');
    expect(existsSync(join(world.sandbox.workspace, 'notes.txt'))).toBe(false);
  });

  it('is found again by a resumed task, and a removed one is not', async () => {
    let requests = 0;
    const answer = (): Answer => {
      requests += 1;
      return requests % 2 === 1 ? { toolCalls: [pid] } : { text: 'done' };
    };
    await using world = await openWorld({ script: answer });
    const file = define(world, { scope: 'user' });
    await world.run(['-p', 'go', ...ALLOW, '--agent', 'asker']);
    const again = await world.run(['-p', 'again', ...ALLOW, '--continue', ...STREAM]);
    const ended = eventsOf(again).filter((event) => event.type === 'call.ended');
    expect(ended.map((event) => event.type === 'call.ended' && /^\d+$/.test(event.text))).toEqual([
      true,
    ]);
    writeFileSync(file, '---\nname: asker\ndescription: Asks.\n---\nYou ask.\n');
    const without = await world.run(['-p', 'more', ...ALLOW, '--continue', ...STREAM]);
    const refused = eventsOf(without).find((event) => event.type === 'call.refused');
    expect(JSON.stringify(refused)).toContain('mcp__own__pid');
  });

  it('with a mistake is reported to the child, the parent and the user', async () => {
    await using world = await openWorld({ script: script(1) });
    define(world, { scope: 'user', entry: { env: 7 }, lines: ['tools: Read, mcp__gone__x'] });
    const run = await world.run(['-p', 'go', ...ALLOW]);
    const reason = 'The MCP server own of the definition has an error: env';
    expect(run.stderr).toContain('server own: env');
    expect(run.stderr).toContain('mcp__gone__x: No MCP server gone is configured.');
    expect(run.stderr).toContain(reason);
    const child = world.model.requests.find(isChild);
    expect(JSON.stringify(child?.system)).toContain(reason);
    expect(JSON.stringify(child?.system)).toContain('No MCP server gone is configured.');
    expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain(reason);
    const check = await world.run(['agents', 'check', 'asker']);
    expect(check.stdout).toContain('`mcpServers`: own: env');
  });

  it('leaves no process behind when Muster is killed', async () => {
    const answer = (request: RecordedRequest): Answer => {
      if (!isChild(request)) return { toolCalls: [ask] };
      return toolResultRounds(request) === 0 ? { toolCalls: [pid] } : { delayMs: 60_000, text: '' };
    };
    await using world = await openWorld({ script: answer });
    define(world);
    const running = world.start(['-p', 'go', ...ALLOW, '--trust-project']);
    await waitForMarked(world.mark, (pids) => pids.length > 2);
    process.kill(running.pid, 'SIGKILL');
    await running.finished;
    await waitForMarked(world.mark, (pids) => pids.length === 0);
  });
});

// The servers of this test end with it, which is not known for tests that run at the same time.
it('a server of a definition that demands a login is named as the commands for servers name it', async () => {
  const server = await startProtectedServer(await startAuthorizationServer());
  await using world = await openWorld({ script: script(1) });
  define(world, { scope: 'user', entry: { command: undefined, args: undefined, url: server.mcp } });
  const run = await world.run(['-p', 'go', ...ALLOW]);
  expect(run.stderr).toContain(
    'MCP server asker/own: it requires a login: run "muster mcp login asker/own"',
  );
  const login = world.start(['mcp', 'login', 'asker/own', '--no-browser']);
  const shown = Promise.withResolvers<void>();
  login.process.stderr?.on('data', (text: string) => {
    if (text.includes('/authorize')) shown.resolve();
  });
  await reach(login, shown.promise);
  login.process.kill('SIGINT');
  await login.finished;
});
