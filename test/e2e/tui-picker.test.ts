import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** Edits a file when it is told to, and otherwise repeats the number of the request. */
function script(request: RecordedRequest): Answer {
  const said = JSON.stringify(request.messages.at(-1));
  if (said.includes('Change the file') && toolResultRounds(request) === 0) {
    return { toolCalls: [{ name: 'Write', input: { file_path: 'a.txt', content: 'new\n' } }] };
  }
  return { text: 'Done.' };
}

inTerminal('a conversation of yesterday is found by typing a part of its title', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  for (const prompt of ['Where is the retry limit? It fails.', 'Explain the cache']) {
    await world.run(['-p', prompt]);
  }
  const none = await world.run(['--resume']);
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringContaining('muster tasks list --here` shows the conversations'),
  ]);
  {
    using lines = new TmuxTerminal(sandbox, ['--resume', '--screen-reader'], { env });
    await lines.sees('Conversations here: 2');
    await lines.sees('/resume ID continues one of them');
  }
  using terminal = new TmuxTerminal(sandbox, ['--resume'], { env, size: [80, 24] });
  const listed = await terminal.sees('Where is the retry limit?');
  expect(listed).toContain('Explain the cache');
  expect(listed).toMatch(/1 of 2 · this directory/);
  terminal.type('rtry lim');
  const filtered = await terminal.sees('1 match of 2');
  expect(filtered).not.toContain('Explain the cache');
  await terminal.sees('first message: Where is the retry limit? It fails.');
  terminal.press('Enter');
  await terminal.sees('> Where is the retry limit? It fails.');
  // The message of another conversation is found in the history of the directory.
  terminal.type('Change nothing');
  terminal.press('Enter');
  await terminal.sees('> Change nothing');
  terminal.press('C-r');
  await terminal.sees('Messages that you typed');
  terminal.type('nothing');
  await terminal.sees('▶ Change nothing');
  terminal.press('Enter');
  await terminal.sees('/help');
  expect(terminal.screen()).toMatch(/^Change nothing$/m);
});

inTerminal('a message is chosen, and only the files go back', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const file = join(sandbox.workspace, 'a.txt');
  const env = model.env('anthropic');
  using terminal = new TmuxTerminal(sandbox, ['--permission-mode', 'acceptEdits'], {
    env,
    size: [80, 24],
  });
  await terminal.sees('/help');
  terminal.type('Change the file');
  terminal.press('Enter');
  await terminal.sees('Done.');
  expect(readFileSync(file, 'utf8')).toBe('new\n');
  terminal.type('And now?');
  terminal.press('Enter');
  await terminal.sees('> And now?');
  await terminal.sees(/> And now\?\s+Done\./);
  terminal.type('/undo');
  await terminal.sees('→ /undo');
  terminal.press('Enter');
  await terminal.sees('And now? the last one');
  terminal.type('change');
  await terminal.sees('▶ Change the file');
  terminal.press('Enter');
  await terminal.sees('Only the conversation');
  terminal.press('Down', 'Down', 'Enter');
  const asked = await terminal.sees('put the files back to before this message?');
  expect(asked).toContain('conversation: it stays as it is');
  terminal.press('y');
  await terminal.sees('1 file put back; /redo reverts that');
  expect(() => readFileSync(file)).toThrow('ENOENT');
  expect(terminal.screen()).toContain('> And now?');
  terminal.type('/redo');
  await terminal.sees('→ /redo');
  terminal.press('Enter');
  await terminal.sees('redo what was undone?');
  terminal.press('y');
  await terminal.sees(/1 file put back *$/m);
  expect(readFileSync(file, 'utf8')).toBe('new\n');
});

inTerminal('agents, tasks and models are chosen from lists', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  writeFileSync(join(sandbox.workspace, 'b.txt'), 'b\n');
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic'), size: [120, 30] });
  await terminal.sees('/help');
  terminal.type('/agents');
  await terminal.sees('→ /agents');
  terminal.press('Enter');
  await terminal.sees('names it in the message');
  terminal.type('expl');
  expect(await terminal.sees('▶ Explore')).toContain('file   builtin:explore');
  terminal.press('Enter');
  await terminal.sees(/^@Explore/m);
  terminal.press('C-c');
  terminal.type('/model');
  await terminal.sees('→ /model');
  terminal.press('Enter');
  await terminal.sees('Choose a model');
  await terminal.sees(/in use|anthropic\//);
  terminal.press('Escape');
  await terminal.sees('/help');
  terminal.type('/model anthropic/claude-nonsense-9');
  terminal.press('Enter');
  await terminal.sees('no provider has a model');
});
