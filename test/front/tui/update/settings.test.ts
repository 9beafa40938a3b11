import { describe, expect, it } from 'vitest';
import type { UserSetting } from '../../../../src/api/index.ts';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import { settingItems, settingValueItems } from '../../../../src/front/tui/update/setting-items.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const THEME: UserSetting = {
  key: 'terminal.theme',
  value: 'light',
  default: '"auto"',
  source: '/home/you/.config/muster/config.toml:3',
  meaning: 'the colors',
  expects: 'auto, dark, light',
  choices: ['auto', 'dark', 'light'],
};
const DEPTH: UserSetting = {
  key: 'task_tool.max_depth',
  value: 2,
  default: '2',
  source: 'default',
  meaning: 'how deep',
  expects: 'a whole number from 0 to 32',
  choices: null,
};

function run(state: AppState, message: UiMessage) {
  return update(state, message, CONTEXT);
}

const key = (meaning: 'picker-take' | 'picker-down' | 'back'): UiMessage => ({
  type: 'key-pressed',
  meaning,
});

/** The state in which the list of these settings is open. */
function listed(...settings: readonly UserSetting[]): AppState {
  const opened = run(stateOf(), { type: 'run-command', name: 'config', argument: '' });
  expect(opened.effects).toContainEqual({ type: 'list-settings' });
  const items = settingItems(settings);
  return run(opened.state, {
    type: 'picker-filled',
    kind: 'settings',
    items,
    isLoading: false,
    note: '',
  }).state;
}

it('an item shows the value, its source and its default', () => {
  const [item] = settingItems([THEME]);
  expect(item).toEqual({
    id: 'terminal.theme',
    title: 'terminal.theme',
    cells: ['"light"', 'config.toml:3'],
    searched: 'the colors',
    setting: THEME,
    preview: [
      { label: '', text: 'the colors' },
      {
        label: 'facts',
        text: 'value    "light"\nfrom     /home/you/.config/muster/config.toml:3\ndefault  "auto"\ntakes    auto, dark, light\napplies  at once',
      },
    ],
  });
  expect(settingItems([DEPTH])[0]?.cells).toEqual(['2', '']);
  expect(settingValueItems(THEME).map(({ id, mark }) => [id, mark])).toEqual([
    ['auto', undefined],
    ['dark', undefined],
    ['light', 'in use'],
    ['(default)', undefined],
  ]);
});

describe('a setting with few values', () => {
  it('is chosen from a list, which shows a theme at once', () => {
    const values = run(listed(THEME), key('picker-take')).state;
    expect(values.picker).toMatchObject({ kind: 'setting-values', selected: 2 });
    const moved = run(values, key('picker-down'));
    expect(moved.state.picker?.selected).toBe(3);
    const removed = run(moved.state, key('picker-take'));
    expect(removed.effects).toContainEqual({
      type: 'change-setting',
      key: 'terminal.theme',
      text: null,
      isListed: true,
    });
  });

  it('keeps the theme in use if the list is closed', () => {
    const values = run(listed(THEME), key('picker-take'));
    expect(values.effects).toContainEqual({ type: 'use-theme', theme: 'light' });
    expect(run(values.state, key('back')).effects).toContainEqual({
      type: 'use-theme',
      theme: 'auto',
    });
  });
});

describe('another setting', () => {
  const dialog = run(listed(DEPTH), key('picker-take')).state;
  const type = (state: AppState, name: string | null, text = '') =>
    run(state, { type: 'dialog-typed', input: { key: name, text } });

  it('is typed, and a pasted text stays on one line', () => {
    expect(dialog.dialog).toMatchObject({ kind: 'text', title: 'task_tool.max_depth', text: '' });
    const typed = type(type(dialog, null, '4\n5').state, 'backspace').state;
    expect(typed.dialog).toMatchObject({ text: '4 ' });
    expect(type(typed, 'enter').effects).toEqual([
      { type: 'change-setting', key: 'task_tool.max_depth', text: '4', isListed: true },
    ]);
    expect(type(dialog, 'enter').effects).toMatchObject([{ text: null }]);
  });

  it('shows why a value was refused until something is typed', () => {
    const refused = run(dialog, { type: 'setting-refused', problem: 'must be less' }).state;
    expect(refused.dialog).toMatchObject({ problem: 'must be less' });
    expect(type(refused, null, '1').state.dialog).toMatchObject({ problem: null });
  });

  it('returns to the list with Esc', () => {
    expect(type(dialog, 'escape').state).toMatchObject({
      dialog: null,
      picker: { kind: 'settings', subject: { id: 'task_tool.max_depth' } },
    });
  });
});

it.each([
  ['terminal.theme', 'dark', { theme: 'dark' }],
  ['terminal.detail', 'short', { detail: 'short' }],
  ['terminal.thinking', 'hidden', { thinking: 'hidden' }],
  ['terminal.notify', 'off', { notify: 'off' }],
  ['terminal.hints', false, { hints: false }],
  ['terminal.title', false, { title: false }],
  ['task_tool.max_depth', 3, {}],
])('%s = %j applies at once if it belongs to the terminal', (name, value, change) => {
  const before = stateOf();
  const { state } = run(before, {
    type: 'setting-changed',
    setting: { ...DEPTH, key: name, value },
    done: 'saved',
    isListed: false,
  });
  expect(state.terminal).toEqual({ ...before.terminal, ...change });
});

it('/config with a value changes the setting without the list', () => {
  const argument = 'permissions.allow ["Bash(npm test:*)"]';
  const { effects } = run(stateOf({ surface: 'lines' }), {
    type: 'run-command',
    name: 'config',
    argument,
  });
  expect(effects).toEqual([
    {
      type: 'change-setting',
      key: 'permissions.allow',
      text: '["Bash(npm test:*)"]',
      isListed: false,
    },
  ]);
});
