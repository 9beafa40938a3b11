import * as fs from 'node:fs';
import { join } from 'node:path';
import type { PathDifference, PathState } from '../../../src/workspaces/difference.ts';
import type { GitChange, GitPort } from '../../../src/workspaces/landing/git-change.ts';

function file(text: string, executable = false): PathState {
  return { kind: 'file', executable, bytes: Buffer.from(text) };
}

const LINES = 'one\ntwo\nthree\nfour\nfive\n';

/** The source when the task started, with the later edits of the user. */
export const SOURCE: Readonly<Record<string, PathState>> = {
  'edited.txt': file(LINES.replace('five', 'FIVE')),
  'untouched.txt': file('the user works here\n'),
  'script.sh': file('#!/bin/sh\n'),
  'old/name.txt': file(LINES.replace('five', 'FIVE')),
  'gone/deep/a.txt': file('a\n'),
  'gone/deep/b.txt': file('b\n'),
  'gone/kept.log': file('ignored by git\n'),
  link: { kind: 'link', target: 'untouched.txt' },
  'becomes-file/inner.txt': file('inner\n'),
  'becomes-directory': file('was a file\n'),
  'swap-1': file('first\n'),
  'swap-2': file('second\n'),
};

/** The changes of the task: one of each kind. */
export const DIFFERENCES: readonly PathDifference[] = [
  { path: 'edited.txt', before: file(LINES), after: file(LINES.replace('one', 'ONE')) },
  { path: 'script.sh', before: file('#!/bin/sh\n'), after: file('#!/bin/sh\n', true) },
  { path: 'new/name.txt', from: 'old/name.txt', before: file(LINES), after: file(LINES) },
  { path: 'gone/deep/a.txt', before: file('a\n'), after: null },
  { path: 'gone/deep/b.txt', before: file('b\n'), after: null },
  { path: 'created/in/here.txt', before: null, after: file('new\n') },
  { path: 'created/link', before: null, after: { kind: 'link', target: '../edited.txt' } },
  {
    path: 'link',
    before: { kind: 'link', target: 'untouched.txt' },
    after: { kind: 'link', target: 'edited.txt' },
  },
  { path: 'becomes-file/inner.txt', before: file('inner\n'), after: null },
  { path: 'becomes-file', before: null, after: file('now a file\n') },
  { path: 'becomes-directory', before: file('was a file\n'), after: null },
  { path: 'becomes-directory/x', before: null, after: file('x\n') },
  { path: 'swap-2', from: 'swap-1', before: file('first\n'), after: file('first\n') },
  { path: 'swap-1', from: 'swap-2', before: file('second\n'), after: file('second\n') },
];

/** A ref that moves with the landing. */
export const GIT_CHANGE: GitChange = {
  index: [],
  ref: { name: 'refs/heads/main', before: 'old', after: 'new' },
};

/** A repository that consists of one file, which holds the commit of the ref. */
export function fileAsRef(path: string): GitPort {
  return {
    bringTo: async (side, _source, { ref }) => {
      const target = ref?.[side] ?? '';
      if (fs.readFileSync(path, 'utf8') === target) return [];
      fs.writeFileSync(`${path}.lock`, target);
      fs.renameSync(`${path}.lock`, path);
      return [];
    },
    findUndoable: async (_source, change) => ({ change, left: [] }),
  };
}

/** The file that stands for the ref of the scenario. */
export function refFile(root: string): string {
  return join(root, 'ref');
}
