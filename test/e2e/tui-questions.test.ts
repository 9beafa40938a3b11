import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));
const CHILDREN = 12;

/** The main agent does what it is told to; each child touches its own file. */
function script(request: RecordedRequest): Answer {
  const rounds = toolResultRounds(request);
  const said = JSON.stringify(request.messages);
  const number = /touch file (\d+)/.exec(said)?.[1];
  if (request.system.includes('subagent of Muster')) {
    if (rounds > 0) return { text: 'Touched.' };
    return { toolCalls: [{ name: 'Bash', input: { command: `touch made-${number}` } }] };
  }
  if (said.includes('Write two files')) {
    if (rounds > 1) return { text: 'Both are written.' };
    const file_path = rounds === 0 ? 'one.txt' : 'two.txt';
    return { toolCalls: [{ name: 'Write', input: { file_path, content: 'text\n' } }] };
  }
  if (said.includes('Remove it')) {
    if (said.includes('Only look')) return { text: 'I looked.' };
    return { toolCalls: [{ name: 'Bash', input: { command: 'rm -r build' } }] };
  }
  if (rounds > 0) return { text: 'All children are done.' };
  return {
    toolCalls: Array.from({ length: CHILDREN }, (_, index) => ({
      name: 'Task',
      input: {
        prompt: `touch file ${index}`,
        description: `file ${index}`,
        subagent_type: 'general-purpose',
      },
    })),
  };
}

inTerminal('two keys answer twelve children, which is shown before the second', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic'), size: [100, 50] });
  await terminal.sees('/help');
  terminal.type('Touch twelve files');
  terminal.press('Enter');
  await terminal.sees('answer all 12 similar alike');
  const asked = await terminal.sees('1 of 12');
  expect(asked).toContain('“file 0” asks to run Bash');
  expect(asked).toContain('a always (conversation): Bash(touch made-0) · p always (project)');
  // The key is typed, and is an answer once nothing follows: until then it would be the start of a message.
  while (!terminal.screen().includes('only this one')) {
    if (!/^A+$/m.test(terminal.screen())) terminal.type('A');
    else terminal.press('BSpace');
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  expect(terminal.screen()).toContain('and general-purpose “file 1”:');
  // It answers once what was out of view before has been on the screen for a while.
  while (terminal.screen().includes('only this one')) {
    terminal.type('y');
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  await terminal.sees('All children are done.');
  expect(readdirSync(sandbox.workspace).filter((name) => name.startsWith('made-'))).toHaveLength(
    CHILDREN,
  );
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('a plain no ends the turn of the main agent and returns the prompt', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic') });
  await terminal.sees('/help');
  terminal.type('Remove it');
  terminal.press('Enter');
  await terminal.sees('rm -r build');
  terminal.press('Tab');
  await terminal.sees('esc later');
  terminal.type('n');
  const ended = await terminal.sees('the user said no to Bash rm -r build');
  expect(ended).toContain('⊘ Bash rm -r build');
  const requests = model.requests.length;
  terminal.type('Only look');
  terminal.press('Enter');
  await terminal.sees('I looked.');
  expect(model.requests).toHaveLength(requests + 1);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(
    'The user was asked and said no.',
  );
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('shift+tab in the question of an edit accepts edits from then on', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic') });
  await terminal.sees('/help');
  terminal.type('Write two files');
  terminal.press('Enter');
  const asked = await terminal.sees('accept edits from here on');
  // The path is relative to the directory.
  expect(asked).toMatch(/^│ one\.txt$/m);
  terminal.press('Tab');
  await terminal.sees('esc later');
  terminal.press('BTab');
  await terminal.sees('Both are written.');
  await terminal.sees('[acceptEdits]');
  expect(existsSync(join(sandbox.workspace, 'two.txt'))).toBe(true);
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});
