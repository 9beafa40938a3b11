import { measureCpuMs } from '../../cpu-time.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyEdit } from '../../../src/tools/edit/apply-edit.ts';
import { explainMiss } from '../../../src/tools/edit/near-miss.ts';

test.each([
  ['it’s ok', "it's ok", 'typographic quotes', 'column 3 the file has ’ (U+2019)'],
  ['say "hi"', 'say “hi”', 'typographic quotes', 'old_string has “ (U+201C)'],
  ['a «b»', 'a "b"', 'typographic quotes', 'the file has « (U+00AB)'],
  [
    'a — b',
    'a - b',
    'typographic dashes',
    'the file has — (U+2014), and old_string has - (U+002D)',
  ],
  ['a — b', 'a -- b', 'typographic dashes', 'the file has — (U+2014)'],
  ['wait…', 'wait...', 'an ellipsis', 'the file has … (U+2026)'],
  ['cafe\u0301', 'caf\u00E9', 'composed or decomposed letters (NFC, NFD)', '(U+0065 U+0301)'],
  ['caf\u00E9', 'cafe\u0301', 'composed or decomposed letters (NFC, NFD)', '(U+0065 U+0301)'],
  [
    'a\u00A0b',
    'a b',
    'no-break or other special blanks',
    'the file has U+00A0, and old_string has 1 blank',
  ],
  ['a\u3000b', 'a b', 'no-break or other special blanks', 'the file has U+3000'],
  ['a\u200Bb', 'ab', 'invisible characters', 'the file has U+200B, and old_string has "b"'],
  ['ab', '\uFEFFab', 'invisible characters', 'old_string has U+FEFF'],
  ['\tx = 1', '    x = 1', 'white space', 'the file has 1 tab, and old_string has 4 blanks'],
  ['a {\n  b\n}', 'a {\n    b\n}', 'white space', 'column 1 the file has 2 blanks'],
  ['a  b', 'a b', 'white space', 'the file has 2 blanks, and old_string has 1 blank'],
  [
    'a  \nb',
    'a\nb',
    'white space',
    'the file has 2 blanks, and old_string has the end of the line',
  ],
  [
    "x = 'y'",
    'x = "y"',
    'single and double quotes',
    'the file has \' (U+0027), and old_string has " (U+0022)',
  ],
  ['ＡＢ（１）', 'AB(1)', 'full-width letters, ligatures or the like', 'the file has Ａ (U+FF21)'],
  ['ﬁle', 'file', 'full-width letters, ligatures or the like', 'the file has ﬁ (U+FB01)'],
  ['½ x², ①', '1/2 x2, 1', 'full-width letters, ligatures or the like', 'the file has ½ (U+00BD)'],
  ['say "x"', String.raw`say \"x\"`, 'backslashes in front of quotes', 'the file has " (U+0022)'],
  ['a &lt; b', 'a < b', 'characters written as in HTML (&lt;)', 'the file has & (U+0026)'],
  ['Hello', 'hello', 'upper and lower case', 'the file has "H", and old_string has "h"'],
])('%j looks like %j', (there, wanted, name, detail) => {
  const said = explainMiss(`first\n${there}\nlast\n`, wanted);
  expect(said).toContain(`line 2 would match except for ${name}. At line `);
  expect(said).toContain(detail);
  expect(said).toContain(`\n2\t${(there.split('\n')[0] ?? '').trimEnd()}`);
});

test('all differences are named, and up to three matches shown', () => {
  const line = 'a\u00A0“b”';
  expect(explainMiss(Array(5).fill(line).join('\n'), 'a "b"')).toBe(
    [
      'old_string was not found; lines 1, 2, 3, 4, 5 would match except for typographic quotes and no-break or other special blanks. At line 1, column 2 the file has U+00A0, and old_string has 1 blank. Copy it exactly as it stands in the file:',
      `1\t${line}`,
      `2\t${line}`,
      `3\t${line}`,
    ].join('\n'),
  );
});

test('a line end that the file does not have is named', () => {
  expect(explainMiss('a\nb', 'b\n')).toBe(
    'old_string was not found; line 2 would match except for the line end after it, which the file does not have. Copy it exactly as it stands in the file:\n2\tb',
  );
  expect(explainMiss('a\nb\nc', 'b\n\n')).toContain('except for empty lines around it. Copy');
});

test('the first difference is found at the end of a long line', () => {
  const line = `${'ab '.repeat(30_000)}it’s${' cd'.repeat(1000)}`;
  expect(explainMiss(`x\n${line}\n`, "it's cd")).toContain(
    `At line 2, column ${90_000 + 3} the file has ’ (U+2019), and old_string has ' (U+0027).`,
  );
});

test('the part of a long line around the difference is shown', () => {
  const said = explainMiss(`${'x'.repeat(1000)} it’s here`, "it's here");
  expect(said).toContain('At line 1, column 1004 the file has ’ (U+2019)');
  expect(said).toMatch(/\n1\t…x+ it’s here$/);
});

test('for a block that begins like the file the first differing line is named', () => {
  expect(explainMiss('a\nbb\nc\nd\n', 'a\nbb\nX\nd')).toBe(
    'old_string was not found completely. Its first 2 lines are at line 1, then line 3 differs:\n3\tc\nand old_string has: X',
  );
});

/** Changes after which a text still looks the same. */
const DISGUISES: readonly (readonly [RegExp, string])[] = [
  [/'/g, '’'],
  [/"/g, '“'],
  [/-/g, '–'],
  [/ /g, '\u00A0'],
  [/ /g, '\t'],
  [/é/g, 'e\u0301'],
];

test('every disguised text is found, and never replaced', () => {
  const words = fc.constantFrom("it's", '"so"', 'a-b', 'café', 'x = 1;', 'foo(bar)');
  const line = fc.array(words, { minLength: 1, maxLength: 4 }).map((each) => each.join(' '));
  const disguises = fc.subarray([...DISGUISES], { minLength: 1 });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 4 }), disguises, (lines, chosen) => {
      const wanted = lines.join('\n');
      const there = chosen.reduce((text, [from, to]) => text.replaceAll(from, to), wanted);
      fc.pre(!there.includes(wanted));
      const text = `top\n${there}\nend\n`;
      const result = applyEdit(text, { old_string: wanted, new_string: 'z' }, '\n');
      expect(result).toEqual({
        ok: false,
        problem: expect.stringMatching(
          /^old_string was not found; lines? 2[ ,].*would match except for .* At line \d/,
        ),
      });
    }),
  );
});

test('any two texts are explained in little time', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'A', ' ', '\t', '\n', '\r', '“', '"', 'e', '\u0301', '\u200B'),
  });
  fc.assert(
    fc.property(text, text, (there, wanted) => {
      expect(explainMiss(there, wanted)).toMatch(/^old_string was not found/);
    }),
  );
  const same = 'x\n'.repeat(50_000);
  const cpuMs = measureCpuMs(() => {
    expect(explainMiss(`${same}y`, `${'x\n'.repeat(20_000)}z`)).toMatch(
      /^old_string was not found/,
    );
  });
  expect(cpuMs).toBeLessThan(5000);
});
