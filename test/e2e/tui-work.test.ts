import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));
const SIZE = [80, 24] as const;

const NOTES = Array.from({ length: 40 }, (_, index) => `note ${index + 1}`).join('\n');
/** Prints, waits for a file, and fails. */
const COMMAND = 'seq 1 300; while [ ! -e go ]; do sleep 0.05; done; echo over; exit 3';

function todos(...states: readonly string[]): Answer {
  const items = ['Write the notes', 'Run the checks'];
  return {
    toolCalls: [
      {
        name: 'TodoWrite',
        input: { todos: items.map((content, at) => ({ content, status: states[at] ?? '' })) },
      },
    ],
  };
}

function working(request: RecordedRequest): Answer {
  switch (toolResultRounds(request)) {
    case 0:
      return todos('in_progress', 'pending');
    case 1:
      return { toolCalls: [{ name: 'Write', input: { file_path: 'notes.md', content: NOTES } }] };
    case 2:
      return todos('completed', 'in_progress');
    case 3:
      return { toolCalls: [{ name: 'Bash', input: { command: COMMAND } }] };
    default:
      return { text: ANSWER };
  }
}

const ANSWER = `## Result

See [the docs](https://example.com/docs) &amp; this:

| check | count |
|---|--:|
| lint | 2 |
| tests | 31 |
`;

const ALLOWED = ['--permission-mode', 'acceptEdits', '--allow', 'Bash'];

inTerminal('the work is shown while it is done, hidden by a key, and opened in full', async () => {
  await using world = await openWorld({ script: working });
  const { sandbox, model } = world;
  mkdirSync(join(sandbox.home, '.config/muster'), { recursive: true });
  const config = join(sandbox.home, '.config/muster/config.toml');
  writeFileSync(config, '[keys]\nfocus-entries = "f8"\n');
  using terminal = new TmuxTerminal(sandbox, ALLOWED, { env: model.env('anthropic'), size: SIZE });
  await terminal.sees('/help');
  terminal.type('Go');
  terminal.press('Enter');
  // The end of the output of a running command, below the list and the cut change.
  const running = await terminal.sees(/^ {2}300$/m);
  expect(running).toMatch(
    /● Bash seq 1 300.* running\n {2}296\n {2}297\n {2}298\n {2}299\n {2}300\n/,
  );
  expect(running).toMatch(/✓ TodoWrite 1 of 2 done\n {2}✓ Write the notes\n {2}● Run the checks\n/);
  expect(running).toMatch(/ {2}19 \+ note 19\n {2}… 21 more lines: \S+ v shows all\n/);
  writeFileSync(join(sandbox.workspace, 'go'), '');
  const ended = await terminal.sees(/✗ Bash .*exit code 3, 301 lines/);
  expect(ended).toMatch(
    /… 296 lines before: \S+ v shows all\n {2}297\n {2}298\n {2}299\n {2}300\n {2}over\n/,
  );
  await terminal.sees('✓ Write');
  // In short, each call is one line.
  terminal.press('C-o');
  const short = await terminal.sees(/✓ Write notes.md .*\n✓ TodoWrite 1 of 2 done · Run/);
  expect(short).toMatch(/✓ TodoWrite 0 of 2 done · Write the notes\n/);
  expect(short).not.toContain('over');
  terminal.press('C-o');
  await terminal.sees('  over');
  // The output with hidden lines is selected first.
  terminal.press('F8', 'v');
  const full = await terminal.sees(/^command: seq|^Bash seq/m);
  expect(full.split('\n').at(23)).toMatch(/^lines 1–2\d of 30\d .*esc closes/);
  terminal.press('/');
  terminal.type('250');
  terminal.press('Enter');
  expect(await terminal.sees('match 1 of 1')).toMatch(/^250$/m);
  terminal.press('G');
  await terminal.sees('100 %');
  terminal.resize(60, 12);
  await terminal.sees(/^lines 28\d–29\d of 30\d/m);
  terminal.press('G');
  await terminal.sees(/^over$/m);
  terminal.press('q', 'Escape');
  await terminal.sees('/help');
});

inTerminal('an answer is markdown, with links that the terminal opens', async () => {
  await using world = await openWorld({ script: () => ({ text: ANSWER, chunks: 30, chunkMs: 5 }) });
  const { sandbox, model } = world;
  const env = { ...model.env('anthropic'), FORCE_HYPERLINK: '1' };
  using terminal = new TmuxTerminal(sandbox, [], { env, size: SIZE });
  const written = join(sandbox.root, 'written');
  terminal.record(written);
  await terminal.sees('/help');
  terminal.type('Go');
  terminal.press('Enter');
  const screen = await terminal.sees(/^tests │ +31$/m);
  expect(screen).toMatch(
    /^Result\n──────\n\nSee the docs & this:\n\ncheck │ count\n──────┼──────\nlint {2}│ {5}2\ntests │ {4}31$/m,
  );
  expect(readFileSync(written, 'utf8')).toContain('\u001b]8;;https://example.com/docs\u001b\\');
});

