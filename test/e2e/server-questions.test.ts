import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { BIN } from './muster.ts';
import { waitForMarked } from './processes.ts';
import { TmuxTerminal } from './tmux.ts';
import { callsInTurn, lastResults, openWorld, type World } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));
const ASKER = join(import.meta.dirname, '../mcp/servers/asker.cjs');

/** Opens a world with the server `demo`, whose tool the main agent calls. */
async function openAskingWorld(tool: string): Promise<World> {
  const world = await openWorld({
    script: callsInTurn([{ name: `mcp__demo__${tool}`, input: {} }]),
  });
  const file = join(world.sandbox.home, '.config/muster/mcp.json');
  mkdirSync(dirname(file), { recursive: true });
  const demo = { command: process.execPath, args: [ASKER] };
  writeFileSync(file, JSON.stringify({ mcpServers: { demo } }));
  // The terminal UI would learn the tools only a moment after its start.
  await world.run(['mcp', 'accept', 'demo']);
  return world;
}

/** The processes of a terminal whose program has ended: tmux and `cat`. */
const TERMINAL_PROCESSES = 2;

const ALLOW = ['--allow', 'mcp__demo'];

inTerminal('a form of a server is shown, checked, corrected and sent', async () => {
  await using world = await openAskingWorld('book');
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, ALLOW, {
    env: model.env('anthropic'),
    size: [80, 24],
  });
  await terminal.sees('/help');
  terminal.type('Book a room');
  terminal.press('Enter');
  const asked = await terminal.sees('tab to answer');
  expect(asked).toContain('passes on a question of MCP server demo');
  expect(asked).toContain('The MCP server demo asks this, not Muster.');
  expect(asked).toContain('> Which room do you want?');
  expect(asked).toContain('nights: whole number, 1 to 30, required, default 2');
  terminal.press('Tab', 't');
  await terminal.sees('nights: 2');
  terminal.press('Enter');
  await terminal.sees('the field city is required');
  terminal.press('Up', 'Up', 'Up', 'End');
  terminal.type('Oslo');
  await terminal.sees('city: Oslo');
  terminal.press('Enter');
  await terminal.sees(/✓ mcp__demo__book[^]*> city: Oslo; nights: 2; room: single/);
  await waitUntilPasses(() => expect(lastResults(model)).toHaveLength(1));
  expect(JSON.parse(lastResults(model)[0]?.text ?? '')).toEqual({
    action: 'accept',
    content: { city: 'Oslo', nights: 2, room: 'single' },
  });
});

inTerminal('a form of a server in plain lines', async () => {
  await using world = await openAskingWorld('confirm');
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, ['--screen-reader', ...ALLOW], {
    env: model.env('anthropic'),
  });
  await terminal.sees('Type what you want done.');
  terminal.type('go');
  terminal.press('Enter');
  const asked = await terminal.sees('Type t and your values');
  expect(asked).toContain('Question: main passes on a question of MCP server demo.');
  expect(asked).toContain('The MCP server demo asks this, not Muster.');
  terminal.type('t perhaps');
  terminal.press('Enter');
  await terminal.sees('sure: it must be yes or no');
  terminal.type('t sure: yes');
  terminal.press('Enter');
  await terminal.sees('Ready.');
  expect(lastResults(model)[0]?.text).toBe('{"action":"accept","content":{"sure":true}}');
});

inTerminal('a form that waits is withdrawn when Muster is killed', async () => {
  await using world = await openAskingWorld('book');
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, ALLOW, { env: model.env('anthropic') });
  await terminal.sees('/help');
  terminal.type('go');
  terminal.press('Enter');
  await terminal.sees('passes on a question of MCP server demo');
  const [open] = JSON.parse((await world.run(['tasks', 'answer', '--json'])).stdout);
  expect(open).toMatchObject({ kind: 'server', server: 'demo', url: null });
  process.kill(terminal.programOf(BIN), 'SIGKILL');
  await terminal.sees('exit 137');
  expect((await world.run(['tasks', 'answer'])).stdout).toBe('No question is open.\n');
  const late = await world.run(['tasks', 'answer', open.id, 'city: Oslo']);
  expect(late.stderr).toContain(
    `question ${open.id} is withdrawn: the process in which its server was waiting has ended`,
  );
  const resumed = await world.run(['--continue', '-p', 'go on', ...ALLOW]);
  expect(resumed.code).toBe(0);
  const results = model.requests.at(-1)?.messages.flatMap(({ toolResults }) => toolResults) ?? [];
  expect(results.map(({ text }) => text).join('\n')).toContain('Its outcome is unknown');
  await waitForMarked(world.mark, (pids) => pids.length <= TERMINAL_PROCESSES);
});

it('a form of a server in a run without a person is cancelled with a line that says so', async () => {
  await using world = await openAskingWorld('book');
  const run = await world.run(['-p', 'go', ...ALLOW]);
  expect(run.stderr).toContain(
    'main: MCP server demo has a question, which was cancelled. Nobody is here to answer (--on-ask deny). The question: Which room do you want?',
  );
  expect(lastResults(world.model)[0]?.text).toBe('{"action":"cancel"}');
});

it('a log message of a server is printed with --verbose', async () => {
  await using world = await openAskingWorld('log');
  const run = await world.run(['-p', 'go', ...ALLOW, '--verbose']);
  expect(run.stderr).toContain('! warning: main: MCP server demo (warning): disk is 90 % full');
});

it.each(['Elicitation', 'ElicitationResult'])(
  'a hook of %s declines for the user',
  async (event) => {
    await using world = await openAskingWorld('book');
    const { home, workspace } = world.sandbox;
    const input = join(workspace, 'input.json');
    const hook = { type: 'command', command: `cat > ${input}; exit 2` };
    mkdirSync(join(home, '.claude'));
    writeFileSync(
      join(home, '.claude/settings.json'),
      JSON.stringify({ hooks: { [event]: [{ matcher: 'demo', hooks: [hook] }] } }),
    );
    const run = await world.run(['-p', 'Book a room', ...ALLOW]);
    expect(run.code).toBe(0);
    expect(JSON.parse(lastResults(world.model)[0]?.text ?? '')).toEqual({ action: 'decline' });
    const asked = { message: 'Which room do you want?', requested_schema: { type: 'object' } };
    expect(JSON.parse(readFileSync(input, 'utf8'))).toMatchObject({
      hook_event_name: event,
      mcp_server_name: 'demo',
      mode: 'form',
      ...(event === 'Elicitation' ? asked : { action: 'cancel' }),
    });
  },
);
