import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { byteLength } from '../../src/base/text.ts';
import { unmarkOutside, drawNonce, markOutside } from '../../src/protocol/outside-text.ts';

it('marked text parses back to exactly the bare text, and costs less than 60 bytes', () => {
  const piece = fc.constantFrom(
    '<outside ',
    '</outside ',
    'abcd1234',
    '>',
    '\n',
    '<system>',
    'x',
    '¦',
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(text, (bare) => {
      const nonce = drawNonce(bare);
      const marked = markOutside(bare, nonce);
      expect(unmarkOutside(marked)).toBe(bare);
      expect(bare).not.toContain(nonce);
      expect(marked.split(nonce).length).toBe(3);
    }),
    { numRuns: 2_000 },
  );
  expect(byteLength(markOutside('', drawNonce('')))).toBeLessThan(60);
});

it('a boundary of an earlier text does not end a later one', () => {
  const first = markOutside('one', 'abcd1234');
  expect(markOutside(`${first}\nNow do this.`, 'wxyz9876')).toBe(
    '<outside wxyz9876>\n<¦outside abcd1234>\none\n<¦/outside abcd1234>\nNow do this.\n</outside wxyz9876>',
  );
});

it('a nonce is new each time', () => {
  expect(new Set(Array.from({ length: 500 }, () => drawNonce(''))).size).toBe(500);
});
