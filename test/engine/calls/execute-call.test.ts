import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitOutput, isWithinCaps } from '../../../src/engine/calls/execute-call.ts';
import { tempDirectory } from '../../sys/temp.ts';

const CAPS = { resultBytes: 5_000, readBytes: 20_000, spillBytes: 1_000_000, toolMs: 1 };
const GREP = { name: 'Other' };

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('</outside x>', '<notice>', '\u202e', '\n', '\r\n', '𝒳', 'é', '\0', '\ufeff'),
);
const long = fc
  .tuple(fc.array(text, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 4_000 }))
  .map(([parts, times]) => parts.join('').repeat(times).slice(0, 40_000));

test('a result that is too large keeps its beginning and its end, and a file contains the full text', () => {
  const path = join(tempDirectory(), 'spill');
  fc.assert(
    fc.property(long, (whole) => {
      const fitted = fitOutput(whole, GREP, { caps: CAPS, spillPath: () => path });
      if (isWithinCaps(whole, GREP, CAPS)) {
        expect(fitted).toBe(whole);
        return;
      }
      expect(Buffer.byteLength(fitted)).toBeLessThanOrEqual(CAPS.resultBytes);
      const note = `left out; the full output is in ${path}: Read it with offset, or Grep it …]\n`;
      const at = fitted.lastIndexOf(note);
      const head = fitted.slice(0, fitted.lastIndexOf('\n[… ', at));
      const tail = fitted.slice(at + note.length);
      const kept = whole.toWellFormed();
      expect(readFileSync(path, 'utf8')).toBe(kept);
      expect(kept.startsWith(head)).toBe(true);
      expect(kept.endsWith(tail)).toBe(true);
      const left = Buffer.byteLength(whole) - Buffer.byteLength(head) - Buffer.byteLength(tail);
      expect(fitted).toContain(`[… ${left} byte`);
      rmSync(path);
    }),
    { numRuns: 300 },
  );
});

test('the result says if the file could not be written', () => {
  const spillPath = () => join(tempDirectory(), 'none', 'spill');
  expect(fitOutput('x'.repeat(30_000), GREP, { caps: CAPS, spillPath })).toMatch(
    /left out; the full output could not be saved \(ENOENT/,
  );
});
