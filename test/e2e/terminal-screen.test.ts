import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { BIN } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

const ANSWER = Array.from({ length: 40 }, (_each, index) => `line ${index + 1} of the answer`).join(
  '\n\n',
);

inTerminal('the status line, the title, and what remains after leaving', async () => {
  await using world = await openWorld({ script: () => ({ text: ANSWER }) });
  const { sandbox, model } = world;
  execFileSync('git', ['init', '-q', '-b', 'side', sandbox.workspace]);
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic'), size: [80, 24] });
  await terminal.sees('(side) · ');
  terminal.type('Count to forty');
  terminal.press('Enter');
  await terminal.sees('line 40 of the answer');
  await terminal.sees(/\d+ % /);
  expect(terminal.title()).toMatch(/^✓ .*: Count to forty$/);
  terminal.type('/export talk.md');
  terminal.press('Enter');
  await terminal.sees('the conversation is in');
  expect(readFileSync(join(sandbox.workspace, 'talk.md'), 'utf8')).toContain(
    '## User\n\nCount to forty\n',
  );
  terminal.press('C-c', 'C-c');
  const left = await terminal.sees('exit 0');
  expect(left).toContain('line 40 of the answer');
  expect(left).toMatch(/To continue this conversation: muster --resume \w+/);
  expect(left).not.toContain('line 1 of the answer');
});

inTerminal(
  'after kill -9 the next start restores the terminal, and so does the command',
  async () => {
    await using world = await openWorld({ script: () => ({ text: 'Here.' }) });
    const { sandbox, model } = world;
    const shell = ['bash', '--norc', '-i'];
    using terminal = new TmuxTerminal(sandbox, [], {
      env: { ...model.env('anthropic'), PS1: 'ready> ' },
      program: shell,
      size: [80, 24],
    });
    await terminal.sees('ready>');
    const start = async (): Promise<void> => {
      terminal.type(`clear; ${process.execPath} ${BIN}; echo left-$?`);
      terminal.press('Enter');
      await terminal.sees('/help');
    };
    const kill = async (): Promise<void> => {
      process.kill(terminal.programOf(BIN), 'SIGKILL');
      await terminal.sees('Killed');
      expect(terminal.modes()).toEqual({ alternate: '1', mouse: '1' });
    };
    await start();
    await kill();
    terminal.type(`clear; ${process.execPath} ${BIN} reset-terminal`);
    terminal.press('Enter');
    await terminal.sees('The terminal is restored.');
    expect(terminal.modes()).toEqual({ alternate: '0', mouse: '0' });
    await start();
    await kill();
    await start();
    terminal.press('C-c', 'C-c');
    await terminal.sees('left-0');
    expect(terminal.modes()).toEqual({ alternate: '0', mouse: '0' });
  },
);
