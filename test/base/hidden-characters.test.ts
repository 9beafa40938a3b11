import { expect, test } from 'vitest';
import { removeHiddenCharacters } from '../../src/base/hidden-characters.ts';

test.each<[what: string, text: string, shown: string, hidden: number]>([
  ['plain text', 'a\tb\nc', 'a\tb\nc', 0],
  ['ends of lines', 'a\r\nb\r', 'a\nb', 1],
  ['scripts and emoji', 'نعم می‌شود 👩‍💻 ❤️ 1️⃣ ©️', 'نعم می‌شود 👩‍💻 ❤️ 1️⃣ ©️', 0],
  ['a variant of an ideograph', '葛\u{e0100}城', '葛\u{e0100}城', 0],
  ['controls, directions, tags', '\u001b[1m\u202eX\u{e0041}\u200b', '[1mX', 4],
  ['fillers', 'a\u00adb\u034fc\u3164', 'abc', 3],
  ['a text in variants behind an emoji', '😀\ufe0f\u{e0150}\u{e0151}\ufe01', '😀\ufe0f', 3],
  ['a text in variants of letters', 'a\ufe01b\u{e0101} \ufe02', 'ab ', 3],
  ['a text in variants alone', '\ufe01\ufe02', '', 2],
])('%s', (_, text, shown, hidden) => {
  expect(removeHiddenCharacters(text)).toEqual({ text: shown, hidden });
});
