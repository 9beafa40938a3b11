import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../../src/api/index.ts';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';

const server = (id: string, changes: Partial<ServerStatus> = {}): ServerStatus => ({
  id,
  name: id,
  state: 'idle',
  scope: 'user',
  file: '/home/you/.config/muster/mcp.json',
  agent: null,
  target: `npx ${id}-server`,
  isSandboxed: false,
  tools: [],
  change: null,
  error: null,
  errorOutput: '',
  running: null,
  instructions: '',
  ...changes,
});

const HOSTILE = '\u001B[2J\u001B[31mred\u202E';
const ISSUES = server('issues', {
  state: 'connected',
  tools: [
    { name: 'list_issues', description: 'Lists the open issues.\nThe newest come first.' },
    { name: 'close', description: `Closes an issue.${HOSTILE}` },
  ],
  running: {
    title: 'issue-server 1.2',
    protocol: '2025-11-25',
    offers: ['tools', 'prompts'],
    connections: 1,
    workspaces: ['/data/workspaces/abcd1234/tree'],
    activeRequests: 0,
  },
  instructions: 'Ask before you close an issue.',
});
const SERVERS: readonly ServerStatus[] = [
  ISSUES,
  server('files', { tools: [{ name: 'read', description: 'Reads.' }] }),
  server('fresh', { state: 'unused', tools: null }),
  server('starting', { state: 'connecting', tools: null }),
  server('remote', {
    state: 'login',
    tools: null,
    target: 'https://mcp.example',
    error: 'MCP server remote: it requires a login',
  }),
  server('db', {
    id: 'tester/db',
    agent: 'tester',
    scope: 'project',
    file: '/home/you/project/.claude/agents/tester.md',
    isSandboxed: true,
    state: 'failed',
    error: `MCP server db: it could not be started: the process exited with code 3${HOSTILE}`,
    errorOutput: `cannot find the database\nset DB_URL${HOSTILE}`,
  }),
  server('docs', {
    state: 'changed',
    tools: [{ name: 'find', description: 'Finds a page.' }],
    change: { added: ['delete_all'], removed: [], changed: ['find'] },
  }),
  server('old', { state: 'disabled', tools: null }),
];

async function withServers(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage(options);
  stage.servers = SERVERS;
  return stage;
}

/** Opens the rows about the server that is found by a text. */
async function open(stage: Stage, text: string): Promise<void> {
  await stage.say('/mcp');
  await stage.emulator.type(text);
  await stage.emulator.press(KEYS.enter);
}

describe('/mcp', () => {
  it.each([
    [40, 12],
    [80, 24],
    [120, 30],
    [200, 60],
  ] as const)('lists the servers at %d × %d', async (columns, rows) => {
    await using stage = await withServers({ columns, rows });
    await stage.say('/mcp');
    expect(await stage.screen()).toMatchSnapshot();
  });

  it.each([
    [40, 12],
    [100, 40],
  ] as const)(
    'shows what can be done with a server, and its tools, at %d × %d',
    async (columns, rows) => {
      await using stage = await withServers({ columns, rows });
      await open(stage, 'issues');
      expect(await stage.screen()).toMatchSnapshot();
    },
  );

  it('opens everything about a server that has failed', async () => {
    await using stage = await withServers();
    await open(stage, 'db');
    await stage.emulator.press(KEYS.enter);
    const screen = await stage.screen();
    expect(screen).toMatchSnapshot();
    expect(screen).not.toContain('\u202E');
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).not.toContain('DB_URL');
  });

  it('opens the description of a tool', async () => {
    await using stage = await withServers({ columns: 40, rows: 12 });
    await open(stage, 'issues');
    await stage.emulator.type('list_');
    await stage.emulator.press(KEYS.enter);
    expect(await stage.screen()).toContain('The newest come first.');
  });

  it('follows the states', async () => {
    await using stage = await withServers();
    await stage.say('/mcp');
    stage.changeServers([server('fresh', { state: 'connected', tools: [] })]);
    await expect.poll(() => stage.screen()).toMatch(/● fresh +connected +0 tools +user/);
    expect(await stage.screen()).toContain('1 of 1');
  });

  it.each([
    ['docs', 'Accept', 'accept docs'],
    ['docs', 'Start', 'restart docs'],
    ['issues', 'Restart', 'restart issues'],
    ['issues', 'Disable', 'disable issues'],
    ['old', 'Enable', 'enable old'],
  ])('of %s: %s', async (id, row, done) => {
    await using stage = await withServers();
    await open(stage, id);
    await stage.emulator.type(row);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.servers).toEqual([done]);
    // The list shows what comes of it.
    expect(await stage.screen()).toContain('MCP servers');
  });

  it('says how to log in', async () => {
    await using stage = await withServers();
    await stage.say('/mcp restart remote');
    await stage.emulator.press(KEYS.escape);
    expect(await stage.screen()).toContain('type !!muster mcp login remote');
    expect(stage.asked.servers).toEqual(['restart remote']);
  });

  it('says what cannot be done while another process is watched', async () => {
    const watched = {
      id: 'mainmain',
      isAtWork: false,
      isWatched: true,
      select: () => {},
      send: () => {},
      withdraw: () => [],
      continueWork: () => {},
      resumeTask: () => {},
    };
    await using stage = await withServers({ watched });
    await stage.say('/mcp');
    const list = await stage.screen();
    expect(list).toContain('states are known only where it runs');
    expect(list).not.toContain('connected');
    await stage.emulator.type('issues');
    await stage.emulator.press(KEYS.enter);
    expect(await stage.screen()).not.toContain('Restart');
    await stage.emulator.press(KEYS.escape);
    await stage.say('/mcp restart issues');
    expect(await stage.screen()).toContain('only where the conversation runs');
    expect(stage.asked.servers).toEqual([]);
  });
});

describe('the first message', () => {
  it('waits for servers whose tools are not known', async () => {
    await using stage = await withServers();
    stage.awaitedServers = ['demo', 'other'];
    await stage.say('Hello');
    const waiting = await stage.screen();
    expect(waiting).toContain('Your message waits for the MCP servers demo, other');
    expect(waiting).toContain('waits for demo, other');
    expect(waiting).toContain('esc goes on without');
    stage.serversAnswered.resolve();
    await expect.poll(() => stage.screen()).toContain('Hello');
    expect(await stage.screen()).not.toContain('without the tools');
  });

  it('goes on without them when the user says so', async () => {
    await using stage = await withServers();
    stage.awaitedServers = ['demo'];
    await stage.say('Hello');
    await stage.emulator.press(KEYS.escape);
    await expect.poll(() => stage.screen()).toContain('Hello');
    expect(await stage.screen()).toContain('without the tools of the MCP server demo:');
  });
});
