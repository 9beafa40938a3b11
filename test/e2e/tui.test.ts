import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { envelopeOf, Sandbox } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** The main agent delegates what it is told to; a child asks, or works without an end. */
function script(request: RecordedRequest): Answer {
  const rounds = toolResultRounds(request);
  const said = JSON.stringify(request.messages);
  if (request.system.includes('subagent of Muster')) {
    if (said.includes('work on')) return { delayMs: 60_000, text: 'late' };
    if (rounds > 0) return { text: 'It was not to be.' };
    return { toolCalls: [{ name: 'Bash', input: { command: 'touch made' } }] };
  }
  if (said.includes('begin something long')) {
    if (rounds > 1) return { text: 'It was stopped.' };
    return delegation('work on', 'long work');
  }
  if (rounds === 0) return delegation('touch a file', 'make a file');
  return { text: 'The child was **refused**.', chunks: 3, chunkMs: 20 };
}

function delegation(prompt: string, description: string): Answer {
  const input = { prompt, description, subagent_type: 'general-purpose' };
  return { toolCalls: [{ name: 'Task', input }] };
}

inTerminal('a new user delegates, refuses, stops a child, leaves, and goes on', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  let id = '';
  {
    using terminal = new TmuxTerminal(sandbox, [], { env });
    const start = await terminal.sees('/help');
    expect(start).toMatch(/^Muster \d/);
    expect(start).toContain(sandbox.workspace);
    expect(start).toContain('anthropic/');
    terminal.type('Make a file');
    terminal.press('Enter');
    const asked = await terminal.sees('asks to run Bash');
    expect(asked).toContain('main > general-purpose');
    expect(asked).toContain('touch made');
    // While something is typed, no key is the question's.
    terminal.type('y');
    await terminal.sees(/^y$/m);
    terminal.press('BSpace', 'Tab');
    await terminal.sees('y once');
    terminal.press('n');
    await terminal.sees('The child was refused.');
    expect(existsSync(join(sandbox.workspace, 'made'))).toBe(false);
    terminal.type('begin something long');
    terminal.press('Enter');
    await terminal.sees('long work ·');
    terminal.resize(60, 20);
    await terminal.sees('long work ·');
    terminal.press('C-t', 'Down');
    await terminal.sees('enter open');
    terminal.press('Down', 's');
    await terminal.sees('It was stopped.');
    terminal.press('C-t');
    await terminal.sees('/help');
    terminal.press('C-c', 'C-c');
    const left = await terminal.sees('exit 0');
    id = /muster --resume (\w+)/.exec(left)?.[1] ?? '';
  }
  expect(id).not.toBe('');
  using again = new TmuxTerminal(sandbox, ['--resume', id], { env });
  const resumed = await again.sees('It was stopped.');
  expect(resumed).toContain('> begin something long');
  again.type('/usage');
  await again.sees('→ /usage');
  again.press('Enter');
  await again.sees('Usage of this conversation');
  again.press('C-c', 'C-c');
  await again.sees('exit 0');
});

inTerminal('what is left while it works is stopped, and can be resumed', async () => {
  await using world = await openWorld({ script });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env });
  await terminal.sees('/help');
  terminal.type('begin something long');
  terminal.press('Enter');
  await terminal.sees('long work ·');
  terminal.press('C-c', 'C-c');
  const left = await terminal.sees('exit 0');
  expect(left).toContain('To go on with this conversation: muster --resume');
  const { stdout } = await world.run(['tasks', 'list', '--all', '--json']);
  const tasks: readonly { readonly status: string }[] = JSON.parse(stdout);
  expect(tasks.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
});

inTerminal('it works with no key, in no repository, and without colour', async () => {
  using sandbox = new Sandbox({ 'retry.ts': 'export const retryLimit = 3;\n' });
  using terminal = new TmuxTerminal(sandbox, [], { env: { NO_COLOR: '1' }, size: [40, 20] });
  await terminal.sees('no model is configured');
  terminal.type('Where is retryLimit?');
  terminal.press('Enter');
  await terminal.sees('retry.ts');
  // oxlint-disable-next-line no-control-regex -- what is looked for
  expect(terminal.painted().replaceAll(/\u001b\[(?:7|27|39|49|0)?m/g, '')).not.toMatch(/\u001b\[/);
  terminal.type('/quit');
  await terminal.sees('→ /quit');
  terminal.press('Enter');
  await terminal.sees('exit 0');
});

it('without a terminal muster prints its help, or says what is missing', async () => {
  await using world = await openWorld();
  expect(await world.run(['--help'])).toMatchObject({ code: 0 });
  const bare = await world.run([]);
  expect([bare.code, bare.stdout]).toEqual([0, expect.stringContaining('Usage')]);
  const flagged = await world.run(['--model', 'x']);
  expect([flagged.code, flagged.stderr]).toEqual([
    2,
    'muster: a run needs -p and a prompt: muster -p "…"\n',
  ]);
  const run = await world.run(['-p', 'x', '--output-format', 'json']);
  expect(envelopeOf(run).status).toBe('success');
});

inTerminal('a signal from outside ends it in order, and the terminal is as it was', async () => {
  await using world = await openWorld({ script });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env });
  await terminal.sees('/help');
  terminal.type('begin something long');
  terminal.press('Enter');
  await terminal.sees('long work ·');
  const { stdout } = await world.run(['tasks', 'list', '--json']);
  const [task]: readonly { readonly id: string }[] = JSON.parse(stdout);
  const log = await world.run(['tasks', 'log', task?.id ?? '', '--json']);
  const pid = /"type":"task.claimed","pid":(\d+)/.exec(log.stdout)?.[1];
  process.kill(Number(pid), 'SIGTERM');
  const left = await terminal.sees('exit 143');
  expect(left).toContain('muster --resume');
  expect(left).not.toContain('long work');
  // What is typed is seen again: the terminal is not raw any more.
  terminal.type('typed');
  await terminal.sees(/^typed$/m);
});
