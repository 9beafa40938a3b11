import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyTree } from '../../../src/front/tui/model/task-tree.ts';
import { windowTitle } from '../../../src/front/tui/view/window-title.ts';
import { WindowTitle } from '../../../src/front/tui/terminal/window-title.ts';
import { update } from '../../../src/front/tui/update/update.ts';
import type { AppState } from '../../../src/front/tui/model/app-state.ts';
import { CONTEXT, stateOf } from './update/fixtures.ts';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

const FAILURE = { kind: 'overloaded', message: 'overloaded', retryable: true } as never;

function retried(attempt: number, waitMs = 8_000) {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  return { type: 'turn.retried', turn: 1, attempt, failure: FAILURE, waitMs, usage } as const;
}

it('reports long work at its end, with what it used', async () => {
  await using stage = new Stage();
  await stage.say('Do it');
  stage.ask('mainmain');
  stage.pass(42_000);
  stage.answer('mainmain', 'It is done.');
  const screen = await stage.screen();
  expect(screen).toContain('· worked for 42 s · 1.2k tok · $0.0100');
  stage.end('mainmain');
  expect((await stage.screen()).match(/worked for/g)).toHaveLength(1);
});

it('does not report short work, or an answer with calls', async () => {
  await using stage = new Stage();
  await stage.say('Do it');
  stage.pass(3_000);
  stage.answer('mainmain', 'First.');
  expect(await stage.screen()).not.toContain('worked for');
  stage.ask('mainmain');
  stage.pass(9_000);
  stage.call('mainmain', 'c1', 'Read', { file_path: 'a' });
  expect(await stage.screen()).not.toContain('worked for');
});

it('counts the tries of a request on one line, with the time to the next one', async () => {
  await using stage = new Stage();
  await stage.say('Do it');
  stage.write('mainmain', {
    type: 'task.started',
    settings: { retries: 9, noProgressCalls: 5 },
  });
  stage.ask('mainmain');
  stage.write('mainmain', retried(1), retried(2));
  expect(await stage.screen()).toContain('! overloaded: try 3 of 10 in 8 s');
  stage.pass(3_000);
  expect(stage.drawn()).toContain('! overloaded: try 3 of 10 in 5 s');
  stage.pass(9_000);
  expect(stage.drawn()).toMatch(/! overloaded: try 3 of 10 *\n/);
  stage.answer('mainmain', 'It is done.');
  const screen = await stage.screen();
  expect(screen).toContain('! overloaded: asked again 2 times');
  expect(screen.match(/overloaded/g)).toHaveLength(1);
});

it('calls the user at the end of long work, unless the user has ended it', async () => {
  const bells = async (play: (stage: Stage) => void, ms: number): Promise<number> => {
    await using stage = new Stage();
    await stage.say('Do it');
    stage.ask('mainmain');
    stage.pass(ms);
    const before = stage.emulator.bells;
    play(stage);
    await stage.screen();
    return stage.emulator.bells - before;
  };
  const answer = (stage: Stage) => stage.answer('mainmain', 'Done.');
  const interrupt = (stage: Stage) =>
    stage.write('mainmain', { type: 'turn.interrupted', input: 'i', because: 'the user did' });
  expect(await bells(answer, 30_000)).toBe(1);
  expect(await bells(answer, 9_000)).toBe(0);
  expect(await bells(interrupt, 30_000)).toBe(0);
});

it('shows the state in the title', async () => {
  await using stage = new Stage();
  const title = () => windowTitle(stage.app.session.state, '/home/you/project');
  expect(title()).toBe('project');
  await stage.say('Fix it');
  expect(title()).toMatch(/^● project/);
  stage.begin('child1xx', { parent: 'mainmain' });
  stage.question('child1xx', 'c1');
  expect(title()).toMatch(/^\? project/);
});

