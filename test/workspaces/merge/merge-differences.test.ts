import { describe, expect, it } from 'vitest';
import type { PathDifference } from '../../../src/workspaces/difference.ts';
import { mergeDifferences } from '../../../src/workspaces/merge/merge-differences.ts';
import { MAX_MERGE_BYTES, MAX_MERGE_LINES } from '../../../src/workspaces/merge/merge-text.ts';
import { file, link, memoryTree, show, type Tree } from './memory-tree.ts';

interface Row {
  readonly name: string;
  readonly differences: readonly PathDifference[];
  readonly ours: Tree;
  readonly ignoresCase?: boolean;
  /** Each change as `path: state`, or `from => path: state`. */
  readonly changes?: readonly string[];
  /** Each conflict as `path reason: message`. */
  readonly conflicts?: readonly string[];
}

const LINES = 'one\ntwo\nthree\nfour\nfive\n';
const base = file(LINES);
const taskEdit = file(LINES.replace('one', 'ONE'));
const userEdit = file(LINES.replace('five', 'FIVE'));
const both = LINES.replace('one', 'ONE').replace('five', 'FIVE');
const changed = { path: 'a', before: base, after: taskEdit };

const ROWS: readonly Row[] = [
  {
    name: 'takes a new file',
    differences: [{ path: 'd/a', before: null, after: base }],
    ours: {},
    changes: [`d/a: ${LINES}`],
  },
  {
    name: 'takes an edit',
    differences: [changed],
    ours: { a: base },
    changes: [`a: ${show(taskEdit)}`],
  },
  {
    name: 'takes a deletion',
    differences: [{ path: 'a', before: base, after: null }],
    ours: { a: base },
    changes: ['a: -'],
  },
  {
    name: 'takes a link',
    differences: [{ path: 'a', before: null, after: link('b') }],
    ours: {},
    changes: ['a: -> b'],
  },
  {
    name: 'takes a link in place of a file',
    differences: [{ path: 'a', before: base, after: link('b') }],
    ours: { a: base },
    changes: ['a: -> b'],
  },
  { name: 'does nothing where both are equal', differences: [changed], ours: { a: taskEdit } },
  {
    name: 'does nothing where both have deleted',
    differences: [{ path: 'a', before: base, after: null }],
    ours: {},
  },
  {
    name: 'merges edits of different lines',
    differences: [changed],
    ours: { a: userEdit },
    changes: [`a: ${both}`],
  },
  {
    name: 'merges an edit with a new mode',
    differences: [{ path: 'a', before: base, after: file(LINES, { executable: true }) }],
    ours: { a: userEdit },
    changes: [`a: *${show(userEdit)}`],
  },
  {
    name: 'keeps the mode of the user',
    differences: [changed],
    ours: { a: file(LINES, { executable: true }) },
    changes: [`a: *${show(taskEdit)}`],
  },
  {
    name: 'reports edits of the same line',
    differences: [changed],
    ours: { a: file(LINES.replace('one', '1')) },
    conflicts: ['a content: has changes of you and of the task at the same lines'],
  },
  {
    name: 'reports two new files',
    differences: [{ path: 'a', before: null, after: base }],
    ours: { a: file('x') },
    conflicts: ['a both_added: was created by you and by the task'],
  },
  {
    name: 'reports two new files of different modes',
    differences: [{ path: 'a', before: null, after: base }],
    ours: { a: file(LINES, { executable: true }) },
    conflicts: ['a both_added: was created by both, executable on one side only'],
  },
  {
    name: 'reports a deletion by the user',
    differences: [changed],
    ours: {},
    conflicts: ['a deleted_by_user: was changed by the task and deleted by you'],
  },
  {
    name: 'reports a deletion by the task',
    differences: [{ path: 'a', before: base, after: null }],
    ours: { a: userEdit },
    conflicts: ['a deleted_by_task: was deleted by the task and changed by you'],
  },
  {
    name: 'reports a binary file',
    differences: [{ path: 'a', before: file('\0a'), after: file('\0b') }],
    ours: { a: file('\0c') },
    conflicts: ['a binary: is a binary file that you and the task have changed'],
  },
  {
    name: 'reports a large file',
    differences: [{ path: 'a', before: file('a'), after: file('b') }],
    ours: { a: file('c'.repeat(MAX_MERGE_BYTES + 1)) },
    conflicts: [
      `a too_large: was changed by you and by the task, and files of more than ${MAX_MERGE_BYTES} bytes or ${MAX_MERGE_LINES} lines are not merged`,
    ],
  },
  {
    name: 'takes a binary file that the user has not changed',
    differences: [{ path: 'a', before: file('\0a'), after: file('\0b') }],
    ours: { a: file('\0a') },
    changes: ['a: \0b'],
  },
  {
    name: 'reports a file that can not be merged',
    differences: [{ ...changed, unmergeable: 'a filter of git manages it' }],
    ours: { a: userEdit },
    conflicts: [
      'a unmergeable: was changed by you and by the task, and a filter of git manages it',
    ],
  },
  {
    name: 'takes a file that can not be merged and that the user has not changed',
    differences: [{ ...changed, unmergeable: 'a filter of git manages it' }],
    ours: { a: base },
    changes: [`a: ${show(taskEdit)}`],
  },
  {
    name: 'reports two links',
    differences: [{ path: 'a', before: link('x'), after: link('y') }],
    ours: { a: link('z') },
    conflicts: ['a kind: is a link that you and the task have changed'],
  },
  {
    name: 'reports a link and a file',
    differences: [changed],
    ours: { a: link('z') },
    conflicts: ['a kind: is a link in your tree, and a file in that of the task'],
  },
  {
    name: 'reports a directory in place of an edited file',
    differences: [changed],
    ours: { 'a/b': base },
    conflicts: ['a occupied: is neither a file nor a link in your tree'],
  },
  {
    name: 'reports a directory in place of a new file',
    differences: [{ path: 'a', before: null, after: base }],
    ours: { 'a/b/c': base },
    conflicts: ['a occupied: is a directory in your tree, in which a/b/c is left'],
  },
  {
    name: 'reports an empty directory in place of a new file',
    differences: [{ path: 'a', before: null, after: base }],
    ours: { a: 'empty' },
    conflicts: ['a occupied: is a directory in your tree, in which a is left'],
  },
  {
    name: 'reports a FIFO',
    differences: [{ path: 'a', before: null, after: base }],
    ours: { a: 'special' },
    conflicts: ['a occupied: is not a regular file in your tree'],
  },
  {
    name: 'reports a new file below a file of the user',
    differences: [{ path: 'a/b', before: null, after: base }],
    ours: { a: base },
    conflicts: ["a/b occupied: can't be written, because a is not a directory"],
  },
  {
    name: 'reports a new file below a link of the user',
    differences: [{ path: 'a/b', before: null, after: base }],
    ours: { a: link('/') },
    conflicts: ["a/b occupied: can't be written, because a is not a directory"],
  },
  {
    name: 'replaces a directory by a file',
    differences: [
      { path: 'a', before: null, after: base },
      { path: 'a/b', before: base, after: null },
    ],
    ours: { 'a/b': base },
    changes: [`a: ${LINES}`, 'a/b: -'],
  },
  {
    name: 'keeps a directory in which the user has a file',
    differences: [
      { path: 'a', before: null, after: base },
      { path: 'a/b', before: base, after: null },
    ],
    ours: { 'a/b': base, 'a/c': base },
    changes: ['a/b: -'],
    conflicts: ['a occupied: is a directory in your tree, in which a/c is left'],
  },
  {
    name: 'replaces a file by a directory',
    differences: [
      { path: 'a', before: base, after: null },
      { path: 'a/b', before: null, after: base },
    ],
    ours: { a: base },
    changes: ['a: -', `a/b: ${LINES}`],
  },
  {
    name: 'renames',
    differences: [{ path: 'b', from: 'a', before: base, after: taskEdit }],
    ours: { a: base },
    changes: [`a => b: ${show(taskEdit)}`],
  },
  {
    name: 'moves edits of the user along',
    differences: [{ path: 'b', from: 'a', before: base, after: taskEdit }],
    ours: { a: userEdit },
    changes: [`a => b: ${both}`],
  },
  {
    name: 'merges where the user has renamed in the same way',
    differences: [{ path: 'b', from: 'a', before: base, after: taskEdit }],
    ours: { b: userEdit },
    changes: [`b: ${both}`],
  },
  {
    name: 'does nothing where the rename is done',
    differences: [{ path: 'b', from: 'a', before: base, after: taskEdit }],
    ours: { b: taskEdit },
  },
  {
    name: 'reports a renamed file that the user has deleted',
    differences: [{ path: 'b', from: 'a', before: base, after: base }],
    ours: {},
    conflicts: ['b deleted_by_user: was renamed from a, which you deleted'],
  },
  {
    name: 'reports a file at the new path',
    differences: [{ path: 'b', from: 'a', before: base, after: base }],
    ours: { a: base, b: file('x') },
    conflicts: ['b both_added: was renamed from a by the task, and you have another file there'],
  },
  {
    name: 'removes the old path where the user has the new file',
    differences: [{ path: 'b', from: 'a', before: base, after: taskEdit }],
    ours: { a: base, b: taskEdit },
    changes: ['a: -'],
  },
  {
    name: 'swaps two files',
    differences: [
      { path: 'b', from: 'a', before: base, after: base },
      { path: 'a', from: 'b', before: file('x'), after: file('x') },
    ],
    ours: { a: userEdit, b: file('x') },
    changes: ['b => a: x', `a => b: ${show(userEdit)}`],
  },
  {
    name: 'does nothing where a swap is done',
    differences: [
      { path: 'b', from: 'a', before: base, after: base },
      { path: 'a', from: 'b', before: file('x'), after: file('x') },
    ],
    ours: { b: base, a: file('x') },
  },
  {
    name: 'puts a new file at an old path',
    differences: [
      { path: 'b', from: 'a', before: base, after: base },
      { path: 'a', before: null, after: file('x') },
    ],
    ours: { a: userEdit },
    changes: ['a: x', `a => b: ${show(userEdit)}`],
  },
  {
    name: 'moves a file into a directory of its name',
    differences: [{ path: 'a/a', from: 'a', before: base, after: base }],
    ours: { a: userEdit },
    changes: [`a => a/a: ${show(userEdit)}`],
  },
  {
    name: 'reports names that differ in case',
    differences: [{ path: 'src/readme', before: null, after: base }],
    ours: { 'src/README': base },
    ignoresCase: true,
    conflicts: [
      'src/readme letter_case: differs only in letter case from src/README, and the file system does not distinguish them',
    ],
  },
  {
    name: 'reports directories that differ in case',
    differences: [{ path: 'SRC/b', before: null, after: base }],
    ours: { 'src/a': base },
    ignoresCase: true,
    conflicts: [
      'SRC/b letter_case: differs only in letter case from src, and the file system does not distinguish them',
    ],
  },
  {
    name: 'reports two new names that differ in case',
    differences: [
      { path: 'É', before: null, after: base },
      { path: 'é', before: null, after: base },
    ],
    ours: {},
    ignoresCase: true,
    conflicts: [
      'É letter_case: differs only in letter case from é, and the file system does not distinguish them',
      'é letter_case: differs only in letter case from É, and the file system does not distinguish them',
    ],
  },
  {
    name: 'distinguishes case where the file system does',
    differences: [{ path: 'readme', before: null, after: base }],
    ours: { README: base },
    changes: [`readme: ${LINES}`],
  },
  ...[
    '.git/config',
    'a/.GIT/hooks/x',
    'GIT~1/config',
    '.git. /x',
    '../a',
    '/a',
    'a//b',
    './a',
    'a/..',
    '',
  ].map((path): Row => ({
    name: `never writes ${path}`,
    differences: [{ path, before: null, after: base }],
    ours: {},
    conflicts: [`${path} protected: belongs to a git directory, or leads out of the tree`],
  })),
  {
    name: 'never moves a git directory',
    differences: [{ path: 'a', from: '.git/config', before: base, after: base }],
    ours: { '.git/config': base },
    conflicts: ['a protected: belongs to a git directory, or leads out of the tree'],
  },
  {
    name: 'reports conflicts beside clean changes',
    differences: [changed, { path: 'b', before: null, after: base }],
    ours: {},
    changes: [`b: ${LINES}`],
    conflicts: ['a deleted_by_user: was changed by the task and deleted by you'],
  },
];

