import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

inTerminal('a prompt on the command line is the first message of the UI', async () => {
  await using world = await openWorld({ script: () => ({ text: 'All of it is fine.' }) });
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, ['is it fine?'], { env: model.env('anthropic') });
  const screen = await terminal.sees('All of it is fine.');
  expect(screen).toContain('> is it fine?');
  terminal.type('exit');
  terminal.press('Enter');
  await terminal.sees('exit 0');
  // Without a terminal, nothing can be asked, and -p has to say that nobody is there.
  expect(await world.run(['is it fine?'])).toMatchObject({
    code: 2,
    stderr: 'muster: a run needs -p and a prompt: muster -p "…"\n',
  });
});
