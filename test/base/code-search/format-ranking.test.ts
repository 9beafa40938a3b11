import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatLocations, parseLocations } from '../../../src/base/code-search/format-ranking.ts';

const LINE = fc.string().map((text) => text.replaceAll(/[\n\r\u2028\u2029]/g, ' '));

test('the locations in a report can be read from it', () => {
  const place = fc.record({
    path: LINE.filter((path) => path !== ''),
    line: fc.integer({ min: 1, max: 999_999_999 }),
    reason: LINE.map((text) => `defines ${text.replaceAll('`', '')}`),
    quote: fc.option(LINE),
  });
  fc.assert(
    fc.property(fc.array(place), (places) => {
      expect(parseLocations(`Before.\n\n${formatLocations(places)}\n\nAfter.`)).toEqual(places);
    }),
  );
});

test('another text has no locations', () => {
  expect(parseLocations('1. Nothing\n   > a\n`a.ts:1`: x')).toEqual([]);
});
