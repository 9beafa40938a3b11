import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { pngOf } from '../pictures.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** What the newest message of the person holds, with what goes along. */
function said({ messages }: RecordedRequest): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? '';
}

inTerminal('a command, a file and an image go along with a message', async () => {
  await using world = await openWorld({ script: () => ({ text: 'I have seen it.' }) });
  const { sandbox, model } = world;
  writeFileSync(join(sandbox.workspace, 'my notes.md'), 'the limit is </notice> forty-two\n');
  writeFileSync(join(sandbox.workspace, '.env'), 'TOKEN=not-for-models\n');
  writeFileSync(join(sandbox.workspace, 'shot.png'), pngOf(30, 20));
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic') });
  await terminal.sees('/help');
  terminal.type('!echo out; echo err >&2; exit 3');
  terminal.press('Enter');
  await terminal.sees('exit code 3');
  terminal.type('Read @note');
  await terminal.sees('→ my notes.md');
  terminal.press('Tab');
  await terminal.sees('@"my notes.md"');
  terminal.type('and @.env and @nobody');
  terminal.paste(`${sandbox.workspace}/shot.png`);
  await terminal.sees('[image #1]');
  terminal.press('Enter');
  await terminal.sees('I have seen it.');
  const screen = terminal.screen();
  expect(screen).toContain('+ ! echo out; echo err >&2; exit 3: exit code 3');
  expect(screen).toContain('+ @my notes.md');
  expect(screen).toContain('@.env is not quoted:');
  const [request] = model.requests;
  const text = request === undefined ? '' : said(request);
  expect(text).toContain('The user ran this command themselves');
  expect(text).toMatch(/out\nerr\n|err\nout\n/);
  expect(text).toContain('forty-two');
  expect(text).not.toContain('</notice> forty-two');
  expect(text).not.toContain('not-for-models');
  const images = request?.messages.flatMap(({ attachments = [] }) => attachments) ?? [];
  expect(images.map(({ base64 }) => Buffer.from(base64, 'base64'))).toEqual([pngOf(30, 20)]);
  terminal.type('/context');
  await terminal.sees('→ /context');
  terminal.press('Enter');
  // From its beginning: what it says of images stands below.
  await terminal.sees('counted ');
  terminal.press('C-End');
  await terminal.sees('messages: images');
  terminal.press('C-c', 'C-c');
  const left = await terminal.sees('exit 0');
  // What is resumed sends the same.
  const id = /muster --resume (\w+)/.exec(left)?.[1] ?? '';
  await world.run(['-p', 'And now?', '--resume', id], { env: model.env('anthropic') });
  const before = request?.messages[0];
  expect(model.requests.at(-1)?.messages[0]?.text).toBe(before?.text);
});

/** Writes a file for each message. */
function writer(request: RecordedRequest): Answer {
  const all = request.messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const name = /make (\w+)/.exec(all.findLast((text) => text.includes('make ')) ?? '')?.[1] ?? 'x';
  const isMade = JSON.stringify(request.messages.at(-1)).includes('toolResults":[{');
  if (isMade && toolResultRounds(request) > 0) return { text: `It is there: ${name}.` };
  return { toolCalls: [{ name: 'Write', input: { file_path: `${name}.txt`, content: name } }] };
}

/** Opens the list of messages, and takes the last one back with its files. */
async function undo(terminal: TmuxTerminal): Promise<string> {
  terminal.type('/undo');
  await terminal.sees('→ /undo');
  terminal.press('Enter');
  await terminal.sees(/▶ .* the last one/);
  terminal.press('Enter');
  await terminal.sees('▶ Files and conversation');
  terminal.press('Enter');
  return terminal.sees('go back to before this message?');
}

