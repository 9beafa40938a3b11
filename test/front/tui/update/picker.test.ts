import { describe, expect, it } from 'vitest';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { keyAction, keyContext } from '../../../../src/front/tui/update/key-action.ts';
import { createPicker } from '../../../../src/front/tui/model/picker.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const IDLE = { id: 'main', isAtWork: false, isWatched: false, isSending: false };

const run = (state: AppState, message: UiMessage) => update(state, message, CONTEXT);
const command = (name: string, argument = ''): UiMessage => ({
  type: 'run-command',
  name,
  argument,
});
const press = (meaning: Extract<UiMessage, { type: 'key-pressed' }>['meaning']): UiMessage => ({
  type: 'key-pressed',
  meaning,
});

function idle(change: Partial<AppState> = {}): AppState {
  const members = { main: { hasEnded: true }, a: { parent: 'main', hasEnded: true } } as const;
  return stateOf({ conversation: IDLE, ...change }, { members });
}

function filled(
  state: AppState,
  kind: 'conversations' | 'models' | 'messages' | 'history',
  ids: readonly string[],
): AppState {
  const items = ids.map((id) => ({ id, title: id, text: `${id} text`, cells: [], preview: [] }));
  return run(state, { type: 'picker-filled', kind, items, isLoading: false, note: '' }).state;
}

describe('a list', () => {
  it.each([
    ['resume', 'conversations', { type: 'list-conversations' }],
    ['model', 'models', { type: 'list-models' }],
    ['undo', 'messages', { type: 'list-messages', conversation: 'main' }],
  ] as const)('/%s opens at once and is read then', (name, kind, effect) => {
    const { state, effects } = run(idle(), command(name));
    expect(state).toMatchObject({ focus: 'picker', picker: { kind, isLoading: true } });
    expect(effects).toEqual([{ type: 'set-editor-text', text: '' }, effect]);
  });

  it('gets what is typed as its filter, and gives the editor its text back', () => {
    const open = run(idle({ typed: 'a draft' }), press('history')).state;
    const typed = run(filled(open, 'history', ['one', 'two']), { type: 'typed', text: 'tw' }).state;
    expect(typed.picker?.matches.map(({ id }) => id)).toEqual(['two']);
    const { state, effects } = run(typed, press('back'));
    expect(state).toMatchObject({ picker: null, focus: 'editor', typed: 'a draft' });
    expect(effects).toEqual([{ type: 'set-editor-text', text: 'a draft' }]);
  });

  it.each([
    ['conversations', 'resume', { type: 'dispatch', message: command('resume', 'two') }],
    ['models', 'model', { type: 'dispatch', message: command('model', 'two') }],
  ] as const)('of %s does what the command does with the selected item', (kind, name, effect) => {
    const open = filled(run(idle(), command(name)).state, kind, ['one', 'two']);
    const { state, effects } = run(run(open, press('picker-down')).state, press('picker-take'));
    expect(state.picker).toBeNull();
    expect(effects.at(-1)).toEqual(effect);
  });

  it('names the chosen agent after what was typed', () => {
    const open = run(idle({ typed: 'ask' }), command('agents')).state;
    expect(run(open, press('picker-take')).state.typed).toBe('ask @Explore ');
  });

  it('opens the chosen task', () => {
    const open = run(run(idle(), command('tasks')).state, press('picker-down')).state;
    expect(run(open, press('picker-take')).effects.at(-1)).toEqual({
      type: 'open-task',
      task: 'a',
    });
  });

  it('is scrolled by the mouse wheel, and ignores an answer for another list', () => {
    const open = filled(run(idle(), press('history')).state, 'history', ['a', 'b', 'c', 'd', 'e']);
    const wheeled = run(open, { type: 'scroll', lines: 3 }).state;
    expect(wheeled.picker?.selected).toBe(3);
    expect(filled(wheeled, 'models', ['x']).picker?.items).toHaveLength(5);
  });

  it('asks for the preview of what is selected, once', () => {
    const open = run(idle(), command('resume')).state;
    const items = [{ id: 'one', title: 'one', cells: [] }];
    const message = {
      type: 'picker-filled',
      kind: 'conversations',
      items,
      isLoading: false,
      note: '',
    } as const;
    const { state, effects } = run(open, message);
    expect(effects).toEqual([{ type: 'read-preview', kind: 'conversations', id: 'one' }]);
    const parts = [{ label: '', text: 'hello' }];
    const shown = run(state, {
      type: 'preview-read',
      kind: 'conversations',
      id: 'one',
      parts,
    }).state;
    expect(run(shown, press('picker-up')).effects).toEqual([]);
  });

  it('leaves the keys of the rest of the screen without effect', () => {
    const open = run(idle(), press('history')).state;
    const meaning = (key: string) => keyAction(key, keyContext(open, false), CONTEXT.bindings);
    expect(
      ['up', 'ctrl+n', 'pageDown', 'enter', 'tab', 'escape', 'ctrl+c', 'ctrl+l'].map(meaning),
    ).toEqual([
      'picker-up',
      'picker-down',
      'picker-page-down',
      'picker-take',
      'picker-toggle',
      'back',
      'leave',
      'redraw',
    ]);
    expect(['x', 'ctrl+t', 'ctrl+f', 'ctrl+o', 'shift+tab', 'left'].map(meaning)).toEqual(
      Array(6).fill('editor'),
    );
    expect(run(open, press('leave')).state).toMatchObject({ picker: null, armed: null });
  });
});

