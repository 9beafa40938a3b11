import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DeniedPaths } from '../../../src/sys/sandbox/sandbox.ts';
import { determineAccess } from '../../../src/sys/sandbox/access-rules.ts';
import { HAS_BUBBLEWRAP, Place, runIn } from './support.ts';

function denied(at: Place, places: Partial<DeniedPaths>): DeniedPaths {
  const below = (names: readonly string[] = []) => names.map((name) => join(at.base, name));
  return { hidden: below(places.hidden), readOnly: below(places.readOnly) };
}

/** The rules that denied places bring, and what is writable, as they are laid; paths relative to the base. */
function added(
  at: Place,
  places: Partial<DeniedPaths>,
  {
    access = 'workspace',
    roots = [at.root],
  }: { readonly access?: 'workspace' | 'read-only'; readonly roots?: readonly string[] } = {},
): readonly string[] {
  const nowhere = { homes: [], stateDirectories: [], runtimeDirectories: [], sockets: [] };
  const laid = (given: DeniedPaths): readonly string[] =>
    determineAccess({ access, roots, network: false, denied: given }, nowhere).rules.map(
      ({ kind, path }) => `${kind} ${path.slice(at.base.length + 1)}`,
    );
  const before = laid({ hidden: [], readOnly: [] });
  return laid(denied(at, places)).filter(
    (text) => !before.includes(text) || text.startsWith('writable'),
  );
}

describe('the sandbox rules for denied paths', () => {
  test('hide an existing path or make it read-only at its real location, and a missing one cannot be created', () => {
    const at = new Place();
    at.write('work/hidden/x');
    at.write('work/a.txt');
    at.write('work/src/deep/b.txt');
    symlinkSync('hidden', join(at.root, 'link'));
    symlinkSync('nowhere', join(at.root, 'dangling'));
    expect(added(at, { hidden: ['work/link', 'work/a.txt', 'work/none'] })).toEqual([
      'writable work',
      'masked work/a.txt',
      'hidden work/hidden',
    ]);
    const readOnly = ['work/link', 'work/src/deep/b.txt', 'work/new', 'work/no/new'];
    expect(added(at, { readOnly: [...readOnly, 'work/dangling', 'home', 'none'] })).toEqual([
      'writable work',
      'protected work/hidden',
      'held work/src',
      'held work/src/deep',
      'protected work/src/deep/b.txt',
    ]);
    expect(added(at, { readOnly }, { access: 'read-only' })).toEqual([]);
    expect(added(at, { hidden: ['work/link'] }, { access: 'read-only' })).toEqual([
      'hidden work/hidden',
    ]);
  });

  test('show a root that may not be changed, and leave one that may not be seen', () => {
    const at = new Place();
    const inner = at.directory('work/inner');
    expect(added(at, { readOnly: ['work'] })).toEqual([]);
    expect(added(at, { readOnly: ['.'] })).toEqual([]);
    const roots = [at.root, inner];
    expect(added(at, { readOnly: ['work/inner'] }, { roots })).toEqual([
      'writable work',
      'protected work/inner',
    ]);
    symlinkSync('work', join(at.base, 'link'));
    expect(added(at, { hidden: ['work', 'link'] })).toEqual(['writable work']);
    expect(added(at, { hidden: ['.'] })).toEqual(['hidden ', 'writable work']);
  });
});

const ATTACKS = [
  'cat hidden/x',
  'cat ./sub/../hidden/x',
  'cat link/x',
  'cat masked',
  'mv hidden seen && cat seen/x',
  'mv sub sub2 && cat sub2/hidden/x',
  'ln masked seen; cat seen',
  'echo evil > a.txt',
  'rm -f a.txt; echo evil > a.txt',
  'mv a.txt b.txt && echo evil > a.txt',
  'ln a.txt c.txt && echo evil > c.txt',
  'echo evil > dir/deep/file',
  'mkdir -p dir/more',
];

describe.runIf(HAS_BUBBLEWRAP)('a command under rules about paths', () => {
  function world(): { readonly at: Place; readonly places: DeniedPaths } {
    const at = new Place();
    for (const name of ['hidden/x', 'sub/hidden/x', 'masked']) at.write(`work/${name}`, 'SECRET\n');
    for (const name of ['a.txt', 'dir/deep/file', 'free.txt'])
      at.write(`work/${name}`, 'as it was');
    symlinkSync('hidden', join(at.root, 'link'));
    const places = denied(at, {
      hidden: ['work/hidden', 'work/sub/hidden', 'work/masked'],
      readOnly: ['work/a.txt', 'work/dir', 'work/new.txt'],
    });
    return { at, places };
  }

  test('neither sees nor changes denied paths, and works next to them', async () => {
    const { at, places } = world();
    const sandbox = at.sandbox();
    for (const attack of ATTACKS) {
      const ran = await runIn(sandbox, `{ ${attack}; } 2>/dev/null`, {
        roots: [at.root],
        denied: places,
      });
      expect({ attack, failed: ran.code !== 0, out: ran.out }).toEqual({
        attack,
        failed: true,
        out: '',
      });
    }
    for (const name of ['a.txt', 'dir/deep/file']) {
      expect(readFileSync(join(at.root, name), 'utf8')).toBe('as it was');
    }
    await runIn(sandbox, 'echo evil > new.txt', { roots: [at.root], denied: places });
    expect(existsSync(join(at.root, 'new.txt'))).toBe(false);
    const control =
      'cat a.txt dir/deep/file && echo done > free.txt && echo made > other && cat other';
    const ran = await runIn(sandbox, control, { roots: [at.root], denied: places });
    expect(ran).toMatchObject({ code: 0, out: 'as it wasas it wasmade\n' });
    expect(existsSync(join(at.root, 'new.txt'))).toBe(false);
    expect(readFileSync(join(at.root, 'hidden/x'), 'utf8')).toBe('SECRET\n');
  });

  test('sees no denied path if it may only read', async () => {
    const { at, places } = world();
    const ran = await runIn(at.sandbox(), 'cat hidden/x masked 2>/dev/null; cat a.txt', {
      roots: [at.root],
      access: 'read-only',
      denied: places,
    });
    expect(ran).toMatchObject({ code: 0, out: 'as it was' });
  });

  test('changes no root that is denied completely, wherever it is', async () => {
    for (const below of ['/var/tmp', '/tmp']) {
      const at = new Place({ below });
      at.write('work/a.txt', 'as it was');
      mkdirSync(join(at.root, 'sub'));
      const ran = await runIn(
        at.sandbox(),
        'cat a.txt; { echo evil > a.txt || mkdir sub/x; } 2>/dev/null',
        {
          roots: [at.root],
          denied: { hidden: [], readOnly: [at.root] },
        },
      );
      expect(ran).toMatchObject({ code: 1, out: 'as it was' });
    }
  });
});
