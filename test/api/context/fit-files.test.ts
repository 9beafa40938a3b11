import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitFiles, type UncutFile } from '../../../src/api/context/fit-files.ts';

function file(name: string, level: number, lines: number): UncutFile {
  return { name, level, scope: 'project', text: Array(lines).fill('x'.repeat(99)).join('\n') };
}

const shape = (files: readonly UncutFile[], maxBytes: number) => {
  const fitted = fitFiles(files, maxBytes);
  const shown = fitted.files.map(({ name, text, isCut }) => [name, text.split('\n').length, isCut]);
  return { shown, leftOut: fitted.leftOut };
};

test('files that fit are included in full', () => {
  expect(shape([file('a', 0, 2), file('b', 1, 3)], 500)).toEqual({
    shown: [
      ['a', 2, false],
      ['b', 3, false],
    ],
    leftOut: [],
  });
});

test('the outer file is cut first, at the end of a line', () => {
  expect(shape([file('outer', 0, 10), file('inner', 1, 5)], 1_000)).toEqual({
    shown: [
      ['outer', 5, true],
      ['inner', 5, false],
    ],
    leftOut: [],
  });
});

test('project files leave room for the user’s own file and get the room that it does not need', () => {
  const own: UncutFile = { ...file('own', 0, 100), scope: 'user' };
  expect(shape([own, file('project', 1, 400)], 32 * 1024)).toEqual({
    shown: [
      ['own', 81, true],
      ['project', 245, true],
    ],
    leftOut: [],
  });
  const short: UncutFile = { ...file('own', 0, 5), scope: 'user' };
  expect(shape([short, file('project', 1, 400)], 32 * 1024)).toEqual({
    shown: [
      ['own', 5, false],
      ['project', 322, true],
    ],
    leftOut: [],
  });
});

test('in one directory a file comes before its imports', () => {
  expect(
    shape([file('outer', 0, 1), file('importer', 1, 5), file('import', 1, 90)], 1_000),
  ).toEqual({
    shown: [
      ['importer', 5, false],
      ['import', 5, true],
    ],
    leftOut: ['outer'],
  });
});

test('a single line that is longer than the limit is cut', () => {
  const { text, ...rest } = file('long', 0, 1);
  const long = { ...rest, text: text.repeat(50) };
  expect(shape([long], 1_000)).toEqual({ shown: [], leftOut: ['long'] });
});

test('the limit is never exceeded, lines stay complete, the order is kept, and nothing is lost', () => {
  const one = fc.record({
    name: fc.string({ maxLength: 3 }),
    level: fc.integer({ min: 0, max: 3 }),
    scope: fc.constant('project' as const),
    text: fc
      .array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), { minLength: 1 })
      .map((lines) => lines.join('\n')),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), fc.nat(2_000), (files, maxBytes) => {
      const { files: fitted, leftOut } = fitFiles(files, maxBytes);
      const bytes = fitted.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
      expect(bytes).toBeLessThanOrEqual(maxBytes);
      expect(fitted.length + leftOut.length).toBe(files.length);
      const sources = files.filter(({ name }) => fitted.some((each) => each.name === name));
      expect(sources.length).toBeGreaterThanOrEqual(fitted.length);
      for (const { name, text, isCut } of fitted) {
        const whole = files.some(
          (each) =>
            each.name === name &&
            (isCut ? `${each.text}`.startsWith(`${text}\n`) : each.text === text),
        );
        expect(whole).toBe(true);
      }
    }),
  );
});
