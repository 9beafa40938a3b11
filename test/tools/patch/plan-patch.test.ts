import {
  array,
  assert,
  boolean,
  constantFrom,
  integer,
  nat,
  property,
  record,
  tuple,
  type Arbitrary,
} from 'fast-check';
import { expect, it } from 'vitest';
import { parsePatch, type PatchLine } from '../../../src/protocol/patch.ts';
import { planPatch, type FileText } from '../../../src/tools/patch/plan-patch.ts';

type Tree = Readonly<Record<string, string>>;

const textsOf = (tree: Tree): ReadonlyMap<string, FileText> =>
  new Map(Object.entries(tree).map(([path, text]) => [path, { text, lineEnd: '\n' }]));

/** Applies a patch to a tree of files. Returns the new tree, or the problem. */
function patched(tree: Tree, patch: string): Tree | string {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return `line ${parsed.line}: ${parsed.problem}`;
  const plan = planPatch(parsed.files, textsOf(tree), (path) => path);
  if (!plan.ok) return plan.problem;
  const result = new Map(Object.entries(tree));
  for (const { path, text } of plan.files) {
    if (text === null) result.delete(path);
    else result.set(path, text);
  }
  return Object.fromEntries([...result].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

it('carries out the parts of a patch in their order', () => {
  const patch = `*** Begin Patch
*** Add File: new.txt
+one
*** Update File: new.txt
@@
-one
+two
*** Update File: old.txt
*** Move to: moved.txt
@@
 a
-b
+c
*** Delete File: gone.txt
*** End Patch`;
  const parsed = parsePatch(patch);
  if (!parsed.ok) throw new Error(parsed.problem);
  const tree = textsOf({ 'old.txt': 'a\nb\n', 'gone.txt': 'x\n' });
  expect(planPatch(parsed.files, tree, (path) => path)).toEqual({
    ok: true,
    files: [
      { path: 'new.txt', text: 'two\n', encodedLike: 'new.txt' },
      { path: 'old.txt', text: null, encodedLike: 'old.txt' },
      { path: 'moved.txt', text: 'a\nc\n', encodedLike: 'old.txt' },
      { path: 'gone.txt', text: null, encodedLike: 'gone.txt' },
    ],
    summary: [
      'A new.txt',
      'M new.txt: 1 change at line 1',
      'R old.txt to moved.txt: 1 change at line 1',
      'D gone.txt',
    ],
  });
});

it.each([
  [
    '*** Add File: a\n+x',
    'a (line 2 of the patch): the file exists already: use "*** Update File:"',
  ],
  ['*** Delete File: b', 'b (line 2 of the patch): there is no such file'],
  ['*** Update File: b\n-x\n+y', 'b (line 2 of the patch): there is no such file'],
  ['*** Update File: a\n*** Move to: c\n-1\n+2', 'a (line 2 of the patch): c exists already'],
  [
    '*** Delete File: c\n*** Update File: a\n@@ 9\n-1\n+2',
    'a (line 4 of the patch): the file does not have the line of @@ "9"',
  ],
])('changes nothing if a part does not fit: %j', (parts, problem) => {
  expect(patched({ a: '1\n', c: '3\n' }, `*** Begin Patch\n${parts}\n*** End Patch`)).toBe(problem);
});

/** A file before and after a patch. `from` is null for a new file, `to` for a deleted one. */
interface FileChange {
  readonly from: string | null;
  readonly to: string | null;
  readonly lines: readonly PatchLine[];
  /** Whether the last line has no line end. */
  readonly endsOpen: boolean;
  /** The number of kept lines that the patch shows around each change. */
  readonly context: number;
}

const text = constantFrom(
  '',
  ' ',
  'x',
  '  x',
  'return;',
  '}',
  '+',
  '-a',
  '@@',
  '*** End Patch',
  'ä“',
);
const kind: Arbitrary<PatchLine['kind']> = constantFrom('keep', 'keep', 'remove', 'add');

/** All lines are different, so that each place is found exactly. */
const changeOf = (index: number): Arbitrary<FileChange> =>
  record({
    fate: constantFrom('update', 'update', 'move', 'add', 'delete'),
    lines: array(record({ kind, text }), { maxLength: 14 }),
    endsOpen: boolean(),
    context: integer({ min: 1, max: 3 }),
  }).map(({ fate, lines, endsOpen, context }): FileChange => {
    const from = fate === 'add' ? null : `file${index}`;
    const to = fate === 'delete' ? null : fate === 'move' ? `moved${index}` : `file${index}`;
    const only = from === null ? 'add' : to === null ? 'remove' : null;
    const numbered = [
      // A line that is kept, so that no file becomes empty and every change has a place.
      ...(only === null ? [{ kind: 'keep' as const, text: 'first' }] : []),
      ...lines.map((line, at) => ({ kind: only ?? line.kind, text: `${at}:${line.text}` })),
    ];
    return { from, to, lines: numbered, endsOpen: endsOpen && only === null, context };
  });

const changesOfTree = array(nat(), { minLength: 1, maxLength: 4 }).chain((each) =>
  tuple(...each.map((_, index) => changeOf(index))),
);

function invert({ from, to, lines, ...rest }: FileChange): FileChange {
  const swapped = { keep: 'keep', remove: 'add', add: 'remove' } as const;
  return {
    ...rest,
    from: to,
    to: from,
    lines: lines.map((line) => ({ kind: swapped[line.kind], text: line.text })),
  };
}

function treeBefore(changes: readonly FileChange[]): Tree {
  return Object.fromEntries(
    changes
      .flatMap(({ from, lines, endsOpen }) => {
        const before = lines.filter((line) => line.kind !== 'add').map((line) => `${line.text}\n`);
        const content = before.join('');
        return from === null ? [] : [[from, endsOpen ? content.slice(0, -1) : content]];
      })
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
}

const MARKS = { keep: ' ', remove: '-', add: '+' } as const;

function writePatch(changes: readonly FileChange[]): string {
  const parts = changes.map(({ from, to, lines, context }) => {
    const marked = lines.map((line) => `${MARKS[line.kind]}${line.text}\n`);
    if (from === null) return `*** Add File: ${to}\n${marked.join('')}`;
    if (to === null) return `*** Delete File: ${from}\n`;
    const near = lines.map((_, at) =>
      lines.slice(Math.max(0, at - context), at + context + 1).some((line) => line.kind !== 'keep'),
    );
    const shown = marked.map((line, at) =>
      near[at] === true ? `${near[at - 1] === true ? '' : '@@\n'}${line}` : '',
    );
    const move = from === to ? '' : `*** Move to: ${to}\n`;
    const isUnchanged = from === to && !near.includes(true);
    return isUnchanged ? '' : `*** Update File: ${from}\n${move}${shown.join('')}`;
  });
  return `*** Begin Patch\n${parts.join('')}*** End Patch`;
}

const hasChange = (patch: string): boolean => patch.split('\n').length > 2;

it('restores a tree by the inverse of a patch', () => {
  assert(
    property(changesOfTree, (changes) => {
      const patch = writePatch(changes);
      if (!hasChange(patch)) return;
      const inverse = changes.map(invert);
      const [before, after] = [treeBefore(changes), treeBefore(inverse)];
      expect(patched(before, patch)).toEqual(after);
      expect(patched(after, writePatch(inverse))).toEqual(before);
    }),
    { numRuns: 10_000 },
  );
});

it('changes nothing if the patch and a file differ', () => {
  assert(
    property(changesOfTree, nat(), (changes, seed) => {
      const lines = writePatch(changes).split('\n');
      const old = lines.flatMap((line, index) => (/^[ -]/.test(line) ? [index] : []));
      const index = old[seed % old.length];
      if (index === undefined) return;
      const line = lines[index] ?? '';
      lines[index] = `${line.charAt(0)}other ${line.slice(1)}`;
      expect(patched(treeBefore(changes), lines.join('\n'))).toMatch(
        /^file\d \(line \d+ of the patch\): .*"other /,
      );
    }),
  );
});
