import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/base/errors.ts';
import { DEFAULT_BINDINGS } from '../../../../src/front/tui/model/key-bindings.ts';
import { keyName, keyFromText } from '../../../../src/front/tui/model/key-names.ts';
import {
  userBindings,
  type WrittenBindings,
} from '../../../../src/front/tui/model/user-bindings.ts';
import { KEYS } from '../emulator.ts';
import { Stage } from '../stage.ts';
import { useVirtualTime } from '../virtual-time.ts';

useVirtualTime();

function written(table: Readonly<Record<string, readonly string[]>>): WrittenBindings {
  return new Map(
    Object.entries(table).map(([action, keys], index) => [
      action,
      { keys, where: `config.toml:${index + 2}` },
    ]),
  );
}

function mistake(table: Readonly<Record<string, readonly string[]>>): string {
  try {
    userBindings(written(table));
  } catch (thrown) {
    if (thrown instanceof UsageError) return thrown.message;
  }
  return 'none';
}

it.each([
  ['ctrl+g', 'ctrl+g', 'ctrl+g'],
  ['Ctrl+G', 'ctrl+g', 'ctrl+g'],
  ['esc', 'escape', 'esc'],
  ['Return', 'enter', 'enter'],
  ['ctrl+shift+p', 'shift+ctrl+p', 'shift+ctrl+p'],
  ['shift+PgUp', 'shift+pageUp', 'shift+pgup'],
  ['F5', 'f5', 'f5'],
  ['left', 'left', '←'],
  ['ctrl++', 'ctrl++', 'ctrl++'],
  ['+', '+', '+'],
  ['?', '?', '?'],
])('%s is the key %s and shown as %s', (word, key, name) => {
  expect(keyFromText(word)).toBe(key);
  expect(keyName(key)).toBe(name);
});

it.each(['', 'ctrl+', 'strg+g', 'f13', 'control g', 'ctrl+enterr', 'ä'])(
  '%j is not a key',
  (word) => {
    expect(keyFromText(word)).toBeNull();
  },
);

describe('keys from the configuration', () => {
  it('replace the default keys of that action only', () => {
    const bindings = userBindings(written({ background: ['ctrl+y', 'f2', 'F2'] }));
    expect(bindings).toEqual({
      ...DEFAULT_BINDINGS,
      background: { ...DEFAULT_BINDINGS.background, keys: ['ctrl+y', 'f2'] },
      // What the editor does by default gives way.
      yank: { ...DEFAULT_BINDINGS.yank, keys: [] },
    });
  });

  it('may be default keys of actions that are newer than the configuration', () => {
    const bindings = userBindings(written({ leave: ['ctrl+x'] }));
    expect(bindings['stop-focused'].keys).toEqual([]);
    expect(mistake({ leave: ['ctrl+x'], 'stop-focused': ['ctrl+x'] })).toContain(
      'would be stop-focused and leave',
    );
  });

  it('may be keys of the editor, including those that delete', () => {
    const table = { 'delete-word-back': ['backspace'], 'delete-back': ['ctrl+h'], yank: ['alt+v'] };
    expect(mistake(table)).toBe('none');
    // An empty editor has no use for them.
    expect(mistake({ back: ['left', 'alt+left'], 'focus-question': ['tab'] })).toBe('none');
    expect(mistake({ 'completion-close': ['escape'], interrupt: ['escape'] })).toBe('none');
  });

  it('may swap two actions', () => {
    expect(mistake({ expand: ['ctrl+t'], 'focus-tasks': ['ctrl+o'] })).toBe('none');
  });

  it('may send with another key, and use enter for a new line', () => {
    expect(mistake({ send: ['ctrl+enter'], 'new-line': ['enter'] })).toBe('none');
  });

  it.each<readonly [Readonly<Record<string, readonly string[]>>, string]>([
    [
      { backgruond: ['ctrl+g'] },
      'config.toml:2: unknown action "backgruond" in [keys]; valid: background,',
    ],
    [{ background: ['strg+g'] }, 'config.toml:2: keys.background: "strg+g" is not a key;'],
    [{ background: ['g'] }, 'config.toml:2: keys.background: "g" types text; add ctrl or alt'],
    [{ 'focus-question': ['enter'] }, 'keys.focus-question: "enter" types text'],
    [
      { background: ['ctrl+t'] },
      'config.toml:2: "ctrl+t" would be background and focus-tasks; give one of them another key',
    ],
    [{ 'answer-no': ['y'] }, '"y" would be answer-once and answer-no'],
    [{ 'stop-task': ['ctrl+o'] }, '"ctrl+o" would be expand and stop-task'],
    [{ 'word-left': ['ctrl+t'] }, '"ctrl+t" would be focus-tasks and word-left'],
    [{ 'word-left': ['w'] }, 'keys.word-left: "w" types text'],
    [{ 'word-left': ['alt+z'], yank: ['alt+z'] }, '"alt+z" would be word-left and yank'],
    [{ leave: [] }, 'config.toml:2: keys.leave needs at least one key'],
    [{ background: ['\u001b[31m'] }, '"⟨U+001B⟩[31m" is not a key'],
  ])('%j is an error: %s', (table, message) => {
    expect(mistake(table)).toContain(message);
  });

  it('report all mistakes at once', () => {
    expect(mistake({ a: ['x'], redraw: ['b'] }).split('\n')).toHaveLength(2);
  });
});

