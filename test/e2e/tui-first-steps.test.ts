import { expect, it } from 'vitest';
import { toolResultRounds } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { lastResults, openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

inTerminal('the model gets the text that is typed below its question', async () => {
  await using world = await openWorld({
    files: { 'README.md': '# Cart\n' },
    script: (request) => {
      if (toolResultRounds(request) > 0) return { text: 'As you wish.' };
      const input = { question: 'Which rounding?', options: ['half up', 'half to even'] };
      return { toolCalls: [{ name: 'AskUser', input }] };
    },
  });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env });
  await terminal.sees('/help');
  // Agents whose descriptions have these letters are not offered in the place of the file.
  terminal.type('Round @read');
  await terminal.sees('→ README.md');
  terminal.press('Tab');
  await terminal.sees('Round @README.md');
  terminal.press('Enter');
  await terminal.sees('1–2 choose');
  terminal.press('Enter');
  await terminal.sees('type your answer, or ↓ chooses one');
  terminal.type('round down');
  await terminal.sees('your answer, below: enter sends it');
  terminal.press('Enter');
  await terminal.sees('As you wish.');
  expect(lastResults(world.model)[0]?.text).toContain('round down');
  terminal.type('/cst');
  terminal.press('Enter');
  await terminal.sees('did you mean /cost?');
  terminal.press('C-c');
  await terminal.sees('ctrl+c again leaves; the conversation can be resumed');
  terminal.press('C-c');
  await terminal.sees('exit 0');
});

inTerminal(
  'the keys beside hidden lines show them, and Esc leads back to the providers',
  async () => {
    await using world = await openWorld({
      bare: true,
      script: (request) =>
        toolResultRounds(request) > 0
          ? { text: 'There are thirty.' }
          : { toolCalls: [{ name: 'Bash', input: { command: 'seq 30' } }] },
    });
    using terminal = new TmuxTerminal(world.sandbox, ['--allow', 'Bash'], {
      env: { ...world.model.env('anthropic'), MUSTER_SANDBOX_KIND: 'off' },
    });
    await terminal.sees('/help');
    terminal.type('Count');
    terminal.press('Enter');
    await terminal.sees('There are thirty.');
    expect(terminal.screen()).toContain('lines before: ctrl+s v shows all');
    terminal.press('C-s', 'v');
    expect(await terminal.sees('esc closes')).toMatch(/^1\n2\n3$/m);
    terminal.press('Escape');
    await terminal.sees('esc back');
    terminal.press('Escape');
    await terminal.sees(/\[default\](?!.*esc back)/);
    terminal.type('/login');
    await terminal.sees('→ /login');
    terminal.press('Enter');
    await terminal.sees('Sign in to a provider');
    terminal.press('Enter');
    await terminal.sees('esc back to the list');
    terminal.press('Escape');
    await terminal.sees('Sign in to a provider');
    terminal.press('Escape');
    await terminal.sees('There are thirty.');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  },
);
