import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatBaseline, parseBaseline, takeBaseline } from '../../src/acceptance/baseline.ts';
import { makeCleanCopy } from '../../src/acceptance/clean-copy.ts';
import type { AcceptanceCriteria } from '../../src/protocol/acceptance.ts';

const NONE: AcceptanceCriteria = {
  commands: ['npm test'],
  changed: [],
  unchanged: [],
  mayChange: [],
  maxChangedLines: null,
};

const FILES: Readonly<Record<string, string>> = {
  '.gitignore': 'dist/\n*.log\n',
  '.git/config': '[core]\n',
  'package.json': '{"name":"a","scripts":{"test":"sh tools/run.sh"}}\n',
  'tools/run.sh': 'node test/a.test.mjs\n',
  'src/a.mjs': 'export const a = 1;\n',
  'test/a.test.mjs': 'old test\n',
  'dist/a.mjs': 'built\n',
  'node_modules/dep/index.js': 'dep\n',
  'node_modules/.bin/tool': 'tool\n',
  'node_modules/.cache/x': 'cached\n',
  'node_modules/@me/own/index.js': 'own\n',
  '__pycache__/a.pyc': 'compiled\n',
};

/** Writes files; null deletes one. */
function write(root: string, files: Readonly<Record<string, string | null>>): void {
  for (const [path, text] of Object.entries(files)) {
    const full = join(root, path);
    if (text === null) rmSync(full, { recursive: true });
    else {
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
    }
  }
}

/** Lists the files of a directory with their texts. Links appear as `-> target`, and are not followed. */
function list(root: string, original: string, below = ''): Record<string, string> {
  const entries = readdirSync(join(root, below), { withFileTypes: true });
  return Object.assign(
    {},
    ...entries.map((entry) => {
      const path = join(below, entry.name);
      const full = join(root, path);
      if (entry.isDirectory()) return list(root, original, path);
      return entry.isSymbolicLink()
        ? { [path]: `-> ${readlinkSync(full).replace(original, '<tree>')}` }
        : { [path]: readFileSync(full, 'utf8') };
    }),
  );
}

