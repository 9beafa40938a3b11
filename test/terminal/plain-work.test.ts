import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { Sandbox } from '../e2e/muster.ts';
import { bash, openWorld, type World } from '../e2e/world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import {
  configure,
  delegate,
  inTerminal,
  isChild,
  openLines,
  roundsOf,
  say,
  typedText,
} from './story.ts';

const BACKGROUND = { run_in_background: true };

/** The calls of the main agent by the first word of the message of the user. */
const CALLS: Readonly<Record<string, Answer>> = {
  background: { toolCalls: [delegate('look', 'look around', BACKGROUND)] },
  endless: { toolCalls: [delegate('endless', 'work on', BACKGROUND)] },
  child: { toolCalls: [delegate('touch', 'make a file')] },
  ask: { toolCalls: [bash('touch made')] },
};

function script(request: RecordedRequest): Answer {
  const said = typedText(request);
  if (isChild(request)) {
    if (said === 'once more') return { text: 'Looked once more.' };
    if (said === 'and again') return { text: 'Looked a third time.' };
    if (said === 'endless') return { delayMs: 60_000, text: 'late' };
    if (said === 'touch' && toolResultRounds(request) === 0) {
      return { toolCalls: [bash('touch made')] };
    }
    return { text: 'The child has looked.' };
  }
  if (said === 'work long') return { delayMs: 10_500, text: 'It took long.' };
  const call = roundsOf(request) === 0 ? CALLS[said.split(' ')[0] ?? ''] : undefined;
  return call ?? { text: `Over: ${said.replaceAll('\n', ' / ')}.` };
}

/** The environment of a user without a key. No provider can be reached. */
const NO_KEY = { HTTPS_PROXY: 'http://127.0.0.1:9' };
const KEY = 'sk-typed-key-0123456789';

