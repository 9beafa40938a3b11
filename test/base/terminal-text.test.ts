import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toPrintableJson } from '../../src/base/printable-json.ts';
import {
  listNamesOnOneLine,
  sanitizeForTerminal,
  TerminalSanitizer,
  type TerminalContext,
} from '../../src/base/terminal-text.ts';

const ESC = '\u001b';
const CONTEXTS = ['prose', 'exact', 'plain'] as const;

describe('prose', () => {
  it.each([
    ['two\tlines\nof text', 'two\tlines\nof text'],
    [`a${ESC}[1;31mb${ESC}[0mc`, 'abc'],
    [`${ESC}]0;title\u0007x${ESC}]8;;http://h${ESC}\\y`, 'xy'],
    [`${ESC}Pq#0${ESC}\\z${ESC}_apc${ESC}\\!${ESC}^pm\u009c?${ESC}Xsos\u009c.`, 'z!?.'],
    ['\u009b31mx\u0090dcs\u009cy\u009d0;t\u0007z\u0085', 'xyz'],
    [`${ESC}(Bx${ESC}cy${ESC}7z`, 'xyz'],
    [`${ESC}]52;c;swallowed\nnext`, '\nnext'],
    [`${ESC}]0;a${ESC}[31mred`, 'red'],
    [`${ESC}[31\nnext`, '\nnext'],
    [`${ESC}é`, 'é'],
    ['\u0000\u0007\u000b\u000c\u007f.', '.'],
    ['rm -rf\rls', 'rm -rf␍ls'],
    ['one\r\ntwo\r', 'one\ntwo␍'],
    ['safe\u0008\u0008evil', 'safe␈␈evil'],
    ['a\u202eb\u2066c\u200fd', 'a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩d'],
    ['tag\u{e0041}', 'tag⟨U+E0041⟩'],
    ['pass\u200bword \ufeff', 'pass⟨U+200B⟩word ⟨U+FEFF⟩'],
    ['ad\u200dmin', 'ad⟨U+200D⟩min'],
    ['👩‍💻 ❤️‍🔥 1️⃣ می‌خواهم क्‍ष', '👩‍💻 ❤️‍🔥 1️⃣ می‌خواهم क्‍ष'],
    ['ünïcödé 日本', 'ünïcödé 日本'],
    ['half \ud83d and \ude00', 'half \ufffd and \ufffd'],
    ['line\u2028end', 'line⟨U+2028⟩end'],
  ])('%j', (text, expected) => {
    expect(sanitizeForTerminal(text, 'prose')).toBe(expected);
  });
});

describe('exact text shows everything', () => {
  it.each([
    [`${ESC}[31mred`, '⟨U+001B⟩[31mred'],
    ['over\rwritten\r\n', 'over␍written␍\n'],
    ['a\u0008\u0007', 'a␈⟨U+0007⟩'],
    ['c1\u009b2J', 'c1⟨U+009B⟩2J'],
    ['می‌خواهم', 'می⟨U+200C⟩خواهم'],
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['ünïcödé 日本', 'ünïcödé 日本'],
  ])('%j', (text, expected) => {
    expect(sanitizeForTerminal(text, 'exact')).toBe(expected);
  });
});

it('plain text keeps every character that is not a control character', () => {
  expect(sanitizeForTerminal(`a\u202eb\u200b\r\n${ESC}[31mc\u0008`, 'plain')).toBe(
    'a\u202eb\u200b\r\nc',
  );
});

it.each(CONTEXTS)('%s: text that the fast check accepts is harmless', (context) => {
  for (let code = 0; code < 0x3000; code += 1) {
    const text = `a${String.fromCharCode(code)}b`;
    const machine = new TerminalSanitizer(context);
    const shown = machine.write(text) + machine.end();
    if (sanitizeForTerminal(text, context) !== shown)
      expect(sanitizeForTerminal(text, context)).toBe(shown);
  }
});

const SPLIT = '|';
const piece = fc.constantFrom(
  ...`${ESC}|[|]|P|_|\\|0|;|m|\u0007|\r|\n|\r\n|\u0008|a|\u009b|\u009d|\u009c|\u0018|😀|\u200d|\ufe0f|\u202e|\u{e0041}|\u2028|é`.split(
    SPLIT,
  ),
  '\ud83d',
  '\ude00',
  'x'.repeat(70),
  'y'.repeat(5_000),
);
const hostile = fc.oneof(
  fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
);

it('never lets a forbidden character through', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(...CONTEXTS), (text, context) => {
      const clean = sanitizeForTerminal(text, context);
      expect(clean.isWellFormed()).toBe(true);
      // oxlint-disable-next-line no-control-regex -- what is looked for
      expect(clean).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
      if (context === 'plain') return;
      expect(clean).not.toMatch(/[\r\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/);
      expect(clean).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
    }),
    { numRuns: 3_000 },
  );
});

it('gives the same result however the text is cut into chunks', () => {
  const cuts = fc.array(fc.nat(5_200), { maxLength: 8 });
  fc.assert(
    fc.property(hostile, cuts, fc.constantFrom(...CONTEXTS), (text, places, context) => {
      expect(inChunks(text, places, context)).toBe(sanitizeForTerminal(text, context));
    }),
    { numRuns: 3_000 },
  );
});

function inChunks(text: string, places: readonly number[], context: TerminalContext): string {
  const machine = new TerminalSanitizer(context);
  const ends = [...places.toSorted((a, b) => a - b), text.length];
  let start = 0;
  let clean = '';
  for (const end of ends) {
    clean += machine.write(text.slice(start, Math.max(start, end)));
    start = Math.max(start, end);
  }
  return clean + machine.end();
}

it('a sequence that never ends swallows a limited number of characters', () => {
  for (const start of [`${ESC}]`, `${ESC}P`, '\u009f', `${ESC}[`, `${ESC}(`]) {
    const clean = sanitizeForTerminal(start + '1'.repeat(10_000), 'prose');
    expect(clean.length).toBeGreaterThan(5_000);
  }
});

it('JSON keeps its value, and nothing in it controls a terminal', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const json = toPrintableJson({ text });
      expect(JSON.parse(json)).toEqual({ text });
      expect(sanitizeForTerminal(json, 'exact')).toBe(json);
    }),
    { numRuns: 2_000 },
  );
});

it('lists names from outside on one line, shortened and counted', () => {
  const names = ['a\nmuster: fake', 'x'.repeat(500), 'c', 'd'];
  expect(listNamesOnOneLine(names, 2)).toBe(`a␊muster: fake, ${'x'.repeat(80)} and 2 more`);
  expect(listNamesOnOneLine(['a', 'b'], 2)).toBe('a, b');
});
