import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineWindow, type LineWindowOptions } from '../../../src/tools/read/line-window.ts';

const piece = fc.oneof(
  fc.constantFrom(
    '\n',
    '\r\n',
    '\r',
    '\0',
    '\uFFFD',
    'a',
    'ä',
    '世界',
    '🌍',
    'x'.repeat(1_999),
    '',
  ),
  fc.string(),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join('')));
/** Bytes that are mostly not valid UTF-8. */
const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const file = fc.array(fc.oneof(text, noise), { maxLength: 4 }).map((parts) => Buffer.concat(parts));
const window = fc.record<LineWindowOptions>({
  first: fc.integer({ min: 1, max: 5 }),
  count: fc.integer({ min: 1, max: 5 }),
  maxBytes: fc.constantFrom(40, 3_000, 100_000),
});

function shown(options: LineWindowOptions, chunks: readonly Buffer[]) {
  const taker = new LineWindow(options);
  for (const chunk of chunks) taker.push(chunk);
  taker.end();
  const { lines, total, cutLines, hasInvalidBytes: lossy, outOfBytes, next } = taker;
  return { lines, total, cutLines, lossy, outOfBytes, next };
}

it('shows the same lines however their bytes are split', () => {
  fc.assert(
    fc.property(file, window, (bytes, options) => {
      const byteByByte = Array.from(bytes, (byte) => Buffer.of(byte));
      expect(shown(options, [bytes])).toEqual(shown(options, byteByByte));
    }),
    { numRuns: 500 },
  );
});

it('shows plain lines unchanged with their numbers', () => {
  const bytes = Buffer.from('one\ntwo — 2\n\n\tfour\nfive');
  expect(shown({ first: 2, count: 3, maxBytes: 1_000 }, [bytes])).toEqual({
    lines: ['2\ttwo — 2', '3\t', '4\t\tfour'],
    total: 5,
    cutLines: 0,
    lossy: false,
    outOfBytes: false,
    next: 5,
  });
});
