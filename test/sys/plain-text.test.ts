import { expect, it } from 'vitest';
import { plainText } from '../../src/sys/plain-text.ts';

const LONG = 2_000_000;

it.each([
  ['a line without end', 'x'.repeat(LONG), LONG],
  ['returns without a line', '\r'.repeat(LONG), 0],
  ['a line that is written over and over', 'x\r'.repeat(LONG / 2), 1],
  ['lines that each return', 'x\r\n'.repeat(LONG / 4), LONG / 2],
])('%s takes no more than its length', (_, text, left) => {
  expect(plainText(text)).toHaveLength(left);
});
