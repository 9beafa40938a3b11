import * as fc from 'fast-check';
import { expect, it, test } from 'vitest';
import {
  LineWindow,
  type LineWindowOptions,
  LinePiece,
} from '../../../src/tools/read/line-window.ts';
import { makeWorkspace } from '../workspace.ts';

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

/** Any line of well-formed text without characters that are shown as others. */
const line = fc
  .string({ unit: 'binary', maxLength: 400 })
  .map((text) => text.replaceAll(/[\0\r\n]/g, '·').toWellFormed());

test('consecutive pieces make the line, however it is cut and however its bytes are split', () => {
  fc.assert(
    fc.property(
      fc.tuple(line, line, line),
      fc.integer({ min: 4, max: 40 }),
      fc.integer({ min: 1, max: 50 }),
      ([before, wanted, after], maxBytes, chunk) => {
        const file = Buffer.from(`${before}\n${wanted}\n${after}`);
        const size = Buffer.byteLength(wanted);
        let text = '';
        let column = 1;
        while (column <= size) {
          const piece = new LinePiece({ line: 2, column, maxBytes });
          for (let at = 0; at < file.length; at += chunk) {
            piece.push(Buffer.from(file.subarray(at, at + chunk)));
          }
          const { text: part, first, next } = piece.piece();
          expect([first, piece.hasInvalidBytes, piece.lineBytes, piece.isOver]).toEqual([
            column,
            false,
            size,
            true,
          ]);
          expect(next).toBeGreaterThan(column);
          text += part;
          column = next;
        }
        expect(text).toBe(wanted);
      },
    ),
  );
});

test('bytes that are not text are shown completely, too, and reading on ends', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (raw) => {
      const bytes = Buffer.from(raw.map((byte) => (byte === 10 ? 11 : byte)));
      for (let column = 1; column <= bytes.length;) {
        const piece = new LinePiece({ line: 1, column, maxBytes: 7 });
        piece.push(bytes);
        const { first, next } = piece.piece();
        expect(first - column).toBeLessThanOrEqual(3);
        expect(next).toBeGreaterThan(column);
        column = next;
      }
    }),
  );
});

test('Read says where a long line continues and reads on there', async () => {
  const at = makeWorkspace();
  const long = Array.from({ length: 20_000 }, (_, each) => `${each}é`).join(' ');
  at.write('a.txt', `first\n${long}\nlast`);
  const whole = await at.call('Read', { file_path: 'a.txt' });
  const [, offset, column] = /rest: offset (\d+), column (\d+)\]/.exec(whole.text) ?? [];
  let text = Buffer.from(long)
    .subarray(0, Number(column) - 1)
    .toString();
  for (let next = Number(column); !Number.isNaN(next);) {
    const input = { file_path: 'a.txt', offset: Number(offset), column: next };
    const page = (await at.call('Read', input)).text;
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(30_000);
    const [, body = '', note = ''] = /^2\t(.*)\n(\[line 2, bytes .*\])$/s.exec(page) ?? [];
    text += body;
    next = Number(/read on with offset 2, column (\d+)\]/.exec(note)?.[1]);
  }
  expect(text).toBe(long);
});

test.each([
  [{ offset: 9, column: 1 }, '[the file has no line 9]'],
  [{ column: 99 }, '[line 1 has only 5 bytes: nothing at column 99]'],
  [{ column: 2 }, '1\tirst\n[line 1, bytes 2 to 5 of 5]'],
  [{ offset: 2, column: 1 }, '[line 2 has only 0 bytes: nothing at column 1]'],
  [
    { offset: 3, column: 1 },
    // Bytes are counted as UTF-8, as the text is shown.
    '3\txé\n[line 3, bytes 1 to 3 of 3]\n[the file is not UTF-8: read as windows-1252 (Latin-1), which Edit and Write keep]',
  ],
])('%o', async (input, expected) => {
  const at = makeWorkspace();
  at.write('a.txt', Buffer.from('first\n\nx\xe9', 'latin1'));
  expect((await at.call('Read', { file_path: 'a.txt', ...input })).text).toBe(expected);
});
