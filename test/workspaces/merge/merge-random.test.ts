import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PathDifference } from '../../../src/workspaces/difference.ts';
import { mergeDifferences } from '../../../src/workspaces/merge/merge-differences.ts';
import { BASE, edit, lineEdits, linesBy, textOf } from './line-edits.ts';
import { applyChanges, memoryTree } from './memory-tree.ts';

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
