import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines } from '../../../src/front/headless/read-lines.ts';

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size)
    yield bytes.subarray(start, start + size);
}

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('readLines', () => {
  it('gives the lines and their numbers however the input is cut, and drops only lines above the limit', async () => {
    const line = fc.stringMatching(/^[a-zäß ]{0,12}$/);
    const property = fc.asyncProperty(
      fc.array(line, { maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 12 }),
      async (lines, size, maxBytes) => {
        const input = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        const read = await collect(readLines(chunksOf(input, size), maxBytes));
        expect(read).toEqual(
          lines.map((text, index) => ({
            number: index + 1,
            text: Buffer.byteLength(text) > maxBytes ? null : text,
          })),
        );
      },
    );
    await fc.assert(property);
  });

  it('leaves out a byte order mark at the beginning, however it is cut', async () => {
    for (const size of [1, 2, 9]) {
      const read = await collect(readLines(chunksOf(Buffer.from('\uFEFFa\n\uFEFFb'), size), 10));
      expect(read.map(({ text }) => text)).toEqual(['a', '\uFEFFb']);
    }
  });

  it('reads a last line without a newline', async () => {
    const read = await collect(readLines(chunksOf(Buffer.from('a\nb'), 9), 10));
    expect(read).toEqual([
      { number: 1, text: 'a' },
      { number: 2, text: 'b' },
    ]);
  });
});
