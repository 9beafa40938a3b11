import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { withHeldDirectory, openFileInRoots } from '../../../src/sys/files/open-in-roots.ts';
import { isInside } from '../../../src/base/path-inside.ts';
import { writeFileInRoots } from '../../../src/sys/files/write-file.ts';
import { keepSwapping } from '../swapping.ts';
import { tempDirectory } from '../temp.ts';

function read(path: string, roots: readonly string[]): string {
  const { fd } = openFileInRoots(path, { roots });
  try {
    return fs.readFileSync(fd, 'utf8');
  } finally {
    fs.closeSync(fd);
  }
}

function plant(): { readonly at: string; readonly root: string } {
  const at = tempDirectory();
  const root = join(at, 'root');
  fs.mkdirSync(join(root, 'dir'), { recursive: true });
  fs.writeFileSync(join(root, 'dir/file'), 'inside');
  fs.mkdirSync(join(at, 'outside'));
  fs.writeFileSync(join(at, 'outside/file'), 'outside');
  return { at, root };
}

const NAMES = ['a', 'b', 'c', 'link', 'up', 'é'] as const;
const name = fc.constantFrom(...NAMES);
const somePath = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const target = fc.oneof(
  somePath,
  somePath.map((path) => `../${path}`),
  somePath.map((path) => `../../outside/${path}`),
  somePath.map((path) => `/ROOT/${path}`),
  fc.constantFrom('.', '..', '../..', '/', '/OUTSIDE', '/OUTSIDE/a', '/ROOT', '/etc', '/dev/null'),
);
const tree = fc.record({
  inside: fc.uniqueArray(somePath, { maxLength: 6 }),
  outside: fc.uniqueArray(somePath, { maxLength: 4 }),
  links: fc.array(fc.tuple(somePath, target), { maxLength: 6 }),
});

/** Whatever of it can be made; a name that is taken stays as it is. */
function grow(at: string, parts: typeof tree extends fc.Arbitrary<infer T> ? T : never): string {
  const root = join(at, 'root');
  const make = (path: string, act: () => void): void => {
    try {
      fs.mkdirSync(join(path, '..'), { recursive: true });
      act();
    } catch {
      // A file or a link stands in the way.
    }
  };
  fs.mkdirSync(root);
  fs.mkdirSync(join(at, 'outside'));
  for (const path of parts.outside) {
    const whole = join(at, 'outside', path);
    make(whole, () => fs.writeFileSync(whole, `outside:${whole}`));
  }
  for (const path of parts.inside) {
    const whole = join(root, path);
    make(whole, () => fs.writeFileSync(whole, `inside:${whole}`));
  }
  for (const [path, to] of parts.links) {
    const absolute = to.replace(/^\/ROOT/, root).replace(/^\/OUTSIDE/, join(at, 'outside'));
    const whole = join(root, path);
    // Never through a link that is there already: what is outside stays as it was planted.
    make(whole, () => {
      if (fs.realpathSync(join(whole, '..')).startsWith(root)) fs.symlinkSync(absolute, whole);
    });
  }
  return root;
}

function realPath(path: string): string | undefined {
  try {
    return fs.realpathSync.native(path);
  } catch {
    return undefined;
  }
}

test('any path that is requested in a tree with links opens what the kernel finds, and only inside', () => {
  const at = tempDirectory();
  let round = 0;
  fc.assert(
    fc.property(tree, fc.array(somePath, { minLength: 1, maxLength: 8 }), (parts, asked) => {
      round += 1;
      const base = join(at, `${round}`);
      fs.mkdirSync(base);
      const root = grow(base, parts);
      for (const path of asked.map((each) => `${root}/${each}`)) {
        const real = realPath(path);
        const mayOpen = real !== undefined && isInside(root, real) && fs.statSync(real).isFile();
        if (mayOpen) expect(read(path, [root])).toBe(fs.readFileSync(real, 'utf8'));
        else
          expect(() => read(path, [root])).toThrow(
            expect.objectContaining({ name: 'MusterError' }),
          );
      }
      fs.rmSync(base, { recursive: true });
    }),
    { numRuns: 200 },
  );
});

test('any path that is written in a tree with links changes nothing outside', async () => {
  const at = tempDirectory();
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(somePath, { minLength: 1, maxLength: 6 }),
      async (parts, asked) => {
        round += 1;
        const base = join(at, `${round}`);
        fs.mkdirSync(base);
        const root = grow(base, parts);
        const outside = () =>
          execFileSync('find', [join(base, 'outside'), '-type', 'f', '-exec', 'cat', '{}', '+'], {
            encoding: 'utf8',
          }) + execFileSync('find', [join(base, 'outside')], { encoding: 'utf8' });
        const before = outside();
        for (const path of asked) {
          const write = writeFileInRoots(
            `${root}/${path}`,
            { roots: [root] },
            Buffer.from('x'),
            'nothing',
          );
          const made = await write.catch(() => undefined);
          if (made !== undefined) expect(isInside(root, realPath(made.real) ?? '')).toBe(true);
        }
        expect(outside()).toBe(before);
        fs.rmSync(base, { recursive: true });
      },
    ),
    { numRuns: 30 },
  );
});

