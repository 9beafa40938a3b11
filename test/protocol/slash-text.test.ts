import { expect, it } from 'vitest';
import { readSlashText } from '../../src/protocol/slash-text.ts';

it.each([
  ['/review', { name: 'review', argument: '', isCommandLike: true }],
  ['/review a.ts  "b c" ', { name: 'review', argument: 'a.ts  "b c"', isCommandLike: true }],
  ['/git:commit now', { name: 'git:commit', argument: 'now', isCommandLike: true }],
  ['/team/review src', { name: 'team:review', argument: 'src', isCommandLike: false }],
  ['/etc/hosts is wrong', { name: 'etc:hosts', argument: 'is wrong', isCommandLike: false }],
  ['/2 is a number', { name: '2', argument: 'is a number', isCommandLike: false }],
  ['/review\n\n<stdin>\n$1\n</stdin>', { name: 'review', argument: '', isCommandLike: true }],
  ['/review a\nb', { name: 'review', argument: 'a\nb', isCommandLike: true }],
])('%j', (text, read) => {
  expect(readSlashText(text)).toEqual(read);
});

it.each(['', '/', '/ x', '// a comment', 'see /review', ' /review'])('%j is a message', (text) => {
  expect(readSlashText(text)).toBeNull();
});
