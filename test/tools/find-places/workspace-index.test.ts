import { mkdirSync, readdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { countIn } from '../../../src/tools/find-places/corpus.ts';
import { openWorkspace } from '../../../src/tools/find-places/workspace-index.ts';
import { tempDirectory } from '../../sys/temp.ts';

const LATER = 3_600_000;

function world() {
  const base = tempDirectory();
  const root = join(base, 'work');
  const indexDirectory = join(base, 'index');
  const write = (name: string, text: string) => writeFileSync(join(root, name), text);
  /** What each of the files holds of the words, at that time from now in milliseconds. */
  const counts = async (words: readonly string[], paths: readonly string[], at = 0) => {
    const { files, vocabulary } = await openWorkspace(
      { directory: root, roots: [root], accepts: () => true, nameGlobs: [] },
      paths,
      {
        indexDirectory,
        context: {
          signal: new AbortController().signal,
          clock: { ...systemClock, now: () => Date.now() + at },
          progress: () => {},
        },
      },
    );
    return files.map((file) =>
      [file.path].concat(
        words.map((word) => `${word} ${countIn(file, vocabulary.find(word) ?? -1)}`),
      ),
    );
  };
  const kept = () => {
    const [name = ''] = readdirSync(indexDirectory);
    return join(indexDirectory, name);
  };
  return { root, write, counts, kept };
}

function written() {
  const at = world();
  mkdirSync(at.root);
  at.write('a.ts', 'alpha beta alpha');
  at.write('b.ts', 'beta');
  return at;
}

const WORDS = ['alpha', 'beta'];
const BOTH = ['a.ts', 'b.ts'];

test('what is kept says the same as the files', async () => {
  const { counts, kept } = written();
  const first = await counts(WORDS, BOTH, LATER);
  expect(first).toEqual([
    ['a.ts', 'alpha 2', 'beta 1'],
    ['b.ts', 'alpha 0', 'beta 1'],
  ]);
  const { ino, mode } = statSync(kept());
  expect(await counts(WORDS, BOTH, LATER)).toEqual(first);
  // Nothing was read, so nothing had to be kept anew.
  expect([statSync(kept()).ino, mode & 0o777]).toEqual([ino, 0o600]);
});

test('a file that has changed is read again, even where size and time say it has not', async () => {
  const { root, write, counts } = written();
  const { atime, mtime } = statSync(join(root, 'a.ts'));
  await counts(WORDS, BOTH, LATER);
  write('a.ts', 'beta alpha beta!');
  utimesSync(join(root, 'a.ts'), atime, mtime);
  expect(await counts(WORDS, BOTH, LATER)).toEqual([
    ['a.ts', 'alpha 1', 'beta 2'],
    ['b.ts', 'alpha 0', 'beta 1'],
  ]);
});

test('only the files that are asked for are in it', async () => {
  const { counts } = written();
  await counts(WORDS, BOTH, LATER);
  expect(await counts(WORDS, ['b.ts', 'gone.ts'], LATER)).toEqual([['b.ts', 'alpha 0', 'beta 1']]);
  expect(await counts(WORDS, BOTH, LATER)).toEqual([
    ['a.ts', 'alpha 2', 'beta 1'],
    ['b.ts', 'alpha 0', 'beta 1'],
  ]);
});

test('a torn or foreign index is made anew', async () => {
  const { counts, kept } = written();
  const first = await counts(WORDS, BOTH, LATER);
  truncateSync(kept(), statSync(kept()).size - 1);
  expect(await counts(WORDS, BOTH, LATER)).toEqual(first);
  writeFileSync(kept(), 'muster index 0\n');
  expect(await counts(WORDS, BOTH, LATER)).toEqual(first);
});