describe('mergeDifferences', () => {
  it.each(ROWS)(
    '$name',
    ({ differences, ours, ignoresCase = false, changes = [], conflicts = [] }) => {
      const merge = mergeDifferences(differences, memoryTree(ours, { ignoresCase }));
      expect({
        changes: merge.changes.map(
          ({ path, from, after }) =>
            `${from === undefined ? '' : `${from} => `}${path}: ${show(after)}`,
        ),
        conflicts: merge.conflicts.map(
          ({ path, reason, message }) => `${path} ${reason}: ${message}`,
        ),
      }).toEqual({ changes, conflicts });
    },
  );

  it('names both sides of a conflict with their lines', () => {
    const ours = file(`zero\n${LINES.replace('two', 'zwei')}`);
    const theirs = file(LINES.replace('two\n', 'deux\ntrois\n'));
    const merge = mergeDifferences(
      [{ path: 'a', before: base, after: theirs }],
      memoryTree({ a: ours }),
    );
    expect(merge).toEqual({
      changes: [],
      conflicts: [
        {
          path: 'a',
          reason: 'content',
          message: 'has changes of you and of the task at the same lines',
          base,
          ours,
          theirs,
          hunks: [
            {
              base: { line: 2, text: 'two\n' },
              ours: { line: 3, text: 'zwei\n' },
              theirs: { line: 2, text: 'deux\ntrois\n' },
            },
          ],
        },
      ],
    });
  });
});