describe('a directory that another process swaps for a link, without a pause', () => {
  test('is never read through, and never listed', async () => {
    const { at, root } = plant();
    fs.symlinkSync(join(at, 'outside'), join(root, 'link'));
    fs.writeFileSync(join(at, 'outside/only-outside'), '');
    await keepSwapping(join(root, 'dir'), join(root, 'link'));
    const got = new Set<string>();
    for (let round = 0; round < 2000; round += 1) {
      try {
        got.add(read(join(root, 'dir/file'), [root]));
        const list = () =>
          withHeldDirectory(join(root, 'dir'), { roots: [root] }, (held) =>
            fs.readdirSync(held.at('.')),
          );
        for (const entry of list()) got.add(entry);
      } catch {
        // It was the link, or nothing, at that moment.
      }
    }
    expect([...got].filter((each) => each.includes('outside'))).toEqual([]);
  });

  test('is never written through', async () => {
    const { at, root } = plant();
    fs.symlinkSync(join(at, 'outside'), join(root, 'link'));
    await keepSwapping(join(root, 'dir'), join(root, 'link'));
    for (let round = 0; round < 100; round += 1) {
      const path = join(root, 'dir', `new${round}`);
      await writeFileInRoots(path, { roots: [root] }, Buffer.from('x'), 'nothing').catch(() => {
        // It was the link, or nothing, at that moment.
      });
    }
    expect(fs.readdirSync(join(at, 'outside'))).toEqual(['file']);
  });
});

describe('the target that a path had when it was allowed', () => {
  const judged = (path: string, real: string) =>
    new Map([[path, { real, mayHaveOtherNames: false }]]);

  test('is opened, or nothing is', async () => {
    const { root } = plant();
    fs.writeFileSync(join(root, '.env'), 'KEY=1');
    const path = join(root, 'note.txt');
    fs.symlinkSync('.env', path);
    const place = { roots: [root], judged: judged(path, path) };
    const conflict = expect.objectContaining({ code: 'CONFLICT' });
    expect(() => openFileInRoots(path, place)).toThrow(conflict);
    await expect(writeFileInRoots(path, place, Buffer.from('x'), 'nothing')).rejects.toEqual(
      conflict,
    );
    expect(fs.readFileSync(join(root, '.env'), 'utf8')).toBe('KEY=1');
    const known = { roots: [root], judged: judged(path, join(root, '.env')) };
    fs.closeSync(openFileInRoots(path, known).fd);
  });
});

test('a link above a root leads nowhere, even if an outer root contains it', () => {
  const { at, root } = plant();
  const inner = join(root, 'a/inner');
  fs.mkdirSync(join(at, 'outside/inner'));
  fs.writeFileSync(join(at, 'outside/inner/file'), 'outside');
  fs.symlinkSync(join(at, 'outside'), join(root, 'a'));
  expect(() => read(join(inner, 'file'), [root, inner])).toThrow(/outside the workspace/);
});

test('as many links are followed as the kernel follows, and no more', () => {
  const { root } = plant();
  let last = 'dir/file';
  for (let index = 1; index <= 41; index += 1) {
    fs.symlinkSync(last, join(root, `l${index}`));
    last = `l${index}`;
  }
  expect(read(join(root, 'l40'), [root])).toBe('inside');
  expect(fs.readFileSync(join(root, 'l40'), 'utf8')).toBe('inside');
  expect(() => fs.readFileSync(join(root, 'l41'))).toThrow('ELOOP');
  expect(() => read(join(root, 'l41'), [root])).toThrow('is a link that leads in a circle');
});

test('only a regular file is opened, and nothing is waited for', async () => {
  const { root } = plant();
  execFileSync('mkfifo', [join(root, 'fifo')]);
  const server = createServer().listen(join(root, 'socket'));
  onTestFinished(() => void server.close());
  await new Promise((resolve) => void server.once('listening', resolve));
  fs.symlinkSync('/dev/zero', join(root, 'zero'));
  const refusal = (path: string): string => {
    try {
      return read(`${root}/${path}`, [root]);
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : '';
    }
  };
  expect(refusal('fifo')).toMatch(/is a FIFO \(named pipe\), not a regular file$/);
  expect(refusal('socket')).toMatch(/is a socket, not a regular file$/);
  expect(refusal('zero')).toMatch(/leads to \/dev\/zero, which is outside/);
  expect(refusal('dir')).toMatch(/is a directory: use LS/);
  expect(refusal('dir\0/../../outside/file')).toBe('the path contains a NUL character');
  expect(refusal('x'.repeat(5000))).toBe('the path is longer than 4096 bytes');
  expect(() => read(`file://${root}/dir/file`, [root])).toThrow('is a URL');
});

test.each(['/proc/self/environ', '/proc/1/root/etc/passwd', '/sys/kernel/notes', '/dev/stdin'])(
  '%s stays closed even if the root is /',
  (path) => {
    expect(() => read(path, ['/'])).toThrow();
  },
);

test('a prefix of a name is not a root, and two Unicode forms of a letter are two names', () => {
  const { at, root } = plant();
  fs.mkdirSync(`${root}-evil`);
  fs.writeFileSync(`${root}-evil/file`, 'outside');
  expect(() => read(`${root}-evil/file`, [root])).toThrow(/outside the workspace/);
  fs.writeFileSync(join(root, 'e\u0301'), 'decomposed');
  expect(read(join(root, 'e\u0301'), [root])).toBe('decomposed');
  if (process.platform === 'linux') {
    expect(() => read(join(root, '\u00e9'), [root])).toThrow(/does not exist/);
  }
  expect(fs.existsSync(at)).toBe(true);
});
