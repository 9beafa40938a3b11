import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { lastUserText, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld } from '../e2e/world.ts';
import {
  delegate,
  inTerminal,
  isChild,
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
