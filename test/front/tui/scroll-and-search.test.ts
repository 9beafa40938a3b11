import { expect, it } from 'vitest';
import { PLAIN } from '../../../src/front/tui/view/theme.ts';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

const CTRL_F = '\u0006';
const CTRL_N = '\u000e';
const CTRL_P = '\u0010';
const CTRL_S = '\u0013';

/** A conversation with two calls and a thought. */
async function worked(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage(options);
  await stage.say('Raise the limit');
  stage.call('mainmain', 'r', 'Read', { file_path: 'src/retry.ts' });
  stage.result('mainmain', 'r', 'Read', '11\tconst a = 1;\n12\tconst limit = 3;');
  stage.call('mainmain', 'e', 'Edit', {
    file_path: 'src/retry.ts',
    old_string: 'const limit = 3;\nuse(limit);\n',
    new_string: 'const limit = 30;\nuse(limit);\ndone();\n',
  });
  stage.result('mainmain', 'e', 'Edit', 'Edited src/retry.ts: 1 replacement at line 12.');
  stage.answer('mainmain', 'The limit is **30** now.', 'It stands in one place.\nGood.');
  return stage;
}

/** More turns than a transcript keeps, each with a number in its answer. */
function talk(stage: Stage, turns: number): void {
  for (let turn = 1; turn <= turns; turn += 1) {
    stage.call('mainmain', `c${turn}`, 'Grep', { pattern: `what ${turn}` });
    stage.result('mainmain', `c${turn}`, 'Grep', `found ${turn}`);
    stage.answer('mainmain', `Answer number ${turn}.`);
  }
}

it('calls and thoughts are one line each in a short conversation, and can be unfolded', async () => {
  await using stage = await worked({ settings: { detail: 'short' } });
  const folded = await stage.screen();
  await stage.emulator.press(CTRL_S, KEYS.up);
  expect(await stage.screen()).toMatchSnapshot('chosen');
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toMatchSnapshot('unfolded');
  await stage.emulator.press(KEYS.enter, KEYS.escape);
  expect(await stage.screen()).toBe(folded);
});

it('one key shows the changes, and folds the entries that were unfolded alone', async () => {
  await using stage = await worked({ settings: { detail: 'short' } });
  await stage.emulator.press(CTRL_S, KEYS.enter, KEYS.escape, KEYS.ctrlO);
  expect(await stage.screen()).toMatchSnapshot();
});

it('shows changes in 40 columns', async () => {
  await using stage = await worked({ columns: 40, rows: 30, theme: PLAIN });
  expect(await stage.screen()).toMatchSnapshot();
});

it('the editor gets the keys back', async () => {
  await using stage = await worked();
  await stage.emulator.press(CTRL_S, KEYS.escape);
  await stage.emulator.type('go on');
  expect(await stage.screen()).toMatch(/^go on$/m);
});

it('a hint says that there is nothing to unfold', async () => {
  await using stage = new Stage();
  await stage.emulator.press(CTRL_S);
  expect(await stage.screen()).toContain('there is nothing to unfold yet');
});

it('a search finds folded text, unfolds it, and goes from match to match', async () => {
  await using stage = await worked({ theme: PLAIN });
  await stage.emulator.type('a draft');
  await stage.emulator.press(CTRL_F);
  await stage.emulator.type('LIMIT');
  expect(await stage.screen()).toContain('search: 4 entries');
  await stage.emulator.press(CTRL_P, CTRL_P);
  expect(await stage.screen()).toMatchSnapshot('previous');
  await stage.emulator.press(CTRL_N);
  expect(await stage.screen()).toContain('search: 4 of 4 entries');
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toContain('search: 1 of 4 entries');
  await stage.emulator.press(KEYS.escape);
  const screen = await stage.screen();
  expect(screen).toMatch(/^a draft$/m);
  expect(screen).not.toContain('search:');
});

it('the draft returns to the editor after a search, whatever gets the focus next', async () => {
  await using stage = await worked();
  await stage.emulator.type('a draft');
  await stage.emulator.press(CTRL_F);
  await stage.emulator.type('limit');
  await stage.emulator.press(KEYS.enter, KEYS.ctrlT);
  const screen = await stage.screen();
  expect(screen).toMatch(/^a draft$/m);
  expect(screen).toContain('enter open');
});

it('a search says that nothing was found', async () => {
  await using stage = await worked();
  await stage.emulator.press(CTRL_F);
  await stage.emulator.type('nowhere');
  expect(await stage.screen()).toContain('search: nothing found');
});

it('a search finds a phrase across the end of a line', async () => {
  await using stage = new Stage({ columns: 40, rows: 20, theme: PLAIN });
  await stage.say('Go');
  stage.answer('mainmain', `${'word '.repeat(12)}one phrase ${'word '.repeat(6)}`);
  await stage.emulator.press(CTRL_F);
  await stage.emulator.type('word one  phrase word');
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toMatchSnapshot();
});

it('scrolling reaches all of a conversation, far beyond the entries in memory, and returns', async () => {
  await using stage = new Stage({ columns: 60, rows: 24 });
  await stage.say('The very first words');
  talk(stage, 900);
  const seen = new Set<string>();
  const collect = (seen: Set<string>) => {
    for (const [turn] of stage.drawn().matchAll(/(?<=Answer number )\d+/g)) seen.add(turn);
  };
  await stage.screen();
  for (let page = 0; page < 400; page += 1) {
    collect(seen);
    stage.app.session.dispatch({ type: 'scroll', lines: -15 });
  }
  expect(seen.size).toBe(900);
  expect(stage.drawn()).toContain('> The very first words');
  const back = new Set<string>();
  for (let page = 0; page < 400; page += 1) {
    collect(back);
    stage.app.session.dispatch({ type: 'scroll', lines: 15 });
  }
  expect(back.size).toBe(900);
  expect(stage.drawn()).toContain('Answer number 900.');
});

it('a search finds text that is only in the log, and stays there while more arrives', async () => {
  await using stage = new Stage({ columns: 80, rows: 16, theme: PLAIN });
  await stage.say('Go');
  talk(stage, 900);
  await stage.emulator.press(CTRL_F);
  await stage.emulator.type('number 37.');
  expect(await stage.screen()).toContain('search: not near the end');
  await stage.emulator.press(KEYS.enter);
  const there = await stage.screen();
  expect(there).toContain('search: 1 of 1 entry');
  expect(there).toContain('▶ Answer number 37.');
  talk(stage, 300);
  expect((await stage.screen()).split('\n').slice(0, 10)).toEqual(there.split('\n').slice(0, 10));
});
