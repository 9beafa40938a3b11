import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { countIn } from '../../../src/tools/find-places/corpus.ts';
import { saveIndex } from '../../../src/tools/find-places/index-file.ts';
import { Vocabulary } from '../../../src/tools/find-places/vocabulary.ts';
import { IndexWorld, LATER } from './index-world.ts';

function written(): IndexWorld {
  const at = new IndexWorld();
  at.write('a.ts', 'alpha beta alpha');
  at.write('b.ts', 'beta');
  return at;
}

const WORDS = ['alpha', 'beta'];
const BOTH = ['a.ts', 'b.ts'];
const HELD = [
  ['a.ts', 'alpha 2', 'beta 1'],
  ['b.ts', 'alpha 0', 'beta 1'],
];

/** What each of the files holds of the words. */
async function counts(world: IndexWorld, paths = BOTH, at = LATER) {
  const { files, vocabulary } = await world.open(paths, { at });
  return files.map((file) =>
    [file.path].concat(
      WORDS.map((word) => `${word} ${countIn(file, vocabulary.find(word) ?? -1)}`),
    ),
  );
}

test('what is kept says the same as the files', async () => {
  const world = written();
  expect(await counts(world)).toEqual(HELD);
  const { ino, mode } = statSync(world.kept());
  expect(await counts(world)).toEqual(HELD);
  // Nothing was read, so nothing had to be kept anew.
  expect([statSync(world.kept()).ino, mode & 0o777]).toEqual([ino, 0o600]);
});

test('a file that has changed is read again, even where size and time say it has not', async () => {
  const world = written();
  const { atime, mtime } = statSync(world.path('a.ts'));
  await counts(world);
  world.write('a.ts', 'beta alpha beta!');
  utimesSync(world.path('a.ts'), atime, mtime);
  expect(await counts(world)).toEqual([['a.ts', 'alpha 1', 'beta 2'], HELD[1]]);
});

test('what changed right before it was read is read again: its times need not tell', async () => {
  const world = written();
  await counts(world, BOTH, 0);
  const { ino } = statSync(world.kept());
  expect(await counts(world, BOTH, LATER)).toEqual(HELD);
  expect(statSync(world.kept()).ino).not.toBe(ino);
  // By a clock that goes wrong nothing is ever sure.
  expect(await counts(world, BOTH, -LATER)).toEqual(HELD);
});

test('only the files that are asked for are in it, and the others stay known', async () => {
  const world = written();
  await counts(world);
  const { ino } = statSync(world.kept());
  expect(await counts(world, ['b.ts', 'gone.ts'])).toEqual([HELD[1]]);
  expect(statSync(world.kept()).ino).toBe(ino);
  world.write('c.ts', 'gamma');
  expect(await counts(world, ['c.ts'])).toEqual([['c.ts', 'alpha 0', 'beta 0']]);
  const bytes = readFileSync(world.kept());
  expect(bytes.includes('alpha')).toBe(true);
  expect(await counts(world)).toEqual(HELD);
  expect(readFileSync(world.kept())).toEqual(bytes);
});

test('what is gone from the disk goes from the index when it is next kept', async () => {
  const world = written();
  await counts(world);
  rmSync(world.path('a.ts'));
  world.write('b.ts', 'gamma');
  expect(await counts(world)).toEqual([['b.ts', 'alpha 0', 'beta 0']]);
  expect(readFileSync(world.kept()).includes('alpha')).toBe(false);
});

test('what other tasks have read shows in no answer', async () => {
  const world = new IndexWorld();
  world.write('open.ts', 'function unsubscribeAll() {}\n');
  world.write('closed.ts', 'function subscribers() {}\nfunction subscribed() {}\n');
  await world.open(['closed.ts', 'open.ts']);
  const { warm, cold } = await world.answers('subscribe', ['open.ts']);
  expect(warm).toEqual(cold);
  expect(warm.places.map(({ path }) => path)).toEqual(['open.ts']);
});

test.each<[string, (path: string) => void]>([
  ['torn', (path) => truncateSync(path, statSync(path).size - 1)],
  ['empty', (path) => truncateSync(path, 0)],
  ['of another version', (path) => writeFileSync(path, 'muster index 0\n')],
  ['of zeros after a power cut', (path) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
  ['a directory', (path) => (rmSync(path), mkdirSync(path))],
  ['a pipe that nobody writes to', (path) => (rmSync(path), execFileSync('mkfifo', [path]))],
  [
    'a link to another',
    (path) => (renameSync(path, `${path}.elsewhere`), symlinkSync(`${path}.elsewhere`, path)),
  ],
])('an index that is %s changes nothing', async (_, damage) => {
  const world = written();
  await counts(world);
  damage(join(world.indexDirectory, world.entries()[0] ?? ''));
  expect(await counts(world)).toEqual(HELD);
  expect(await counts(world)).toEqual(HELD);
});

test('a byte that is wrong anywhere is noticed', async () => {
  const world = written();
  await counts(world);
  const path = world.kept();
  const whole = readFileSync(path);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length - 1),
      fc.integer({ min: 1, max: 255 }),
      async (at, flip) => {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        writeFileSync(path, damaged);
        expect(await counts(world)).toEqual(HELD);
      },
    ),
    { numRuns: 40 },
  );
});

