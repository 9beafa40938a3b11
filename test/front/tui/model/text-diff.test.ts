import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { diffLines, diffSize } from '../../../../src/front/tui/view/diff-lines.ts';
import { Pen } from '../../../../src/front/tui/view/pen.ts';
import { PLAIN } from '../../../../src/front/tui/view/theme.ts';
import {
  changedWords,
  textDiff,
  UNLIMITED_DIFF,
  lineChanges,
} from '../../../../src/front/tui/model/text-diff.ts';
import { addLineNumbers, textChanges } from '../../../../src/front/tui/model/call-details.ts';

const pen = new Pen(PLAIN);
const LINES = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });

it('the changes turn one side into the other', () => {
  fc.assert(
    fc.property(LINES, LINES, (before, after) => {
      const changes = lineChanges(before, after);
      const gone = changes.filter(({ sign }) => sign === '-');
      const there = changes.filter(({ sign }) => sign !== '-');
      expect(there.map(({ at }) => at)).toEqual(after.map((_, index) => index));
      const kept = before.filter((_, index) => !gone.some(({ at }) => at === index));
      expect(kept).toEqual(changes.filter(({ sign }) => sign === ' ').map(({ at }) => after[at]));
    }),
  );
});

it('texts that are too long to compare are replaced as a whole', () => {
  const side = (name: string) => Array.from({ length: 600 }, (_, line) => `${name} ${line}`);
  const changes = lineChanges(['top', ...side('a'), 'end'], ['top', ...side('b'), 'end']);
  expect(changes.length).toBe(1_202);
  expect(changes.map(({ sign }) => sign).join('')).toBe(` ${'-'.repeat(600)}${'+'.repeat(600)} `);
});

function drawn(before: string | null, after: string, first: number | null = null) {
  const diff = textDiff(before, after, { lines: 8, lineLength: 30, context: 1 });
  return diffLines({ ...diff, first: first ?? diff.first }, pen);
}

it.each([
  ['a new file, numbered', null, 'one\ntwo\n', ['1 + one', '2 + two']],
  ['a line that changes', 'a\nb\nc', 'a\nB\nc', ['  a', '- b', '+ B', '  c']],
  [
    'what is far from a change',
    'a\nb\nc\nd\ne',
    'a\nb\nc\nd\nE',
    ['… 3 lines', '  d', '- e', '+ E'],
  ],
  ['a newline at the end of one side alone', 'a', 'a\n', ['  a', '+ ']],
  ['all that goes', 'a\nb\n', '', ['- a', '- b']],
  [
    'tabs, carriage returns and what steers',
    'a',
    '\tb\r\u001b[2J\u202e',
    ['- a', '+     b␍⟨U+001B⟩[2J⟨U+202E⟩'],
  ],
  ['nothing', '', '', []],
] as const)('draws %s', (_what, before, after, lines) => {
  expect(drawn(before, after)).toEqual(lines);
});

it('each side has its own line numbers', () => {
  expect(drawn('a\nb\nc\n', 'a\nx\ny\nz\nc\n', 98)).toEqual([
    ' 98   a',
    ' 99 - b',
    ' 99 + x',
    '100 + y',
    '101 + z',
    '102   c',
  ]);
});

it('lines beyond the limit are counted', () => {
  const diff = textDiff(null, `${'x'.repeat(1_000)}\n`.repeat(500), {
    lines: 20,
    lineLength: 30,
    context: 3,
  });
  expect([diff.lines.length, diff.dropped, diff.added]).toEqual([20, 480, 500]);
  expect(diff.lines[0]).toEqual({ sign: '+', text: 'x'.repeat(30), number: 1, words: null });
  expect(textDiff('a\n', 'b\n'.repeat(300), UNLIMITED_DIFF).dropped).toBe(0);
});

it.each([
  ['const a = 1;', 'const a = 2;', ['1', '2']],
  ['a(b)', 'a(b, c)', ['', ', c']],
  ['cafe', 'cafe\u0301', null],
  ['say cafe', 'say cafe\u0301', ['cafe', 'cafe\u0301']],
  ['hi 👩‍👧 there', 'hi 👩‍👦 there', ['👩‍👧', '👩‍👦']],
  ['one', 'quite another', null],
])('from %j to %j', (before, after, words) => {
  const changed = changedWords(before, after);
  expect(
    changed && [
      before.slice(changed.before.from, changed.before.to),
      after.slice(changed.after.from, changed.after.to),
    ],
  ).toEqual(words);
});

it('the changes of a call have a size, and line numbers once the tool has reported them', () => {
  const edits = textChanges('MultiEdit', {
    file_path: 'a',
    edits: [
      { old_string: 'a', new_string: 'b\nc' },
      { old_string: 'd', new_string: '' },
    ],
  });
  expect(diffSize(edits)).toBe('+2 -2');
  const said =
    'Edited 9 replacements at line 9.ts: 1 replacement at line 12; 2 replacements at lines 40, 50.';
  expect(addLineNumbers(edits, 'MultiEdit', said).map(({ first }) => first)).toEqual([12, 40]);
  expect(addLineNumbers(edits, 'MultiEdit', 'nothing').map(({ first }) => first)).toEqual([
    null,
    null,
  ]);
  expect(textChanges('Read', { file_path: 'a' })).toEqual([]);
  expect(textChanges('Edit', 'no object')).toEqual([]);
});

it('only the size of changes after the first twenty is kept', () => {
  const edit = { old_string: 'a', new_string: 'b' };
  const edits = textChanges('MultiEdit', {
    file_path: 'a',
    edits: Array.from({ length: 25 }, () => edit),
  });
  expect(edits.map(({ lines, dropped }) => lines.length + dropped)).toEqual(Array(25).fill(2));
  expect(edits.filter(({ dropped }) => dropped > 0).length).toBe(5);
  expect(diffSize(edits)).toBe('+25 -25');
});
