import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTIONS, DEFAULT_BINDINGS } from '../../../../src/front/tui/model/key-bindings.ts';
import {
  escapeMeaning,
  keyAction,
  type KeyContext,
} from '../../../../src/front/tui/update/key-action.ts';

const AT_REST: KeyContext = {
  focus: 'editor',
  isEditorEmpty: true,
  isCompleting: false,
  isAnswering: false,
  isTaskOpen: false,
  hasWaitingMessages: false,
  hasQuestion: false,
  isChoosing: false,
};

it.each<readonly [string, Partial<KeyContext>, string]>([
  ['escape', {}, 'interrupt'],
  ['escape', { isCompleting: true }, 'editor'],
  ['escape', { isAnswering: true }, 'back'],
  ['escape', { focus: 'question' }, 'back'],
  ['escape', { focus: 'tasks' }, 'back'],
  ['escape', { isTaskOpen: true }, 'back'],
  ['escape', { isTaskOpen: true, hasWaitingMessages: true }, 'back'],
  ['escape', { hasWaitingMessages: true }, 'take-back'],
  ['escape', { hasWaitingMessages: true, isEditorEmpty: false }, 'take-back'],
  ['escape', { hasWaitingMessages: true, isCompleting: true }, 'editor'],
  ['escape', { hasWaitingMessages: true, focus: 'entries' }, 'back'],
  ['up', { hasWaitingMessages: true }, 'take-back'],
  ['up', { hasWaitingMessages: true, isTaskOpen: true }, 'take-back'],
  ['up', { hasWaitingMessages: true, isEditorEmpty: false }, 'editor'],
  ['up', { hasWaitingMessages: true, isAnswering: true }, 'editor'],
  ['up', { hasWaitingMessages: true, focus: 'tasks' }, 'choose-up'],
  ['ctrl+x', {}, 'stop-focused'],
  ['ctrl+x', { focus: 'tasks' }, 'stop-focused'],
  ['ctrl+x', { isTaskOpen: true, isEditorEmpty: false }, 'stop-focused'],
  ['ctrl+c', {}, 'leave'],
  ['ctrl+c', { focus: 'question' }, 'leave'],
  ['ctrl+d', {}, 'leave-empty'],
  ['ctrl+d', { isEditorEmpty: false }, 'editor'],
  ['ctrl+b', {}, 'background'],
  ['ctrl+g', {}, 'edit-in-editor'],
  ['shift+tab', {}, 'cycle-mode'],
  ['tab', {}, 'editor'],
  ['tab', { hasQuestion: true }, 'focus-question'],
  ['tab', { hasQuestion: true, isEditorEmpty: false }, 'editor'],
  ['tab', { hasQuestion: true, isAnswering: true }, 'editor'],
  ['left', {}, 'editor'],
  ['left', { isTaskOpen: true }, 'back'],
  ['left', { isTaskOpen: true, isEditorEmpty: false }, 'editor'],
  ['y', {}, 'editor'],
  ['y', { hasQuestion: true }, 'editor'],
  ['y', { hasQuestion: true, focus: 'question' }, 'answer-once'],
  ['a', { hasQuestion: true, focus: 'question' }, 'answer-always'],
  ['m', { hasQuestion: true, focus: 'question' }, 'answer-mode'],
  ['u', { hasQuestion: true, focus: 'question' }, 'answer-mode-user'],
  ['n', { hasQuestion: true, focus: 'question' }, 'answer-no'],
  ['r', { hasQuestion: true, focus: 'question' }, 'answer-reason'],
  ['2', { hasQuestion: true, focus: 'question' }, 'option-2'],
  ['x', { hasQuestion: true, focus: 'question' }, 'nothing'],
  ['enter', { hasQuestion: true, focus: 'question' }, 'ask-enter'],
  ['up', { focus: 'tasks' }, 'choose-up'],
  ['up', { focus: 'question' }, 'ask-up'],
  ['up', {}, 'editor'],
  ['enter', { focus: 'tasks' }, 'open-task'],
  ['enter', {}, 'editor'],
  ['s', { focus: 'tasks' }, 'stop-task'],
  ['s', {}, 'editor'],
])('key %s with %j means %s', (key, context, meaning) => {
  expect(keyAction(key, { ...AT_REST, ...context }, DEFAULT_BINDINGS)).toBe(meaning);
});

