import * as fc from 'fast-check';
import type { PathDifference, PathState } from '../../../src/workspaces/difference.ts';
import { file, type Tree } from './memory-tree.ts';

const FILES = Array.from({ length: 10 }, (_, index) => `dir${index % 3}/file${index}.txt`);
const LINES_PER_FILE = 40;
/** Ten files, of which no two lines are the same. */
export const BASE: Tree = Object.fromEntries(
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

/** Some edits of one author. */
export const lineEdits = fc.array(
  fc.record({
    file: fc.integer({ min: 0, max: FILES.length - 1 }),
    line: fc.integer({ min: 0, max: LINES_PER_FILE - 1 }),
    kind: fc.constantFrom('insert', 'replace', 'delete'),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Returns the text of a file in a tree. */
export function textOf(state: Tree[string] | undefined): string {
  if (typeof state !== 'object' || state?.kind !== 'file') throw new Error('not a file');
  return state.bytes.toString();
}

function stateAt(tree: Tree, path: string): PathState {
  const state = tree[path];
  return typeof state === 'object' ? state : null;
}

/** Returns the differences of somebody who edits these lines. Each new line names the author, so that it is unique. */
export function edit(author: string, edits: readonly LineEdit[]): readonly PathDifference[] {
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

/** Lists the lines of a text that an author has written. */
export function linesBy(author: string, text: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith(`${author} `));
}