describe('/undo', () => {
  it.each([
    [0, null],
    [1, 'conversation'],
    [2, 'files'],
  ] as const)('of a chosen message, row %d, takes back %s', (row, only) => {
    const listed = filled(run(idle(), command('undo')).state, 'messages', ['7', 'first']);
    let { state } = run(listed, press('picker-take'));
    expect(state.picker).toMatchObject({ kind: 'undo-scope', subject: { id: '7' } });
    for (let index = 0; index < row; index += 1) state = run(state, press('picker-down')).state;
    const prompt = { text: '7 text', before: 7 };
    expect(run(state, press('picker-take')).effects.at(-1)).toEqual({
      type: 'plan-rewind',
      conversation: 'main',
      isRedo: false,
      back: 0,
      prompt,
      only,
    });
  });

  it.each([
    ['2', { back: 2, only: null }],
    ['files', { back: 1, only: 'files' }],
    ['3 conversation', { back: 3, only: 'conversation' }],
  ])('%s needs no list', (argument, target) => {
    expect(run(idle(), command('undo', argument)).effects).toEqual([
      { type: 'plan-rewind', conversation: 'main', isRedo: false, prompt: null, ...target },
    ]);
  });

  it('refuses another argument', () => {
    const { state, effects } = run(idle(), command('undo', 'everything'));
    expect([effects, state.hint]).toEqual([
      [],
      'type /undo, /undo 2, /undo files or /undo conversation',
    ]);
  });

  it('keeps the conversation after the files alone went back', () => {
    const prompt = { text: 'x', before: 4 };
    const { effects } = run(idle(), {
      type: 'rewound',
      files: 2,
      skipped: [],
      prompt,
      only: 'files',
    });
    expect(effects).toEqual([
      {
        type: 'dispatch',
        message: { type: 'note', level: 'info', text: '2 files put back; /redo reverts that' },
      },
    ]);
  });
});

describe('a model whose efforts are known', () => {
  const model = {
    id: 'acme/deep',
    title: 'acme/deep',
    cells: [],
    preview: [],
    efforts: ['low', 'high'] as const,
  };
  const take: UiMessage = { type: 'key-pressed', meaning: 'picker-take' };

  it('is followed by the choice of an effort', () => {
    const before = stateOf({ focus: 'picker', picker: createPicker('models', [model]) });
    const asked = update(before, take, CONTEXT).state;
    expect(asked.picker?.items.map(({ id, mark }) => [id, mark])).toEqual([
      ['default', 'in use'],
      ['low', undefined],
      ['high', undefined],
    ]);
    const down: UiMessage = { type: 'key-pressed', meaning: 'picker-down' };
    const chosen = update(update(asked, down, CONTEXT).state, take, CONTEXT);
    expect(chosen.effects).toContainEqual({
      type: 'dispatch',
      message: { type: 'run-command', name: 'model', argument: 'acme/deep low' },
    });
  });

  it.each([
    ['acme/deep low', { name: 'acme/deep', effort: 'low' }],
    ['acme/deep default', { name: 'acme/deep', effort: null }],
    ['acme/deep', { name: 'acme/deep', effort: undefined }],
    ['acme/deep deeply', { name: 'acme/deep deeply', effort: undefined }],
  ])('/model %s', (argument, effect) => {
    const run: UiMessage = { type: 'run-command', name: 'model', argument };
    expect(update(stateOf(), run, CONTEXT).effects).toEqual([{ type: 'set-model', ...effect }]);
  });
});
