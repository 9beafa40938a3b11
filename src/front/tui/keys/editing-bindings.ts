import type { Binding, Place } from './binding.ts';

/** What keys do to the text that is typed: as in a shell, less what the screen's own keys take. */
const KEYS = {
  'cursor-up': ['up'],
  'cursor-down': ['down'],
  'cursor-left': ['left'],
  'cursor-right': ['right'],
  'word-left': ['alt+left', 'ctrl+left', 'alt+b'],
  'word-right': ['alt+right', 'ctrl+right', 'alt+f'],
  'line-start': ['home', 'ctrl+home', 'ctrl+a'],
  'line-end': ['end', 'ctrl+e'],
  'jump-forward': ['ctrl+]'],
  'jump-backward': ['ctrl+alt+]'],
  'delete-back': ['backspace'],
  'delete-forward': ['delete', 'ctrl+d'],
  'delete-word-back': ['ctrl+w', 'alt+backspace'],
  'delete-word-forward': ['alt+d', 'alt+delete'],
  'delete-to-start': ['ctrl+u'],
  'delete-to-end': ['ctrl+k'],
  yank: ['ctrl+y'],
  'yank-pop': ['alt+y'],
  'undo-typing': ['ctrl+-'],
  'history-previous': [],
  'history-next': [],
  complete: ['tab'],
} as const;

/** While completions are offered. */
const COMPLETION_KEYS = {
  'completion-up': ['up'],
  'completion-down': ['down'],
  'completion-take': ['enter'],
  'completion-close': ['escape', 'ctrl+c'],
} as const;

export type EditingAction = keyof typeof KEYS | keyof typeof COMPLETION_KEYS;

export const EDITING_BINDINGS = {
  ...editing(KEYS, 'editor'),
  ...editing(COMPLETION_KEYS, 'completion'),
};

function editing<Name extends string>(
  keys: Readonly<Record<Name, readonly string[]>>,
  place: Place,
): Readonly<Record<Name, Binding>>;
function editing(
  keys: Readonly<Record<string, readonly string[]>>,
  place: Place,
): Readonly<Record<string, Binding>> {
  return Object.fromEntries(
    Object.entries(keys).map(([name, own]) => [name, { keys: own, place, isEditors: true }]),
  );
}

export function isEditingAction(action: string): action is EditingAction {
  return Object.hasOwn(EDITING_BINDINGS, action);
}
