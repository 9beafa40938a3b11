import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeLines, readPlaceLines } from '../../src/base/code/place-lines.ts';

const LINE = fc.string().map((text) => text.replaceAll(/[\n\r\u2028\u2029]/g, ' '));

test('an answer says its places again', () => {
  const place = fc.record({
    path: LINE.filter((path) => path !== ''),
    line: fc.integer({ min: 1, max: 999_999_999 }),
    reason: LINE.map((text) => `defines ${text.replaceAll('`', '')}`),
    quote: fc.option(LINE),
  });
  fc.assert(
    fc.property(fc.array(place), (places) => {
      expect(readPlaceLines(`Before.\n\n${placeLines(places)}\n\nAfter.`)).toEqual(places);
    }),
  );
});

test('another text has none', () => {
  expect(readPlaceLines('1. Nothing\n   > a\n`a.ts:1`: x')).toEqual([]);
});
