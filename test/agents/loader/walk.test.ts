import { afterEach, beforeEach, expect, test } from 'vitest';
import { walkFiles } from '../../../src/agents/loader/walk.ts';
import { workTree } from '../support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({ 'a/1.md': '', 'a/2.md': '', 'a/3.txt': '', 'b/4.md': '' });
});
afterEach(() => tree.remove());

test('several walks share the budget of entries, and its end is reported', () => {
  const budget = { entries: 3 };
  const options = { accepts: (name: string) => name.endsWith('.md'), boundary: tree.root, budget };
  expect(walkFiles(tree.path('a'), options)).toEqual({
    files: ['1', '2'].map((name) => {
      const path = tree.path('a', `${name}.md`);
      return { path, realPath: path };
    }),
    skipped: [],
  });
  expect(walkFiles(tree.path('b'), options)).toEqual({
    files: [],
    skipped: [{ path: tree.path('b'), code: 'too-many-files', reason: expect.any(String) }],
  });
});

test('a path to a file is that file, and a missing path has no files', () => {
  const options = { accepts: () => true, boundary: tree.root, budget: { entries: 9 } };
  expect(walkFiles(tree.path('a/1.md/x'), options)).toEqual({ files: [], skipped: [] });
  expect(walkFiles(tree.path('none'), options)).toEqual({ files: [], skipped: [] });
  const path = tree.path('a/1.md');
  expect(walkFiles(path, options)).toEqual({ files: [{ path, realPath: path }], skipped: [] });
  const refusing = { ...options, accepts: () => false };
  expect(walkFiles(path, refusing)).toEqual({ files: [], skipped: [] });
});
