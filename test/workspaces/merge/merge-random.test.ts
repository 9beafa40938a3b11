import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PathDifference, PathState } from '../../../src/workspaces/difference.ts';
import { mergeDifferences } from '../../../src/workspaces/merge/merge-differences.ts';
import { applyChanges, file, memoryTree, type Tree } from './memory-tree.ts';

const FILES = Array.from({ length: 10 }, (_, index) => `dir${index % 3}/file${index}.txt`);
const LINES_PER_FILE = 40;
const BASE: Tree = Object.fromEntries(
  FILES.map((path) => [
    path,
    file(Array.from({ length: LINES_PER_FILE }, (_, line) => `${path} ${line}\n`).join('')),
  ]),
);

/** An edit of one line of one file. */
interface LineEdit {
  readonly file: number;
  readonly line: number;
  readonly kind: 'insert' | 'replace' | 'delete';
}

const lineEdits = fc.array(
  fc.record({
    file: fc.integer({ min: 0, max: FILES.length - 1 }),
    line: fc.integer({ min: 0, max: LINES_PER_FILE - 1 }),
    kind: fc.constantFrom('insert', 'replace', 'delete'),
  }),
  { minLength: 1, maxLength: 4 },
);

function textOf(state: Tree[string] | undefined): string {
  if (typeof state !== 'object' || state?.kind !== 'file') throw new Error('not a file');
  return state.bytes.toString();
}

function stateAt(tree: Tree, path: string): PathState {
  const state = tree[path];
  return typeof state === 'object' ? state : null;
}

/** Returns the differences of somebody who edits these lines. Each new line names the author, so that it is unique. */
function edit(author: string, edits: readonly LineEdit[]): readonly PathDifference[] {
  const byFile = Map.groupBy(edits, (each) => FILES[each.file] ?? '');
  return [...byFile].map(([path, inFile]) => {
    const lines = textOf(BASE[path]).match(/[^\n]*\n/g) ?? [];
    for (const [index, { line, kind }] of inFile.entries()) {
      const own = `${author} ${path} ${index}\n`;
      const old = lines[line] ?? '';
      lines[line] = kind === 'delete' ? '' : kind === 'replace' ? own : own + old;
    }
    return { path, before: stateAt(BASE, path), after: file(lines.join('')) };
  });
}

function linesBy(author: string, text: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith(`${author} `));
}

test('sixteen tasks that edit the same ten files land in any order, and nobody loses a line', () => {
  let landings = 0;
  let conflicts = 0;
  fc.assert(
    fc.property(fc.array(lineEdits, { minLength: 16, maxLength: 16 }), lineEdits, (all, ofUser) => {
      const differences = all.map((edits, index) => edit(`task${index}`, edits));
      let tree = applyChanges(BASE, edit('user', ofUser));
      const mustStay = new Map(
        edit('user', ofUser).map(({ path, after }) => [
          `user ${path}`,
          linesBy('user', textOf(after)),
        ]),
      );
      for (const [index, ofTask] of differences.entries()) {
        const merge = mergeDifferences(ofTask, memoryTree(tree));
        if (merge.conflicts.length > 0) {
          conflicts += 1;
          for (const { hunks, reason } of merge.conflicts) {
            expect(reason).toBe('content');
            expect(hunks.length).toBeGreaterThan(0);
          }
          continue;
        }
        landings += 1;
        tree = applyChanges(tree, merge.changes);
        for (const { path, after } of ofTask) {
          mustStay.set(`task${index} ${path}`, linesBy(`task${index}`, textOf(after)));
        }
        // The same changes again change nothing.
        expect(mergeDifferences(ofTask, memoryTree(tree))).toEqual({ changes: [], conflicts: [] });
      }
      for (const [key, lines] of mustStay) {
        const [author = '', path = ''] = key.split(' ');
        expect(linesBy(author, textOf(tree[path]))).toEqual(lines);
      }
    }),
    { numRuns: 50 },
  );
  expect(landings).toBeGreaterThan(100);
  expect(conflicts).toBeGreaterThan(10);
});

test('two tasks that both merge with the tree lead to the same tree in either order', () => {
  let both = 0;
  fc.assert(
    fc.property(lineEdits, lineEdits, (a, b) => {
      const [ofA, ofB] = [edit('a', a), edit('b', b)];
      const inOrder = (first: readonly PathDifference[], second: readonly PathDifference[]) => {
        const tree = applyChanges(BASE, mergeDifferences(first, memoryTree(BASE)).changes);
        const merge = mergeDifferences(second, memoryTree(tree));
        return merge.conflicts.length > 0 ? null : applyChanges(tree, merge.changes);
      };
      const result = inOrder(ofA, ofB);
      expect(inOrder(ofB, ofA)).toEqual(result);
      if (result !== null) both += 1;
    }),
    { numRuns: 300 },
  );
  expect(both).toBeGreaterThan(100);
});
