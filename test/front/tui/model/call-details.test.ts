import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  addLineNumbers,
  describeAnswer,
  fileChange,
  lastLines,
  proposedChange,
  replacementOf,
  textChanges,
  withFileContext,
  withoutExitNote,
} from '../../../../src/front/tui/model/call-details.ts';
import { callSubject } from '../../../../src/report/call-subject.ts';
import type { TextDiff } from '../../../../src/front/tui/model/text-diff.ts';

const FILE = `${Array.from({ length: 9 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;

/** The lines of a change as they are shown. */
function shown({ lines, first }: TextDiff): readonly string[] {
  return lines.map((line) =>
    line.sign === '…' ? '…' : `${(first ?? 1) + line.number - 1}${line.sign}${line.text}`,
  );
}

/** The change of an edit of FILE with the lines around it. */
function edited(before: string, after: string, line: number, file = FILE): readonly string[] {
  const [diff] = addLineNumbers(
    textChanges('Edit', { old_string: before, new_string: after }),
    'Edit',
    `Edited a: 1 replacement at line ${line}.`,
  );
  if (diff === undefined) throw new Error('there is no change');
  return shown(withFileContext(diff, file));
}

it('a change gets up to three unchanged lines of its file on each side', () => {
  const middle = ['2 line 2', '3 line 3', '4 line 4', '5-line 5', '5+five', '6 line 6', '7 line 7'];
  expect(edited('line 5', 'five', 5)).toEqual([...middle, '8 line 8']);
  expect(edited('line 5', 'five', 5, FILE.replaceAll('\n', '\r\n'))).toEqual([
    ...middle,
    '8 line 8',
  ]);
  // Lines that the call names itself are not repeated.
  expect(edited('line 4\nline 5\nline 6', 'line 4\nfive\nline 6', 4)).toEqual([
    ...middle,
    '8 line 8',
  ]);
  expect(edited('line 1\n', 'one\ntwo\n', 1)).toEqual([
    '1-line 1',
    '1+one',
    '2+two',
    '3 line 2',
    '4 line 3',
    '5 line 4',
  ]);
  expect(edited('line 9', '', 9)).toEqual(['6 line 6', '7 line 7', '8 line 8', '9-line 9']);
});

it('a file that is written again shows what has changed', () => {
  const after = FILE.replace('line 5', 'five');
  const [written] = textChanges('Write', { content: after });
  if (written === undefined) throw new Error('there is no change');
  expect(shown(replacementOf(written, FILE))).toEqual([
    '…',
    '2 line 2',
    '3 line 3',
    '4 line 4',
    '5-line 5',
    '5+five',
    '6 line 6',
    '7 line 7',
    '8 line 8',
    '…',
  ]);
});

it('the unchanged lines around any edit are those of the file', () => {
  const line: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', '');
  const lines = fc.array(line, { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(lines, fc.nat(11), fc.array(line, { maxLength: 3 }), (before, at, added) => {
      const index = at % before.length;
      const unique = before.with(index, 'unique');
      const file = `${unique.join('\n')}\n`;
      const after = [...unique.slice(0, index), 'x', ...added, ...unique.slice(index + 1)];
      const change = edited('unique', ['x', ...added].join('\n'), index + 1, file);
      for (const row of change) {
        const [, number = '', sign = '', text = ''] = /^(\d+)([ +-])(.*)$/.exec(row) ?? [];
        const side = sign === '-' ? unique : after;
        expect(side[Number(number) - 1]).toBe(text);
      }
    }),
  );
});

it.each([
  ['Edit', { old_string: 'b', new_string: 'x', replace_all: true }, 'a b b', 'a x x'],
  ['Edit', { old_string: 'b', new_string: '$&', replace_all: false }, 'a b', 'a $&'],
  [
    'MultiEdit',
    {
      edits: [
        { old_string: 'a', new_string: 'b' },
        { old_string: 'b', new_string: 'c' },
      ],
    },
    'a',
    'c',
  ],
  ['Write', { content: 'new' }, 'old', 'new'],
  ['Edit', { old_string: 'b', new_string: 'x' }, 'b b', null],
  ['Edit', { old_string: 'z', new_string: 'x' }, 'a', null],
  ['Grep', { pattern: 'a' }, 'a', null],
])('the file after %s %j', (tool, input, before, after) => {
  const bounds = { lines: 10, lineLength: 100, context: 3 };
  const diff = fileChange(tool, input, before, bounds);
  const text = diff?.lines.flatMap((line) => (line.sign === '+' ? [line.text] : []));
  expect(text?.join('\n') ?? null).toBe(after);
});

it('proposed edits are shown with the lines around them, and without', () => {
  const change = (...edits: readonly (readonly [string, string])[]) => {
    const proposed = edits.map(([before, after]) => {
      return { path: '/a', before, after, everywhere: false };
    });
    const found = proposedChange(proposed, FILE.replaceAll('\n', '\r\n'));
    return found === null ? null : [shown(found.full), shown(found.brief)];
  };
  expect(change(['5\n', 'five\n'])).toEqual([
    [
      '2 line 2',
      '3 line 3',
      '4 line 4',
      '5-line 5',
      '5+line five',
      '6 line 6',
      '7 line 7',
      '8 line 8',
    ],
    ['5-line 5', '5+line five'],
  ]);
  const [, brief] = change(['line 1', 'one'], ['line 9', 'nine']) ?? [];
  expect(brief).toEqual(['1-line 1', '1+one', '…', '9-line 9', '9+nine']);
  expect(change(['line', 'row'])).toBe(null);
  expect(change(['nothing', 'row'])).toBe(null);
});

it('a proposed change of very many lines is not shown as one', () => {
  const file = 'a\n'.repeat(2_000);
  const edit = { path: '/a', before: 'a', after: 'b', everywhere: true };
  expect(proposedChange([edit], file)).toBe(null);
});

it.each([
  [{ kind: 'once' }, null],
  [{ kind: 'always', scope: 'project' }, 'always, in this project'],
  [{ kind: 'mode', scope: 'task' }, 'in its own mode, in this conversation'],
  [{ kind: 'no', reason: null }, 'no'],
  [{ kind: 'no', reason: 'later' }, 'no: later'],
  [{ kind: 'text', text: 'SQLite' }, 'SQLite'],
  [{ kind: 'approved', mode: 'default', plan: null }, 'approved, default mode'],
  [{ kind: 'approved', mode: 'acceptEdits', plan: 'x' }, 'changed and approved, acceptEdits mode'],
] as const)('the answer %j is shown as %j', (answer, text) => {
  expect(describeAnswer(answer)).toBe(text);
});

it('the end of an output is kept within limits, without the exit code', () => {
  expect(lastLines('')).toEqual([]);
  expect(lastLines('a\nb\n')).toEqual(['a', 'b']);
  expect(lastLines('1\n2\n3\n4\n5\n6\n7')).toEqual(['2', '3', '4', '5', '6', '7']);
  expect(lastLines('x'.repeat(100_000)).join('').length).toBe(500);
  expect(withoutExitNote('a\n[exit code 1]')).toBe('a');
  expect(withoutExitNote('[exit code 0]')).toBe('');
  expect(withoutExitNote('[exit code 0] x')).toBe('[exit code 0] x');
});

it('a patch is shown as its changes, and edits of other families as those of Muster', () => {
  const input =
    '*** Begin Patch\n*** Update File: a.ts\n@@\n kept\n-old\n+new\n*** Delete File: b.ts\n*** Add File: c.ts\n+added\n*** End Patch';
  expect(textChanges('PatchFiles', { input }).map(shown)).toEqual([
    ['1 kept', '2-old', '2+new'],
    ['1+added'],
  ]);
  expect(callSubject('PatchFiles', { input })).toBe('a.ts, b.ts, c.ts');
  expect(textChanges('PatchFiles', { input: 'no patch' })).toEqual([]);
  const edits = textChanges('MultiEdit', { path: 'a', edit: [{ old: 'old\n', new: 'new\n' }] });
  expect(edits.map(shown)).toEqual([['1-old', '1+new']]);
});
