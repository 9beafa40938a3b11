import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDiff } from '../../../src/front/web/diff-files.ts';
import { formatDiff } from '../../../src/workspaces/format-diff.ts';
import type { PathDifference, PathState } from '../../../src/workspaces/difference.ts';

const file = (text: string): PathState => ({
  kind: 'file',
  executable: false,
  bytes: Buffer.from(text),
});

/** Lines that look like parts of a diff. */
const LINES = ['a', 'b', '', '--- a/x', '+++ b/x', '@@ -1 +1 @@', 'diff --git a/x b/x', '\\ No'];
const content = fc
  .array(fc.constantFrom(...LINES), { maxLength: 12 })
  .chain((lines) => fc.constantFrom(lines.join('\n'), `${lines.join('\n')}\n`));
const path = fc.constantFrom('x', 'a b/x', 'ä "quoted".txt', 'b/b/x', 'tab\tx');
const difference: fc.Arbitrary<PathDifference> = fc.record({
  path,
  before: fc.option(content.map(file)),
  after: fc.option(content.map(file)),
});

/** Applies the hunks of a change to a text. */
function apply(text: string, hunks: ReturnType<typeof parseDiff>['files'][number]['hunks']) {
  const old = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let result = '';
  let at = 0;
  for (const { oldStart, lines } of hunks) {
    const isPure = lines.every((line) => /^[+\\]/.test(line));
    const start = isPure ? oldStart : oldStart - 1;
    result += old.slice(at, start).join('');
    at = start;
    for (const [index, line] of lines.entries()) {
      if (line.startsWith('\\')) continue;
      const end = lines[index + 1]?.startsWith('\\') === true ? '' : '\n';
      if (line[0] !== '-') result += `${line.slice(1)}${end}`;
      if (line[0] !== '+') at += 1;
    }
  }
  return result + old.slice(at).join('');
}

describe('a diff of several files', () => {
  it('is read back, whatever its lines look like', () => {
    fc.assert(
      fc.property(fc.array(difference, { maxLength: 4 }), (differences) => {
        const changed = differences.filter(
          ({ before, after }) => before !== null || after !== null,
        );
        const { files, rest } = parseDiff(formatDiff(changed, 1_000_000));
        expect(rest).toBeNull();
        expect(files.map((each) => each.path)).toEqual(changed.map((each) => each.path));
        for (const [index, { hunks, kind }] of files.entries()) {
          const { before, after } = changed[index] ?? { before: null, after: null };
          const text = (state: PathState) => (state?.kind === 'file' ? String(state.bytes) : '');
          expect(apply(text(before), hunks)).toBe(text(after));
          expect(kind).toBe(before === null ? 'added' : after === null ? 'deleted' : 'changed');
        }
      }),
    );
  });

  it('says what is left out, and which file is binary or was renamed', () => {
    const text = formatDiff(
      [
        { path: 'b/new', from: 'b/old', before: file('1\n'), after: file('1\n2\n') },
        { path: 'picture', before: null, after: file('\0') },
        { path: 'long', before: null, after: file('x'.repeat(300)) },
      ],
      300,
    );
    expect(parseDiff(text)).toEqual({
      files: [
        {
          path: 'b/new',
          from: 'b/old',
          kind: 'changed',
          added: 1,
          deleted: 0,
          hunks: [{ oldStart: 1, newStart: 1, lines: [' 1', '+2'] }],
          note: null,
        },
        {
          path: 'picture',
          from: null,
          kind: 'added',
          added: 0,
          deleted: 0,
          hunks: [],
          note: 'a binary file',
        },
      ],
      rest: '(1 of 3 files not shown: the limit is 300 characters)',
    });
  });

  it.each([
    ['app/.env', null],
    ['app/.env', 'notes.txt'],
    ['notes.txt', 'app/.env'],
  ])('shows no lines of %s, which was %s before', (path, from) => {
    const before = from === null ? null : file('KEY=old\n');
    const change = { path, before, after: file('KEY=canary\n') };
    const text = formatDiff([from === null ? change : { ...change, from }], 999);
    const [shown] = parseDiff(text).files;
    expect(shown).toMatchObject({
      path,
      from,
      added: 1,
      hunks: [],
      note: 'not shown, because the file may hold secrets',
    });
  });
});