/** Takes the baseline of a tree, changes the tree, and makes a clean copy. */
async function check(
  change: (root: string) => void,
  criteria: Partial<AcceptanceCriteria> = {},
  files: Readonly<Record<string, string>> = FILES,
) {
  const directory = mkdtempSync(join(tmpdir(), 'muster-copy-'));
  try {
    const [root, copy] = [join(directory, 'tree'), join(directory, 'copy')];
    write(root, files);
    mkdirSync(copy);
    const all = { ...NONE, ...criteria };
    const { signal } = new AbortController();
    const baseline = parseBaseline(
      formatBaseline(await takeBaseline(root, { criteria: all, hidden: [], signal })),
    );
    change(root);
    const result = await makeCleanCopy(baseline, copy, { criteria: all, hidden: [], signal });
    return { ...result, files: list(copy, root) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const UNCHANGED = {
  '.gitignore': FILES['.gitignore'],
  'package.json': FILES['package.json'],
  'tools/run.sh': FILES['tools/run.sh'],
  'src/a.mjs': FILES['src/a.mjs'],
  'test/a.test.mjs': FILES['test/a.test.mjs'],
  'dist/a.mjs': FILES['dist/a.mjs'],
  'node_modules/dep': '-> <tree>/node_modules/dep',
  'node_modules/.bin': '-> <tree>/node_modules/.bin',
  'node_modules/@me/own': '-> <tree>/node_modules/@me/own',
};

describe('the clean copy of a tree', () => {
  it('has the files of the project and links to installed packages, without caches and .git', async () => {
    const { files, problems, notes } = await check(() => {});
    expect({ files, problems, notes }).toEqual({ files: UNCHANGED, problems: [], notes: [] });
  });

  it('has the work of the task, and the checks as they were before', async () => {
    const { files, notes, problems } = await check((root) =>
      write(root, {
        'src/a.mjs': 'better\n',
        'src/new.mjs': 'new\n',
        'test/a.test.mjs': 'cheat\n',
        'test/b.test.mjs': 'added\n',
        'tools/run.sh': 'true\n',
        'vitest.config.ts': 'cheat\n',
        'package.json': '{"name":"b","scripts":{"test":"true"}}\n',
        'dist/a.mjs': 'cheat\n',
        'dist/b.mjs': 'cheat\n',
        '__pycache__/a.pyc': 'cheat\n',
        'node_modules/.cache/x': 'cheat\n',
      }),
    );
    expect(files).toEqual({
      ...UNCHANGED,
      'dist/a.mjs': undefined,
      'src/a.mjs': 'better\n',
      'src/new.mjs': 'new\n',
      'package.json': '{\n  "name": "b",\n  "scripts": {\n    "test": "sh tools/run.sh"\n  }\n}\n',
    });
    expect({ notes, problems }).toEqual({
      notes: [
        'the checks used these files as they were before the task: test/a.test.mjs, tools/run.sh',
        'the checks left out these files, which the task has added: test/b.test.mjs, vitest.config.ts',
        'the checks left out these files, which git ignores and which have changed: dist/a.mjs',
        'the checks used the scripts and settings from before the task in: package.json',
      ],
      problems: [],
    });
  });

  it('has deleted tests again, and not deleted files of the work', async () => {
    const { files } = await check((root) =>
      write(root, { 'test/a.test.mjs': null, 'src/a.mjs': null }),
    );
    expect(files).toEqual({ ...UNCHANGED, 'src/a.mjs': undefined });
  });

  it('is refused when an installed package has changed, even if its times were restored', async () => {
    const { problems } = await check((root) => {
      const path = join(root, 'node_modules/dep/index.js');
      const { atime, mtime } = statSync(path);
      writeFileSync(path, 'bad\n');
      utimesSync(path, atime, mtime);
      write(root, { 'node_modules/.bin/tool': 'bad\n' });
    });
    expect(problems).toEqual([
      'installed packages have changed, and the checks run them: node_modules/.bin/tool, node_modules/dep/index.js; put them back, or the one who set the task has to allow it with may_change',
    ]);
  });

  it('takes what the criteria let the task change', async () => {
    const criteria = { mayChange: ['test/*.test.mjs', 'node_modules/**', 'dist/'] };
    const { files, problems, notes } = await check(
      (root) =>
        write(root, {
          'test/a.test.mjs': 'changed\n',
          'node_modules/dep/index.js': 'changed\n',
          'dist/a.mjs': 'changed\n',
        }),
      criteria,
    );
    expect({ files, problems, notes }).toEqual({
      files: { ...UNCHANGED, 'test/a.test.mjs': 'changed\n', 'dist/a.mjs': 'changed\n' },
      problems: [],
      notes: [],
    });
  });

  it('does not follow ignore files that the task has changed', async () => {
    const { files } = await check((root) =>
      write(root, { '.gitignore': '!dist/\nsrc/\n', 'dist/a.mjs': 'cheat\n' }),
    );
    expect(files).toEqual({ ...UNCHANGED, 'dist/a.mjs': undefined });
  });

  it('has links within itself only, except those that were there before', async () => {
    const files = { 'src/a.mjs': '1\n', 'src/b.mjs': '2\n' };
    const { files: copied } = await check(
      (root) => {
        symlinkSync('a.mjs', join(root, 'src/near.mjs'));
        symlinkSync(join(root, 'src/b.mjs'), join(root, 'src/absolute.mjs'));
        symlinkSync('/etc/passwd', join(root, 'src/out.mjs'));
        symlinkSync('../..', join(root, 'src/up'));
      },
      {},
      files,
    );
    expect(copied).toEqual({
      ...files,
      'src/near.mjs': '-> a.mjs',
      'src/absolute.mjs': '-> b.mjs',
    });
  });

  it('has no package.json that the task has replaced by a link', async () => {
    const { files, notes } = await check((root) => {
      write(root, { 'package.json': null, 'other.json': '{"scripts":{"test":"true"}}\n' });
      symlinkSync('other.json', join(root, 'package.json'));
      symlinkSync('../other.json', join(root, 'src/package.json'));
    });
    expect(files['package.json']).toBe(FILES['package.json']);
    expect(files['src/package.json']).toBeUndefined();
    expect(notes).toEqual([
      'the checks used these files as they were before the task: package.json',
      'the checks left out these files, which the task has added: src/package.json',
    ]);
  });

  it('leads to the copies of packages of the project itself', async () => {
    const { files } = await check(
      (root) => {
        rmSync(join(root, 'node_modules/@me/own'), { recursive: true });
        symlinkSync('../../src', join(root, 'node_modules/@me/own'));
      },
      { mayChange: ['node_modules/@me/**'] },
    );
    expect(files['node_modules/@me/own']).toBe('-> ../../src');
  });

  it.each<[Partial<AcceptanceCriteria>, Record<string, string | null>, readonly string[]]>([
    [
      { changed: ['src/a.mjs'] },
      {},
      ['src/a.mjs must change, and nothing that matches it has changed'],
    ],
    [{ changed: ['src/**'] }, { 'src/a.mjs': 'x\n' }, []],
    [{ changed: ['docs/*.md'] }, { 'docs/new.md': 'x\n' }, []],
    [
      { unchanged: ['src/'] },
      { 'src/a.mjs': 'x\n', 'src/b.mjs': 'y\n' },
      ['these files must stay as they were: src/a.mjs, src/b.mjs'],
    ],
    [{ unchanged: ['src/a.mjs'] }, { 'src/a.mjs': 'export const a = 1;\n' }, []],
    [
      { unchanged: ['dist/**'] },
      { 'dist/a.mjs': 'x\n' },
      ['these files must stay as they were: dist/a.mjs'],
    ],
    [{ maxChangedLines: 2 }, { 'src/a.mjs': 'x\n' }, []],
    [
      { maxChangedLines: 1 },
      { 'src/a.mjs': 'x\n' },
      ['2 lines were added or removed (limit max_changed_lines = 1)'],
    ],
    [{ maxChangedLines: 1 }, { 'src/a.mjs': null, 'dist/new.log': 'a\nb\nc\n' }, []],
  ])('with the criteria %j and the changes %j', async (criteria, changes, expected) => {
    const { problems } = await check((root) => write(root, changes), criteria);
    expect(problems).toEqual(expected);
  });

  it('has the same hash for the same content, and another one for every change', async () => {
    const hashes = await Promise.all(
      [{}, { 'src/a.mjs': 'x\n' }, { 'src/b.mjs': '' }, { 'src/a.mjs': null }, {}].map(
        async (changes) => (await check((root) => write(root, changes))).tree,
      ),
    );
    expect(hashes[4]).toBe(hashes[0]);
    expect(new Set(hashes).size).toBe(4);
  });
});
