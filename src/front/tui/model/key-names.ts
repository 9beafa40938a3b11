import type { Action, Bindings } from './key-bindings.ts';

/** Modifiers of keys, in the order in which the terminal library names them. */
const MODIFIERS = ['shift', 'ctrl', 'alt', 'super'] as const;
type Modifier = (typeof MODIFIERS)[number];

/** The named keys by the names that users write, in lower case. `shown` is the name on the screen if it is different. */
const NAMED = new Map<string, { readonly key: string; readonly shown?: string }>([
  ...['enter', 'tab', 'space', 'backspace', 'delete', 'insert', 'home', 'end'].map(sameName),
  ...Array.from({ length: 12 }, (_, index) => sameName(`f${index + 1}`)),
  ['escape', { key: 'escape', shown: 'esc' }],
  ['esc', { key: 'escape', shown: 'esc' }],
  ['return', { key: 'enter' }],
  ['pageup', { key: 'pageUp', shown: 'pgup' }],
  ['pgup', { key: 'pageUp', shown: 'pgup' }],
  ['pagedown', { key: 'pageDown', shown: 'pgdn' }],
  ['pgdn', { key: 'pageDown', shown: 'pgdn' }],
  ['up', { key: 'up', shown: '↑' }],
  ['down', { key: 'down', shown: '↓' }],
  ['left', { key: 'left', shown: '←' }],
  ['right', { key: 'right', shown: '→' }],
]);

function sameName(key: string): readonly [string, { readonly key: string }] {
  return [key, { key }];
}

/** The library's name of a key that a user wrote (`Ctrl+G`, `esc`, `shift+pgup`); null if there is no such key. */
export function keyFromText(written: string): string | null {
  const word = written.trim();
  // A plus sign separates the parts of a name, but it is also a key: `+` or `ctrl++`.
  const parts =
    word.endsWith('++') || word === '+' ? [...word.slice(0, -2).split('+'), '+'] : word.split('+');
  const name = parts.pop() ?? '';
  const key = NAMED.get(name.toLowerCase())?.key ?? plainKey(name);
  const modifiers = parts.filter((part) => part !== '').map((part) => part.toLowerCase());
  if (key === null || !modifiers.every(isModifier)) return null;
  return [...MODIFIERS.filter((modifier) => modifiers.includes(modifier)), key].join('+');
}

function isModifier(word: string): word is Modifier {
  return MODIFIERS.some((modifier) => modifier === word);
}

/** Returns the library's name of a letter, a digit or a sign; null for anything else. */
function plainKey(name: string): string | null {
  return /^[!-~]$/.test(name) ? name.toLowerCase() : null;
}

/** Whether a key types text. */
export function isText(key: string): boolean {
  const bare = key.replace(/^shift\+/, '');
  return bare.length === 1 || bare === 'space';
}

/** Whether a key types or deletes text in every editor. */
export function isTyped(key: string): boolean {
  const bare = key.replace(/^shift\+/, '');
  return isText(key) || ['enter', 'backspace', 'delete'].includes(bare);
}

/** Formats the name of a key for the screen: `esc`, `ctrl+t`, `shift+↑`, `A`. */
export function keyName(key: string): string {
  const capital = /^shift\+([a-z])$/.exec(key)?.[1];
  if (capital !== undefined) return capital.toUpperCase();
  const parts = key.split('+');
  const last = parts.pop() ?? '';
  return [...parts, NAMED.get(last.toLowerCase())?.shown ?? last].join('+');
}

/** Returns the names of the keys of an action, as they are shown on the screen. */
export function keysOf(bindings: Bindings, action: Action): readonly string[] {
  return bindings[action].keys.map(keyName);
}

/** Returns a hint such as `esc back` for the first key of an action; empty if the action has no key. */
export function keyHint(bindings: Bindings, action: Action, words: string): readonly string[] {
  const [key] = keysOf(bindings, action);
  return key === undefined ? [] : [`${key} ${words}`];
}
