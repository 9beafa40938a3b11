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
    terminal.type('yes');
    await terminal.sees(/^yes$/m);
    terminal.press('BSpace', 'BSpace', 'BSpace', 'Tab');
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
    expect(await terminal.sees('It was stopped.')).toContain('■ Task general-purpose: long work');
    // The editor has the keys again, because no child is at work any more.
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
  expect(left).toContain('To continue this conversation: muster --resume');
  const { stdout } = await world.run(['tasks', 'list', '--all', '--json']);
  const tasks: readonly { readonly status: string }[] = JSON.parse(stdout);
  expect(tasks.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
});

/** The main agent sends a child to the background, and is slow to say what it does next. */
function slowToSpeak({ system, messages }: RecordedRequest): Answer {
  const said = JSON.stringify(messages);
  if (system.includes('subagent of Muster')) return { delayMs: 5_000, text: 'All was counted.' };
  if (said.includes('All was counted.')) return { text: 'The count is there.' };
  if (said.includes('another way')) return { text: 'As you say.' };
  if (said.includes('runs in the background')) return { delayMs: 60_000, text: 'too late' };
  const input = { prompt: 'count', description: 'count all', run_in_background: true };
  return { toolCalls: [{ name: 'Task', input }] };
}

inTerminal('esc ends the turn, and what runs in the background is heard of', async () => {
  await using world = await openWorld({ script: slowToSpeak });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env });
  await terminal.sees('/help');
  terminal.type('Count all');
  terminal.press('Enter');
  await terminal.sees(/bg count all ·/);
  terminal.press('Escape');
  await terminal.sees('interrupted; esc again stops 1 background task');
  await terminal.sees('the user interrupted it');
  terminal.type('Do it another way');
  terminal.press('Enter');
  await terminal.sees('As you say.');
  await terminal.sees('The count is there.');
  expect(terminal.screen()).not.toContain('too late');
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
  const { stdout } = await world.run(['tasks', 'list', '--all', '--json']);
  const tasks: readonly { readonly status: string }[] = JSON.parse(stdout);
  expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
});

/** The main agent writes before it may, shows its plan twice, and writes again. */
function planner(request: RecordedRequest): Answer {
  const input = { file_path: 'made.txt', content: 'made as planned' };
  const write = { toolCalls: [{ name: 'Write', input }] };
  const show = { toolCalls: [{ name: 'ExitPlanMode', input: { plan: '1. Write **made.txt**' } }] };
  return [write, show, show, write][toolResultRounds(request)] ?? { text: 'It is written.' };
}

inTerminal('in plan mode nothing is changed before the plan is approved', async () => {
  await using world = await openWorld({ script: planner });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, ['--permission-mode', 'plan'], { env });
  await terminal.sees('[plan]');
  terminal.type('Make a file');
  terminal.press('Enter');
  await terminal.sees('asks to carry out this plan');
  expect(terminal.screen()).toContain('1. Write made.txt');
  const made = join(world.sandbox.workspace, 'made.txt');
  expect(existsSync(made)).toBe(false);
  terminal.press('Tab');
  await terminal.sees('y approve');
  terminal.press('r');
  await terminal.sees('why not?');
  terminal.type('in capitals');
  terminal.press('Enter');
  // Not the one that was just answered.
  await terminal.sees(/✗ ExitPlanMode[^]*asks to carry out this plan/);
  terminal.press('Tab');
  await terminal.sees('y approve');
  terminal.press('a');
  await terminal.sees('It is written.');
  await terminal.sees('[acceptEdits]');
  expect(existsSync(made)).toBe(true);
  // What was approved holds, though the start asked for plan mode.
  terminal.type('Go on');
  terminal.press('Enter');
  await terminal.sees(/> Go on[^]*It is written\.[^]*\[acceptEdits\]/);
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

/** The main agent shows a plan, and writes once it may. */
function oneShot(request: RecordedRequest): Answer {
  const show = { toolCalls: [{ name: 'ExitPlanMode', input: { plan: '1. Write made.txt' } }] };
  const input = { file_path: 'other.txt', content: 'made as changed' };
  const write = { toolCalls: [{ name: 'Write', input }] };
  return [show, write][toolResultRounds(request)] ?? { text: 'It is written.' };
}

inTerminal('a plan is changed by the person, and the model reads it so', async () => {
  await using world = await openWorld({ script: oneShot });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env });
  await terminal.sees('[default]');
  // Over acceptEdits and autonomous, before anything was said.
  terminal.press('BTab', 'BTab', 'BTab');
  await terminal.sees('[plan]');
  terminal.type('Make a file');
  terminal.press('Enter');
  await terminal.sees('asks to carry out this plan');
  terminal.press('Tab');
  await terminal.sees('e change it');
  terminal.press('e');
  await terminal.sees('1. Write made.txt');
  terminal.press('C-u');
  terminal.type('1. Write other.txt');
  terminal.press('Enter');
  await terminal.sees('asks to run Write');
  await terminal.sees('[default]');
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).toContain(
    'changed the plan and approved it so. The mode is default now. Carry this out:\\n\\n1. Write other.txt',
  );
  terminal.press('Tab');
  await terminal.sees('y once');
  terminal.press('y');
  await terminal.sees('It is written.');
  expect(existsSync(join(world.sandbox.workspace, 'other.txt'))).toBe(true);
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('it works with no key, in no repository, and without colour', async () => {
  using sandbox = new Sandbox({ 'retry.ts': 'export const retryLimit = 3;\n' });
  using terminal = new TmuxTerminal(sandbox, [], { env: { NO_COLOR: '1' }, size: [40, 20] });
  await terminal.sees('› Sign in');
  terminal.press('Down', 'Down');
  await terminal.sees('› Go on without');
  terminal.press('Enter');
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
