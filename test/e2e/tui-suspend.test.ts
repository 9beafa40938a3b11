import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Answer, RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { bash, callsInTurn, lastResults, openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

function script({ messages }: RecordedRequest): Answer {
  const said = JSON.stringify(messages.at(-1));
  return said.includes('slowly') ? { delayMs: 1_500, text: 'Slowly done.' } : { text: 'At once.' };
}

inTerminal(
  'Ctrl+Z gives the terminal to the shell, and fg goes on with what was at work',
  async () => {
    await using world = await openWorld({ script });
    const env = world.model.env('anthropic');
    using terminal = new TmuxTerminal(world.sandbox, [], { env, onStopped: 'fg' });
    await terminal.sees('/help');
    terminal.type('Do it slowly');
    terminal.press('Enter');
    await terminal.sees('> Do it slowly');
    terminal.press('C-z');
    // 128 + SIGTSTP, as the shell reports it.
    const shell = await terminal.sees('stopped 148');
    expect(shell).toContain('Muster and all its tasks are suspended: type fg to continue.');
    expect(shell).not.toContain('> Do it slowly');
    terminal.type('typed meanwhile');
    await terminal.sees('typed meanwhile');
    terminal.press('Enter');
    await terminal.sees('Slowly done.');
    expect(terminal.screen()).not.toContain('typed meanwhile');
    terminal.type('Another one');
    terminal.press('Enter');
    await terminal.sees('At once.');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  },
);

inTerminal('where nobody can stop it, the picture comes back', async () => {
  await using world = await openWorld({ script });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env });
  await terminal.sees('/help');
  terminal.press('C-z');
  // What is typed while the terminal is given back and taken again is nobody's.
  await sleep(500);
  terminal.type('Do it');
  terminal.press('Enter');
  await terminal.sees('> Do it');
  await terminal.sees('At once.');
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('a signal that ends it while it is suspended stops its tasks in order', async () => {
  await using world = await openWorld({ script });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env, onStopped: 'kill %1' });
  await terminal.sees('/help');
  terminal.type('Do it slowly');
  terminal.press('Enter');
  await terminal.sees('> Do it slowly');
  terminal.press('C-z');
  await terminal.sees('stopped 148');
  terminal.press('Enter');
  await terminal.sees('To continue this conversation');
});

inTerminal('draws nothing in the background, where the shell writes', async () => {
  await using world = await openWorld({ script });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env, onStopped: 'bg; sleep 1' });
  await terminal.sees('/help');
  terminal.press('C-z');
  await terminal.sees('stopped 148');
  terminal.press('Enter');
  expect(await terminal.sees('exit 0')).toContain('stopped 148');
});

inTerminal.each([
  { how: 'till fg', onStopped: 'fg', command: 'sleep 2; echo finished', stoppedMs: 4_500 },
  // In the background it is stopped once more, when it reaches for the terminal.
  {
    how: 'in the background',
    onStopped: 'bg; sleep 5; fg',
    command: 'sleep 2; echo finished',
    stoppedMs: 0,
  },
  {
    how: 'with more to read than a pipe holds',
    onStopped: 'fg',
    command: 'sleep 1.5; seq 1 30000; echo finished',
    stoppedMs: 4_500,
  },
])('no time limit runs out while it is suspended: $how', async (row) => {
  const calls = callsInTurn([bash(row.command)]);
  await using world = await openWorld({ script: calls });
  const env = {
    ...world.model.env('anthropic'),
    MUSTER_LIVENESS_TOOL_SECONDS: '4',
    MUSTER_SANDBOX_KIND: 'off',
  };
  const { onStopped } = row;
  using terminal = new TmuxTerminal(world.sandbox, ['--allow', 'Bash'], { env, onStopped });
  await terminal.sees('/help');
  terminal.type('Run it');
  terminal.press('Enter');
  await terminal.sees('Bash sleep');
  terminal.press('C-z');
  await terminal.sees('stopped 148');
  await sleep(row.stoppedMs);
  terminal.press('Enter');
  // Nobody is at work any more; "done" stands in the greeting, too.
  await terminal.sees('shift+tab mode');
  expect(lastResults(world.model).map(({ text }) => text)).toEqual([
    expect.stringMatching(/finished\n\[exit code 0\]$/),
  ]);
});
