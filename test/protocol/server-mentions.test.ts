import { expect, it } from 'vitest';
import { readPromptCommand, readResourceMention } from '../../src/protocol/server-mentions.ts';

const command = (server: string, prompt: string, argument = '') => ({ server, prompt, argument });

it.each<readonly [string, ReturnType<typeof readPromptCommand>]>([
  ['/notes:review', command('notes', 'review')],
  [' /notes:review  a.ts  b ', command('notes', 'review', 'a.ts  b')],
  ['/notes:review a\nb', command('notes', 'review', 'a\nb')],
  ['/notes:review a\n\n<stdin>\nx\n</stdin>', command('notes', 'review', 'a')],
  ['/notes:review\n\n<stdin>\nx\n</stdin>', command('notes', 'review')],
  ['/notes', null],
  ['/notes review', null],
  ['/notes: review', null],
  ['/etc/x:y is wrong', null],
  ['see /notes:review', null],
  ['/:review', null],
  [`/${'x'.repeat(65)}:review`, null],
])('%j chooses %j', (text, expected) => {
  expect(readPromptCommand(text)).toEqual(expected);
});

it.each([
  ['notes:notes://a', { server: 'notes', uri: 'notes://a' }],
  ['notes:a b', { server: 'notes', uri: 'a b' }],
  ['notes:', null],
  ['C:\\work\\a.ts', { server: 'C', uri: '\\work\\a.ts' }],
  ['src/a.ts', null],
  ['a.ts:3', null],
])('@%s mentions %j', (mention, expected) => {
  expect(readResourceMention(mention)).toEqual(expected);
});