it('esc does the first of its meanings that applies', () => {
  const everything: KeyContext = {
    ...AT_REST,
    focus: 'entries',
    isCompleting: true,
    isTaskOpen: true,
    hasWaitingMessages: true,
  };
  const steps: readonly Partial<KeyContext>[] = [
    {},
    { focus: 'editor' },
    { isCompleting: false },
    { isTaskOpen: false },
    { hasWaitingMessages: false },
  ];
  const meanings = steps.map((_, index) =>
    escapeMeaning(Object.assign({}, everything, ...steps.slice(0, index + 1))),
  );
  expect(meanings).toEqual(['back', 'editor', 'back', 'take-back', 'interrupt']);
});

const CONTEXT: fc.Arbitrary<KeyContext> = fc.record({
  focus: fc.constant('editor' as const),
  isEditorEmpty: fc.boolean(),
  isCompleting: fc.boolean(),
  isAnswering: fc.boolean(),
  isTaskOpen: fc.boolean(),
  hasWaitingMessages: fc.boolean(),
  hasQuestion: fc.boolean(),
  isChoosing: fc.constant(false),
});
const KEYS = [...new Set(Object.values(DEFAULT_BINDINGS).flatMap(({ keys }) => keys))];

describe('while the editor has the focus', () => {
  it('no question gets a key', () => {
    fc.assert(
      fc.property(CONTEXT, fc.constantFrom(...KEYS), (context, key) => {
        const meaning = keyAction(key, context, DEFAULT_BINDINGS);
        const isQuestions = ACTIONS.some(
          (action) => action === meaning && DEFAULT_BINDINGS[action].scope === 'question',
        );
        expect(isQuestions).toBe(false);
      }),
    );
  });

  it('only the arrow keys choose from the answers that the model offers', () => {
    const choosing = CONTEXT.map((context) => ({ ...context, isChoosing: true }));
    fc.assert(
      fc.property(choosing, fc.constantFrom(...KEYS), (context, key) => {
        const free = keyAction(key, { ...context, isChoosing: false }, DEFAULT_BINDINGS);
        const chosen = { up: 'ask-up', down: 'ask-down' }[key];
        expect(keyAction(key, context, DEFAULT_BINDINGS)).toBe(
          context.isCompleting ? free : (chosen ?? free),
        );
      }),
    );
  });

  it('printable keys type text', () => {
    const printable = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789 ?!/@');
    fc.assert(
      fc.property(CONTEXT, printable, (context, key) => {
        expect(keyAction(key, context, DEFAULT_BINDINGS)).toBe('editor');
      }),
    );
  });

  it('only the expected keys do something else than edit text', () => {
    const own = [
      'escape',
      'ctrl+c',
      'ctrl+v',
      'ctrl+x',
      'ctrl+b',
      'ctrl+g',
      'ctrl+t',
      'ctrl+f',
      'ctrl+o',
      'ctrl+r',
      'ctrl+s',
      'alt+up',
      'ctrl+l',
      'ctrl+z',
      'ctrl+end',
      'shift+tab',
      'pageUp',
      'pageDown',
      'shift+up',
      'shift+down',
    ];
    const typed = { ...AT_REST, isEditorEmpty: false, hasQuestion: true, isTaskOpen: true };
    const taken = KEYS.filter((key) => keyAction(key, typed, DEFAULT_BINDINGS) !== 'editor');
    expect(taken.toSorted()).toEqual(own.toSorted());
  });
});

it('two actions of one scope have no key in common', () => {
  const taken = ACTIONS.flatMap((action) => {
    const { keys, scope, needsEmptyEditor } = DEFAULT_BINDINGS[action];
    return keys.map((key) => `${scope} ${key} ${needsEmptyEditor === true}`);
  });
  expect(new Set(taken).size).toBe(taken.length);
});