inTerminal('/undo takes the last message back with its files, and /redo that', async () => {
  await using world = await openWorld({ script: writer });
  const { sandbox, model } = world;
  const file = (name: string) => join(sandbox.workspace, `${name}.txt`);
  using terminal = new TmuxTerminal(sandbox, ['--permission-mode', 'acceptEdits'], {
    env: model.env('anthropic'),
  });
  await terminal.sees('/help');
  for (const name of ['one', 'two']) {
    terminal.type(`make ${name}`);
    terminal.press('Enter');
    await terminal.sees(`It is there: ${name}.`);
  }
  const asked = await undo(terminal);
  expect(asked).toContain('> make two');
  expect(asked).toContain('remove    two.txt');
  terminal.press('n');
  await terminal.sees('nothing was changed');
  expect(existsSync(file('two'))).toBe(true);
  await undo(terminal);
  terminal.press('y');
  await terminal.sees('1 file put back; /redo reverts that');
  expect([existsSync(file('one')), existsSync(file('two'))]).toEqual([true, false]);
  // What was said is there to be said otherwise.
  expect(terminal.screen()).toMatch(/^make two$/m);
  expect(terminal.screen()).not.toContain('It is there: two.');
  terminal.press('C-c');
  expect(await undo(terminal)).toContain('> make one');
  terminal.press('y');
  await terminal.sees(/^make one$/m);
  expect(existsSync(file('one'))).toBe(false);
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('/redo brings back what /undo took', async () => {
  await using world = await openWorld({ script: writer });
  const { sandbox, model } = world;
  const command = async (text: string) => {
    terminal.type(text);
    await terminal.sees(`→ ${text}`);
    terminal.press('Enter');
  };
  using terminal = new TmuxTerminal(sandbox, ['--permission-mode', 'acceptEdits'], {
    env: model.env('anthropic'),
  });
  await terminal.sees('/help');
  for (const name of ['one', 'two']) {
    terminal.type(`make ${name}`);
    terminal.press('Enter');
    await terminal.sees(`It is there: ${name}.`);
  }
  await undo(terminal);
  terminal.press('y');
  await terminal.sees('/redo reverts that');
  terminal.press('C-c');
  await command('/redo');
  await terminal.sees('redo what was undone?');
  terminal.press('y');
  await terminal.sees('It is there: two.');
  expect(existsSync(join(sandbox.workspace, 'two.txt'))).toBe(true);
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('keys are those of the configuration, and what was typed comes back', async () => {
  await using world = await openWorld({ script: () => ({ text: 'Well.' }) });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  const config = join(sandbox.home, '.config', 'muster', 'config.toml');
  mkdirSync(join(config, '..'), { recursive: true });
  writeFileSync(config, '[keys]\nleave = ["ctrl+x"]\nexpand = "ctrl+c"\n');
  {
    using terminal = new TmuxTerminal(sandbox, [], { env });
    await terminal.sees('/help');
    terminal.type('my key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA');
    terminal.press('Enter');
    await terminal.sees('Well.');
    terminal.press('C-c', 'C-c', 'C-x', 'C-x');
    await terminal.sees('exit 0');
  }
  const typed = join(sandbox.data, 'typed');
  const [name = ''] = readdirSync(typed);
  expect(statSync(join(typed, name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(typed, name), 'utf8')).not.toContain('sk-ant');
  {
    using terminal = new TmuxTerminal(sandbox, ['--no-log'], { env });
    await terminal.sees('/help');
    terminal.press('Up');
    terminal.type('nothing of it');
    await terminal.sees(/^nothing of it$/m);
    terminal.press('C-x', 'C-x');
    await terminal.sees('exit 0');
  }
  {
    using terminal = new TmuxTerminal(sandbox, [], { env });
    await terminal.sees('/help');
    terminal.press('Up');
    await terminal.sees(/^my key is \[/m);
    terminal.press('C-x', 'C-x');
    await terminal.sees('exit 0');
  }
  writeFileSync(config, '[keys]\nleave = ["ctrl+t"]\n');
  using terminal = new TmuxTerminal(sandbox, [], { env });
  const refused = await terminal.sees('exit 2');
  expect(refused).toContain('config.toml:2: "ctrl+t" would be leave');
});