test.each([10, 0xffff_ffff])(
  'an index that is whole but says that a text ends at %i changes nothing',
  async (end) => {
    const world = written();
    await counts(world);
    const path = world.kept();
    const crafted = readFileSync(path);
    // The first end of all, behind the version and eight counts.
    const at = crafted.indexOf('\n') + 1 + 8 * Uint32Array.BYTES_PER_ELEMENT;
    expect(crafted.readUInt32LE(at)).toBe(5);
    crafted.writeUInt32LE(end, at);
    const whole = crafted.length - Uint32Array.BYTES_PER_ELEMENT;
    crafted.writeUInt32LE(crc32(crafted.subarray(0, whole)), whole);
    writeFileSync(path, crafted);
    expect(await counts(world)).toEqual(HELD);
  },
);

test('where it cannot be kept the answer is the same', async () => {
  const world = written();
  // A file stands where the directory would be: there is no room, whoever asks.
  writeFileSync(world.indexDirectory, '');
  expect([await counts(world), await counts(world)]).toEqual([HELD, HELD]);
});

test('what a dead process left unfinished goes in time', async () => {
  const world = written();
  await counts(world);
  const [old, fresh] = ['old.idx.0.tmp', 'fresh.idx.0.tmp'].map((name) =>
    join(world.indexDirectory, name),
  );
  for (const path of [old ?? '', fresh ?? '']) writeFileSync(path, 'half');
  utimesSync(old ?? '', 1, 1);
  world.write('a.ts', 'alpha alpha beta');
  await counts(world);
  expect(world.entries().filter((name) => name.endsWith('.tmp'))).toEqual(['fresh.idx.0.tmp']);
});

test('of the last 20 directories that were asked about it is kept, changed or not', async () => {
  const world = written();
  await counts(world);
  const kept = basename(world.kept());
  utimesSync(world.kept(), 1, 1);
  for (let other = 1; other <= 20; other += 1) {
    const path = join(world.indexDirectory, `other-${other}.idx`);
    writeFileSync(path, '');
    utimesSync(path, 1 + other, 1 + other);
  }
  await counts(world);
  const index = { vocabulary: new Vocabulary(), files: new Map() };
  saveIndex(join(world.indexDirectory, 'last.idx'), index);
  const others = Array.from({ length: 18 }, (_, index) => `other-${index + 3}.idx`);
  expect(world.entries().toSorted()).toEqual([kept, 'last.idx', ...others].toSorted());
});

test('two at once do not disturb each other', async () => {
  const world = written();
  const all = await Promise.all(Array.from({ length: 6 }, () => counts(world)));
  expect(all).toEqual(Array.from({ length: 6 }, () => HELD));
  expect([await counts(world), world.entries().length]).toEqual([HELD, 1]);
});

test('it ends when it is told to, and keeps nothing', async () => {
  const world = written();
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(world.open(BOTH, { signal })).rejects.toThrow('enough');
  expect(() => world.entries()).toThrow('ENOENT');
});

test('what is no plain file of its own has no place in it', async () => {
  const world = written();
  execFileSync('mkfifo', [world.path('pipe.ts')]);
  mkdirSync(world.path('dir.ts'));
  symlinkSync('a.ts', world.path('link.ts'));
  symlinkSync('loop.ts', world.path('loop.ts'));
  writeFileSync(join(world.base, 'outside'), 'alpha');
  linkSync(join(world.base, 'outside'), world.path('named-twice.ts'));
  const odd = ['pipe.ts', 'dir.ts', 'link.ts', 'loop.ts', 'named-twice.ts', 'a.ts/b.ts', 'x\uFFFD'];
  expect(await counts(world, [...BOTH, ...odd, `${'n'.repeat(300)}.ts`])).toEqual(HELD);
});

test('a file that could not be opened is tried again', async () => {
  const world = written();
  await counts(world);
  world.write('dir/c.ts', 'beta');
  // As root everything can be opened: then a directory without a way in has to stand for it.
  chmodSync(world.path('dir/c.ts'), 0o000);
  const paths = [...BOTH, 'dir/c.ts'];
  const closed = await counts(world, paths);
  const isRoot = process.getuid?.() === 0;
  expect(closed.at(-1)).toEqual(['dir/c.ts', 'alpha 0', isRoot ? 'beta 1' : 'beta 0']);
  chmodSync(world.path('dir/c.ts'), 0o600);
  expect((await counts(world, paths)).at(-1)).toEqual(['dir/c.ts', 'alpha 0', 'beta 1']);
});