it('makes a hostile title harmless, and short', () => {
  const state = stateOf({}, { members: { main: { hasEnded: true } } });
  const tree = copyTree(state.tree);
  const row = tree.rows.get('main');
  if (row === undefined) throw new Error('no row');
  tree.rows.set('main', { ...row, description: `\u001b]0;x\u0007\n${'long '.repeat(100)}` });
  const title = windowTitle({ tree }, '/tmp/\u001b[2J');
  expect(title.length).toBeLessThanOrEqual(80);
  // oxlint-disable-next-line no-control-regex -- there must be none
  expect(title).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

it('keeps the earlier title, writes a title once, and restores the earlier one', () => {
  const written: string[] = [];
  const title = new WindowTitle((sequence) => void written.push(sequence));
  title.restore();
  title.show('a');
  title.show('a');
  title.show('b');
  title.restore();
  title.restore();
  expect(written).toEqual([
    '\u001b[22;2t\u001b]2;a\u001b\\',
    '\u001b]2;b\u001b\\',
    '\u001b]2;\u001b\\\u001b[23;2t',
  ]);
});

it('shows a hint until its key was used five times', async () => {
  await using stage = new Stage({ hintUses: { 'cycle-mode: mode': 4 } });
  expect(await stage.screen()).toContain('/help · shift+tab mode');
  await stage.emulator.press('\u001b[Z');
  const after = await stage.screen();
  expect(after).toContain('/help');
  expect(after).not.toContain('shift+tab mode');
});

it('shows no hints if the user wants none, but messages', async () => {
  await using stage = new Stage({ settings: { hints: false } });
  const start = await stage.screen();
  expect(start.trimEnd().split('\n').at(-1)).toBe('project · scripted/one · [default]');
  await stage.emulator.press(KEYS.ctrlC);
  expect((await stage.screen()).trimEnd().split('\n').at(-1)).toContain('again');
});

it('shows the branch and the context window in the status line', async () => {
  await using stage = new Stage({ columns: 140 });
  stage.contextWindow = 200_000;
  await stage.say('Do it');
  stage.answer('mainmain', 'Done.');
  await stage.screen();
  stage.app.session.dispatch({ type: 'branch-read', branch: 'main' });
  await stage.emulator.press('\u001b[Z');
  expect((await stage.screen()).trimEnd().split('\n').at(-1)).toContain(
    'project (main) · scripted/one · 1 % of 200k · $0.0100 · [',
  );
});

it.each([
  [
    'light',
    { theme: 'light', hint: 'theme: light; /config terminal.theme light keeps it' },
    [{ type: 'use-theme', theme: 'light' }],
  ],
  ['pink', { theme: 'auto', hint: 'there is no theme pink: auto, dark, light' }, []],
] as const)('/theme %s', (argument, { theme, hint }, effects) => {
  const run = { type: 'run-command', name: 'theme', argument } as const;
  const done = update(stateOf(), run, CONTEXT);
  const { state } = done;
  expect({ theme: state.terminal.theme, hint: state.hint, effects: done.effects }).toEqual({
    theme,
    hint,
    effects,
  });
});

it('a theme that was chosen is not changed by what the terminal reports', async () => {
  await using stage = new Stage({ settings: { theme: 'dark' } });
  await stage.screen();
  const before = stage.app.draw({ width: 80, height: 24, editor: ['', '', ''] });
  await stage.emulator.type('\u001b]11;rgb:ffff/ffff/ffff\u0007');
  expect(stage.app.draw({ width: 80, height: 24, editor: ['', '', ''] })).toEqual(before);
});

it.each(['copy', 'export'])('/%s needs something to work with', (name) => {
  const { state, effects } = update(
    stateOf(),
    { type: 'run-command', name, argument: '' },
    CONTEXT,
  );
  const said: AppState['hint'] = state.hint;
  expect([said, effects]).toEqual([
    name === 'copy' ? 'there is no answer to copy yet' : 'there is no conversation yet',
    [],
  ]);
});

it('draws the end of the last answer for the terminal that remains', async () => {
  await using stage = new Stage();
  await stage.say('Count');
  expect(stage.app.lastAnswer({ width: 40, height: 10 })).toEqual([]);
  const lines = Array.from({ length: 30 }, (_each, index) => `- ${index + 1}`);
  stage.answer('mainmain', lines.join('\n'));
  const drawn = stage.app.lastAnswer({ width: 40, height: 10 });
  expect(drawn).toHaveLength(10);
  expect(drawn[0]).toContain('before');
  expect(drawn.at(-1)).toContain('30');
});

it('exports the conversation as Markdown and as a page, and replaces no file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'export-'));
  try {
    await using stage = new Stage({ cwd: directory });
    await stage.say('Read <it>');
    stage.call('mainmain', 'c1', 'Read', { file_path: 'a.md' });
    stage.result('mainmain', 'c1', 'Read', '```js\n\u001b[2Jx\n```');
    stage.answer('mainmain', 'It says **x**.');
    await stage.say('/export out.md');
    await stage.say('/export out.html');
    await stage.say('/export out.md');
    expect((await stage.screen()).replaceAll(/\s+/g, ' ')).toContain(
      'exists: /export with another',
    );
    const markdown = readFileSync(join(directory, 'out.md'), 'utf8');
    expect(markdown).toContain('## User\n\nRead <it>\n');
    expect(markdown).toContain('### Result: Read\n\n````\n```js\nx\n```\n````\n');
    expect(markdown).toContain('## Answer\n\nIt says **x**.\n');
    const page = readFileSync(join(directory, 'out.html'), 'utf8');
    expect(page).toContain('<pre>Read &lt;it&gt;</pre>');
    expect(page).not.toContain('\u001b');
    expect(statSync(join(directory, 'out.html')).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