inTerminal('without knowing that links work, their targets are shown', async () => {
  await using world = await openWorld({ script: () => ({ text: ANSWER }) });
  const { sandbox, model } = world;
  const env = { ...model.env('anthropic'), TMUX: 'yes', KITTY_WINDOW_ID: '1' };
  using terminal = new TmuxTerminal(sandbox, [], { env, size: SIZE });
  await terminal.sees('/help');
  terminal.type('Go');
  terminal.press('Enter');
  await terminal.sees('See the docs (https://example.com/docs) & this:');
});

function planning(request: RecordedRequest): Answer {
  switch (toolResultRounds(request)) {
    case 0:
      return {
        toolCalls: [{ name: 'AskUser', input: { question: 'Which file?', options: ['a'] } }],
      };
    case 1:
      return {
        toolCalls: [{ name: 'ExitPlanMode', input: { plan: '# Plan\n\n1. Change **a**' } }],
      };
    default:
      return { text: 'It is planned.' };
  }
}

inTerminal('the plan and the answers to questions stay in view', async () => {
  await using world = await openWorld({ script: planning });
  const { sandbox, model } = world;
  const args = ['--permission-mode', 'plan'];
  using terminal = new TmuxTerminal(sandbox, args, { env: model.env('anthropic'), size: SIZE });
  await terminal.sees('/help');
  terminal.type('Go');
  terminal.press('Enter');
  await terminal.sees('tab to focus');
  terminal.press('Tab', '1');
  await terminal.sees('asks to carry out this plan');
  terminal.press('Tab', 'n');
  const screen = await terminal.sees('> no');
  expect(screen).toMatch(/✓ AskUser Which file\?\n {2}> a\n/);
  expect(screen).toMatch(
    /■ ExitPlanMode Plan .*\n {2}Plan\n {2}════\n\n {2}1. Change a\n {2}> no\n/,
  );
});

function editing(request: RecordedRequest): Answer {
  const file_path = 'notes.md';
  switch (toolResultRounds(request)) {
    case 0:
      return { toolCalls: [{ name: 'Read', input: { file_path } }] };
    case 1: {
      const input = { file_path, old_string: 'note 20\n', new_string: 'note twenty\n' };
      return { toolCalls: [{ name: 'Edit', input }] };
    }
    default:
      return { text: 'It is changed.' };
  }
}

inTerminal(
  'a change has the unchanged lines around it, also after the conversation is resumed',
  async () => {
    await using world = await openWorld({ script: editing });
    const { sandbox, model } = world;
    const env = model.env('anthropic');
    writeFileSync(join(sandbox.workspace, 'notes.md'), `${NOTES}\n`);
    const change =
      /✓ Edit notes.md .*\n {2}17 {3}note 17\n {2}18 {3}note 18\n {2}19 {3}note 19\n {2}20 - note 20\n {2}20 \+ note twenty\n {2}21 {3}note 21\n {2}22 {3}note 22\n {2}23 {3}note 23\n/;
    {
      using terminal = new TmuxTerminal(sandbox, ALLOWED, { env, size: SIZE });
      await terminal.sees('/help');
      terminal.type('Go');
      terminal.press('Enter');
      expect(await terminal.sees('It is changed.')).toMatch(change);
      terminal.press('C-c', 'C-c');
      await terminal.sees('exit 0');
    }
    using again = new TmuxTerminal(sandbox, ['--continue'], { env, size: SIZE });
    expect(await again.sees('It is changed.')).toMatch(change);
  },
);

inTerminal('millions of characters of output are scrolled and searched in full', async () => {
  const script = (request: RecordedRequest): Answer =>
    toolResultRounds(request) > 0
      ? { text: 'It is counted.' }
      : { toolCalls: [{ name: 'Bash', input: { command: 'seq 1 900000' } }] };
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  mkdirSync(join(sandbox.home, '.config/muster'), { recursive: true });
  const config = join(sandbox.home, '.config/muster/config.toml');
  writeFileSync(config, '[keys]\nfocus-entries = "f8"\n');
  using terminal = new TmuxTerminal(sandbox, ALLOWED, { env: model.env('anthropic'), size: SIZE });
  await terminal.sees('/help');
  terminal.type('Go');
  terminal.press('Enter');
  await terminal.sees('It is counted.');
  terminal.press('F8', 'v');
  await terminal.sees(/^lines 1–22 of 90000\d/m);
  terminal.press('G');
  await terminal.sees(/^900000$/m);
  terminal.press('g', '/');
  terminal.type('765432');
  terminal.press('Enter');
  expect(await terminal.sees('match 1 of 1')).toMatch(/^765432$/m);
  terminal.press('q', 'Escape');
  await terminal.sees('/help');
});