test('names with line ends and escapes are names', async () => {
  const world = new IndexWorld();
  const names = ['a\nb.ts', 'c\u001b[31m.ts', 'd\'"`.ts', ' e.ts', 'é漢.ts', '-f.ts'];
  for (const name of names) world.write(name, 'alpha');
  for (const _ of ['cold', 'warm']) {
    const held = await counts(world, names);
    expect(held).toEqual(names.toSorted().map((name) => [name, 'alpha 1', 'beta 0']));
  }
});

test('no text takes long to be read', async () => {
  const world = new IndexWorld();
  const most = 1_000_000;
  const texts: Readonly<Record<string, string>> = {
    'a.js': `import${' '.repeat(most)}`,
    'b.js': "import'".repeat(most / 8),
    'c.rs': 'pub(\n'.repeat(most / 5),
    'd.go': `${' '.repeat(most / 2)}\n${'a '.repeat(most / 4)}`,
    'e.py': `from ${'.'.repeat(most)}`,
    'f.cs': `using ${'a.'.repeat(most / 2)}`,
    'g.ts': 'aB'.repeat(most / 2),
    'h.c': `#${' '.repeat(most)}`,
    'i.java': `import ${'static '.repeat(most / 8)}`,
    'j.rb': `require${' '.repeat(most)}`,
    'k.md': '\u00e9'.repeat(60_000),
  };
  for (const [name, text] of Object.entries(texts)) world.write(name, text);
  const { files } = await world.open(Object.keys(texts));
  expect(files.map(({ path }) => path)).toEqual(Object.keys(texts));
});

const NAMES = ['a.ts', 'b.py', 'dir/c.ts', 'dir/d.go', 'README.md', 'x.test.ts'];
const TEXTS = [
  'export function parseHeader(line) {\n  return line;\n}\n',
  'import { parseHeader } from "./a";\nclass HeaderCache {\n  evictOldest() {\n  }\n}\n',
  'func (r *Router) Route() {\n}\n',
  'def retry_delay(attempt):\n    return headers(attempt)\n',
  '# Headers\n\nHow the headerless cache is evicted.\n',
  'binary\0header',
  '',
];
const edit = fc.record({
  act: fc.constantFrom('write', 'remove', 'rename', 'touch', 'sameSize', 'close'),
  name: fc.constantFrom(...NAMES),
  other: fc.constantFrom(...NAMES),
  text: fc.constantFrom(...TEXTS),
  seen: fc.subarray(NAMES),
});

test('after any edits the index answers as if there were none', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 8 }), async (edits) => {
      const world = new IndexWorld();
      for (const name of NAMES.slice(0, 4)) world.write(name, `${TEXTS[0]}// ${name}\n`);
      for (const { act, name, other, text, seen } of edits) {
        change(world, { act, name, other, text });
        for (const paths of [seen, NAMES]) {
          const { warm, cold } = await world.answers(
            'where is the oldest header evict cached',
            paths,
          );
          expect(warm).toEqual(cold);
        }
      }
      rmSync(world.base, { recursive: true });
    }),
    { numRuns: 40 },
  );
});

interface Edit {
  readonly act: 'write' | 'remove' | 'rename' | 'touch' | 'sameSize' | 'close';
  readonly name: string;
  readonly other: string;
  readonly text: string;
}

function change(world: IndexWorld, { act, name, other, text }: Edit): void {
  const before = statSync(world.path(name), { throwIfNoEntry: false });
  if (act === 'write') until(world, name, () => world.write(name, text));
  if (before === undefined) return;
  if (act === 'remove') rmSync(world.path(name));
  if (act === 'rename' && name !== other) {
    mkdirSync(world.path('dir'), { recursive: true });
    until(world, name, () => {
      if (statSync(world.path(name), { throwIfNoEntry: false }) !== undefined) {
        renameSync(world.path(name), world.path(other));
      }
    });
  }
  if (act === 'touch') utimesSync(world.path(name), 1, 1);
  if (act === 'sameSize') {
    const turned = readFileSync(world.path(name)).toReversed();
    until(world, name, () => {
      world.write(name, Buffer.from(turned));
      utimesSync(world.path(name), before.atime, before.mtime);
    });
  }
}

/** Until its inode's time has moved: a clock that is an hour wrong, as here, does not see to that. */
function until(world: IndexWorld, name: string, act: () => void): void {
  const timeOf = () => statSync(world.path(name), { throwIfNoEntry: false })?.ctimeMs;
  const before = timeOf();
  act();
  if (before !== undefined && timeOf() === before) until(world, name, act);
}