it('the screen names the keys in force', async () => {
  const keyBindings = written({
    background: ['ctrl+y'],
    interrupt: ['f9'],
    'focus-question': ['f2'],
    'answer-once': ['o'],
  });
  await using stage = new Stage({ keyBindings, rows: 70, columns: 100 });
  await stage.say('/help');
  const help = await stage.screen();
  expect(help).toMatch(/^ctrl\+y +send the running tasks to the background$/m);
  expect(help).toMatch(/^f9 +go back, take back/m);
  expect(help).toContain('choose a task: ↑ ↓, enter opens, s stops, b to the background');
  await stage.emulator.press('\u001b[20~');
  await stage.say('go');
  stage.begin('child1xx', { parent: 'mainmain' });
  expect(await stage.screen()).toContain('f9 stop · ctrl+t tasks · ctrl+y background');
  stage.call('child1xx', 'b', 'Bash', { command: 'npm test' });
  stage.question('child1xx', 'b');
  expect(await stage.screen()).toContain('f2 to focus');
  await stage.emulator.press('\u001bOQ');
  expect(await stage.screen()).toContain('o once · n no · r no, with a reason · f9 later');
  await stage.emulator.press('y');
  expect(stage.asked.answers).toEqual([]);
  await stage.emulator.press('o');
  expect(stage.asked.answers).toEqual([{ question: 'child1xxq1', text: 'yes' }]);
  await stage.emulator.press(KEYS.ctrlB);
  expect(stage.asked.background).toEqual([]);
});

it('text is edited with the keys in force', async () => {
  const keyBindings = written({
    'delete-word-back': ['f3'],
    'undo-typing': ['f4'],
    'history-previous': ['f5'],
    'line-start': ['f6'],
  });
  await using stage = new Stage({ keyBindings });
  await stage.say('first');
  const typed = async (keys: string): Promise<string | undefined> => {
    await stage.emulator.press(keys);
    // Above the lower border and the line below it.
    return (await stage.screen()).split('\n').at(-3)?.trim();
  };
  expect([
    await typed('one two'),
    await typed('\u001bOR'),
    await typed('\u001bOS'),
    await typed('\u001b[17~'),
    await typed('x'),
    // Their default keys do nothing any more.
    await typed('\u0017'),
    await typed('\u0001'),
    await typed('\u001b[15~'),
  ]).toEqual(['one two', 'one', 'one two', 'one two', 'xone two', 'xone two', 'xone two', 'first']);
});
