import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineBuffer } from '../../src/control/line-buffer.ts';

test('the lines are the same wherever the stream was cut', () => {
  const line = fc
    .string({ unit: 'binary', maxLength: 20 })
    .map((text) => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(fc.array(line), line, fc.array(fc.nat()), (lines, rest, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join('') + rest);
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
      const buffer = new LineBuffer(1000);
      const found: string[] = [];
      let start = 0;
      for (const end of ends.toSorted((a, b) => a - b)) {
        const more = buffer.push(bytes.subarray(start, end));
        if (more !== 'too-long') found.push(...more.map(String));
        start = end;
      }
      expect(found).toEqual(lines.map((text) => Buffer.from(text).toString()));
      expect(buffer.pendingBytes).toBe(Buffer.byteLength(rest));
    }),
  );
});

test('a line may have exactly the maximum number of bytes', () => {
  expect(new LineBuffer(4).push(Buffer.from('abcd\nabcd\n')).length).toBe(2);
  expect(new LineBuffer(4).push(Buffer.from('abcde'))).toBe('too-long');
  const buffer = new LineBuffer(4);
  expect(buffer.push(Buffer.from('abc'))).toEqual([]);
  expect(buffer.push(Buffer.from('de\n'))).toBe('too-long');
});