function openFirst(
  sandbox: Sandbox,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TmuxTerminal {
  return new TmuxTerminal(sandbox, args, { env: { ...NO_KEY, ...env }, size: [80, 60] });
}

inTerminal('the first choice in plain lines takes a key, and then opens the UI', async () => {
  using sandbox = new Sandbox();
  using terminal = openFirst(sandbox, ['--screen-reader']);
  const offer = await terminal.sees('Choose 1, 2 or 3 (Ctrl+D quits):');
  expect(offer).toContain('Muster found no model');
  expect(offer).not.toMatch(/[┌│└─●▶]/u);
  // There is no local server, so the choice is offered again.
  terminal.type('2');
  terminal.press('Enter');
  await terminal.sees(/Choose 1, 2 or 3[^]*Choose 1, 2 or 3/);
  terminal.type('1');
  terminal.press('Enter');
  await terminal.sees('Provider (number or name):');
  terminal.type('openrouter');
  terminal.press('Enter');
  await terminal.sees('API key of OpenRouter (what you type is not shown):');
  terminal.paste(KEY);
  terminal.press('Enter');
  await terminal.sees('Store it anyway? [y/N]');
  terminal.type('y');
  terminal.press('Enter');
  const start = await terminal.sees('Type what you want done.');
  expect(start).toMatch(/model +openrouter\//);
  expect(start).not.toContain('sk-');
  expect(readFileSync(join(sandbox.data, 'credentials.json'), 'utf8')).toContain(KEY);
});

inTerminal('the first choice in plain lines goes on without a model, or leaves', async () => {
  using sandbox = new Sandbox({ 'retry.ts': 'const retryLimit = 3;\n' });
  {
    using terminal = openFirst(sandbox, [], { TERM: 'dumb' });
    await terminal.sees('Choose 1, 2 or 3');
    terminal.type('3');
    terminal.press('Enter');
    await terminal.sees('Type what you want done.');
    await say(terminal, 'Where is retryLimit?', /retry\.ts/);
  }
  using leaving = openFirst(sandbox, ['--screen-reader']);
  await leaving.sees('Choose 1, 2 or 3');
  leaving.press('C-d');
  await leaving.sees('exit 0');
});

const BELL = '\u0007';

/** Opens plain lines with a setting for notifications. Returns the terminal, and a count of the bells since. */
async function openWithBells(
  world: World,
  notify: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ terminal: TmuxTerminal; bells: () => number; written: () => string }> {
  configure(world, `[terminal]\nnotify = "${notify}"\n`);
  const terminal = await openLines(world, { env });
  const path = join(world.sandbox.root, 'written');
  terminal.record(path);
  const written = (): string => readFileSync(path, 'utf8');
  return { terminal, written, bells: () => written().split(BELL).length - 1 };
}

inTerminal.each([
  ['bell', {}, 1],
  ['bell', { TERM: 'dumb' }, 1],
  ['off', {}, 0],
  ['notify', {}, 1],
] as const)('a question calls in plain lines: %s, %j', async (notify, env, count) => {
  await using world = await openWorld({ script });
  const { terminal, bells } = await openWithBells(world, notify, env);
  using _ = terminal;
  await say(terminal, 'ask', 'Type y for once');
  await waitUntilPasses(() => expect(bells()).toBe(count));
  await say(terminal, 'n', 'the user said no to Bash touch made');
  expect(bells()).toBe(count);
});

inTerminal(
  'plain lines call in any case, because no terminal reports its focus to them',
  async () => {
    await using world = await openWorld({ script });
    const { terminal, bells, written } = await openWithBells(world, 'bell');
    using _ = terminal;
    // A stray report of the focus is neither typed, nor does it keep the bell silent.
    terminal.report('\u001b[I');
    await say(terminal, 'ask', 'Type y for once');
    await waitUntilPasses(() => expect(bells()).toBe(1));
    await say(terminal, 'n', 'the user said no to Bash touch made');
    await say(terminal, 'work long', 'It took long.');
    await terminal.sees(/It worked for 1\d s/);
    await waitUntilPasses(() => expect(bells()).toBe(2));
    expect(written()).not.toContain('\u001b[?1004h');
  },
);

inTerminal('a child is steered in plain lines, and each further reply has a line', async () => {
  await using world = await openWorld({ script });
  using terminal = await openLines(world, { size: [80, 40] });
  const begun = await say(
    terminal,
    'background',
    /Task \w+ general-purpose completed after .*: The child has looked\./,
  );
  const [, id = ''] = /Task (\w+) general-purpose begins in the background/.exec(begun) ?? [];
  await say(terminal, '/task-send', 'which one? /tasks lists their ids');
  await say(terminal, `/task-send ${id}`, 'type the message after the id');
  await say(terminal, '/task-send zzzz hello', 'zzzz means no task of this conversation');
  await say(
    terminal,
    `/task-send ${id} once more`,
    /general-purpose continues\n[^]*completed after .*: Looked once more\./,
  );
  await say(
    terminal,
    `/task-send ${id} and again`,
    /general-purpose continues\n[^]*completed after .*: Looked a third time\./,
  );
  const working = await say(
    terminal,
    'endless',
    /general-purpose begins in the background: work on/,
  );
  const [, endless = ''] =
    /Task (\w+) general-purpose begins in the background: work on/.exec(working) ?? [];
  await say(
    terminal,
    `/task-stop ${endless}`,
    /general-purpose stopped after .*the user stopped it/,
  );
  await say(terminal, `/task-stop ${endless}`, 'the task has already ended');
});

inTerminal('a child that was refused shows no mark of success in plain lines', async () => {
  await using world = await openWorld({ script });
  using terminal = await openLines(world, { size: [80, 40] });
  await say(terminal, 'child', 'Type y for once');
  await say(terminal, 'n', /Ready\./);
  expect(terminal.unbrokenLines().join('\n')).toMatch(
    /Task \w+ general-purpose completed, 1 call refused after .*: The child has/,
  );
  const listed = await say(terminal, '/tasks', /Tasks: 2\n[^]*make a file/);
  expect(listed).toMatch(/⊘ \w+ general-purpose: completed, 1 call refused: make a file/);
  expect(listed).not.toMatch(/✓ \w+ general-purpose/);
});

/** Creates an editor. Its first argument is the path of the text. */
function createEditor({ sandbox }: World, body: string): string {
  const path = join(sandbox.root, 'editor.sh');
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return path;
}

inTerminal.each([
  ['with a prompt', {}],
  ['with TERM=dumb', { TERM: 'dumb' }],
] as const)('/editor writes a long message in plain lines %s', async (_, env) => {
  await using world = await openWorld({ script });
  const editor = createEditor(
    world,
    'trap : INT; echo "editor open"; read -r line || read -r line; cat "$1"; printf "%s\\nsecond %s\\n" "$(cat "$1")" "$line" > "$1"',
  );
  using terminal = await openLines(world, { env: { EDITOR: editor, ...env } });
  await say(terminal, '/editor first', 'editor open');
  // The keys belong to the editor, also Ctrl+C.
  terminal.press('C-c');
  terminal.type('typed in it');
  terminal.press('Enter');
  const sent = await terminal.sees('Over: first / second typed in it.');
  expect(sent).toContain('You: first\n  second typed in it');
  await say(terminal, 'goes on', 'Over: goes on.');
});

inTerminal('/editor says in plain lines why nothing is sent', async () => {
  await using world = await openWorld({ script });
  {
    using terminal = await openLines(world);
    await say(terminal, '/editor', 'no editor is set: export EDITOR=nano, or VISUAL');
  }
  {
    const EDITOR = createEditor(world, ': > "$1"');
    using terminal = await openLines(world, { env: { EDITOR } });
    await say(terminal, '/editor draft', 'nothing was sent: the text is empty');
    await say(terminal, '/edit draft', 'nothing was sent: the text is empty');
  }
  const EDITOR = createEditor(world, 'exit 3');
  using terminal = await openLines(world, { env: { EDITOR } });
  await say(terminal, '/editor draft', 'ended with exit code 3; nothing was taken');
  expect(world.model.requests).toEqual([]);
});
