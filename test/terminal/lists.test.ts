import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { lastUserText, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { openWorld } from '../e2e/world.ts';
import {
  delegate,
  inTerminal,
  isChild,
  leave,
  openTerminal,
  roundsOf,
  run,
  send,
  typedText,
} from './story.ts';

function script(request: RecordedRequest): Answer {
  if (isChild(request)) return { text: '### Found\n\nIt is in `a.ts`.' };
  if (roundsOf(request) > 0) return { text: 'Done.' };
  const said = typedText(request);
  if (said.includes('look')) return { toolCalls: [delegate('look', 'look around')] };
  if (!said.includes('write')) return { text: 'Noted.' };
  const file_path = `${said.split(' ').at(-1)}.txt`;
  return { toolCalls: [{ name: 'Write', input: { file_path, content: 'x\n' } }] };
}

inTerminal('any conversation, task and agent is found in a list', async () => {
  await using world = await openWorld({ script });
  await world.run(['-p', 'Explain the cache']);
  {
    const env = world.model.env('anthropic');
    using list = new TmuxTerminal(world.sandbox, ['--resume', 'zzzz'], { env, size: [80, 24] });
    const offered = await list.sees('▶ ✓ Explain the cache');
    expect(offered).toContain('there is no conversation zzzz: choose one');
    list.press('Enter');
    await list.sees('> Explain the cache');
    await leave(list);
  }
  using terminal = await openTerminal(world);
  await send(terminal, 'look');
  await terminal.sees('Done.');
  await run(terminal, '/tasks');
  await terminal.sees('enter opens');
  terminal.type('around');
  const tasks = await terminal.sees(/▶ +✓ .*look around/);
  expect(tasks).toContain('1 match of 2');
  expect(tasks).not.toContain('###');
  terminal.press('Enter');
  const opened = await terminal.sees(/← general-purpose \w+: look around/);
  expect(opened).toMatch(/^Found$/m);
  terminal.press('Escape');
  await terminal.sees('Done.');
  await run(terminal, '/agents');
  terminal.type('expl');
  await terminal.sees('▶ Explore');
  terminal.press('Enter');
  await terminal.sees(/^@Explore/m);
  terminal.press('C-c');
  await run(terminal, '/model');
  await terminal.sees('Choose a model');
  // The list that the provider reports replaces the stored one.
  await terminal.sees('1 of 1');
  terminal.type('fake');
  await terminal.sees(/▶ .*fake-model/);
  terminal.press('Enter');
  await terminal.sees('from the next message on');
  await send(terminal, '/resume zzzz');
  await terminal.sees('there is no conversation zzzz: choose one');
  await terminal.sees('Explain the cache');
  terminal.type('cache');
  await terminal.sees('▶ ✓ Explain the cache');
  terminal.press('Enter');
  await terminal.sees('> Explain the cache');
});

inTerminal('any message is taken back: the conversation, or all of it', async () => {
  await using world = await openWorld({ script });
  const made = (name: string): boolean => existsSync(join(world.sandbox.workspace, `${name}.txt`));
  using terminal = await openTerminal(world, { args: ['--permission-mode', 'acceptEdits'] });
  for (const name of ['one', 'two', 'three']) {
    await send(terminal, `write ${name}`);
    await terminal.sees(new RegExp(`> write ${name}[^]*Done\\.[^]*/help`));
  }
  const undo = async (message: string): Promise<void> => {
    await run(terminal, '/undo');
    await terminal.sees('Go back to before a message');
    terminal.type(message);
    await terminal.sees(`▶ write ${message}`);
    terminal.press('Enter');
    await terminal.sees('Only the conversation');
  };
  await undo('three');
  terminal.press('Down', 'Enter');
  await terminal.sees('and keep the files?');
  terminal.press('y');
  await terminal.sees('went back; all files stay');
  await terminal.sees(/^write three$/m);
  expect(made('three')).toBe(true);
  terminal.press('C-c');
  await undo('two');
  terminal.press('Enter');
  await terminal.sees('go back to before this message?');
  terminal.press('y');
  await terminal.sees(/files? put back/);
  await terminal.sees(/^write two$/m);
  expect([made('one'), made('two')]).toEqual([true, false]);
});

inTerminal('completions of commands and files are narrowed by typing', async () => {
  await using world = await openWorld({ script, files: { 'src/limits.ts': 'x\n', 'b.ts': 'b\n' } });
  using terminal = await openTerminal(world);
  terminal.type('/per');
  await terminal.sees('→ /permissions');
  terminal.press('C-c');
  terminal.type('See @lim');
  await terminal.sees('→ src/limits.ts');
  terminal.press('Tab');
  await terminal.sees('See @src/limits.ts');
  terminal.type(' and @nosuch.ts');
  await terminal.sees('@nosuch.ts');
  terminal.press('Enter');
  await terminal.sees('Noted.');
  const screen = terminal.screen();
  expect(screen).toContain('+ @src/limits.ts');
  expect(screen).toContain('@nosuch.ts: there is no such file, so the text is sent as it is');
  expect(lastUserText(world.model.requests.at(-1) ?? { messages: [] })).toContain('@nosuch.ts');
});

inTerminal('the context file is edited from its list', async () => {
  await using world = await openWorld({ script });
  const { sandbox } = world;
  writeFileSync(join(sandbox.workspace, 'AGENTS.md'), 'Be brief.\n');
  using terminal = await openTerminal(world, { env: { VISUAL: 'sed -i s/brief/short/' } });
  await run(terminal, '/memory');
  await terminal.sees('▶ AGENTS.md');
  terminal.press('Enter');
  await terminal.sees(/AGENTS\.md was changed/);
  expect(readFileSync(join(sandbox.workspace, 'AGENTS.md'), 'utf8')).toBe('Be short.\n');
});
