import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAccessCheck, isUsableWithOwnIds } from '../../../src/sys/sandbox/allowed-access.ts';
import { isWritable, layerRules, type PathRule } from '../../../src/sys/sandbox/plan.ts';

const RULES = layerRules([
  { kind: 'private', path: '/tmp' },
  { kind: 'writable', path: '/w' },
  { kind: 'writable', path: '/tmp/other' },
  { kind: 'protected', path: '/w/.git' },
  { kind: 'protected', path: '/w/.github/agents' },
  { kind: 'hidden', path: '/w/secret' },
  { kind: 'masked', path: '/w/.env' },
  { kind: 'hidden', path: '/home/.ssh' },
  { kind: 'shown', path: '/tmp/node' },
]);
const allows = createAccessCheck(RULES, ['/w/.npmrc']);

describe('a call can run in the sandbox', () => {
  test.each<readonly [what: string, reads: readonly string[], writes: readonly string[]]>([
    ['that opens nothing', [], []],
    ['that reads a file of the workspace', ['/w/a.txt'], []],
    ['that reads a file elsewhere', ['/usr/include/a.h', '/w/.git/config'], []],
    ['that searches the workspace, although files in it are hidden', ['/w'], []],
    ['that searches a home directory, although directories in it are hidden', ['/home'], []],
    ['that reads a root or a program below a private directory', ['/tmp/other/a', '/tmp/node'], []],
    ['that changes a file', ['/w/a'], ['/w/a', '/w/b/c']],
    ['that changes a file in a directory that cannot be moved', [], ['/w/.github/a.md']],
  ])('%s', (_, reads, writes) => {
    expect(allows({ reads, writes })).toBe(true);
  });
});

describe('a call has to run outside of the sandbox', () => {
  test.each<readonly [what: string, reads: readonly string[], writes: readonly string[]]>([
    ['that reads a hidden file', ['/w/.env'], []],
    ['that reads in a hidden directory', ['/w/secret/a'], []],
    ['that reads in a private directory', ['/w/a', '/tmp/x'], []],
    ['that searches above a private directory', ['/'], []],
    ['that reads from /proc', ['/proc/cpuinfo'], []],
    ['that reads a device', ['/dev/null'], []],
    ['that changes a file outside of the roots', [], ['/etc/hosts']],
    ['that changes a file in a root that was added later', [], ['/later/a']],
    ['that changes a protected file', [], ['/w/.git/config']],
    ['that creates a protected file', [], ['/w/.npmrc']],
    ['that changes a hidden file', [], ['/w/.env']],
    ['that moves a directory with a protected file', [], ['/w/.github', '/w/x']],
    ['that moves a file to another root', [], ['/w/a', '/tmp/other/a']],
    ['that moves a file to another mount of the same root', [], ['/w/a', '/w/.github/a']],
    ['that removes a root', [], ['/w']],
  ])('%s', (_, reads, writes) => {
    expect(allows({ reads, writes })).toBe(false);
  });
});

test('nothing that a sandbox does not let a program write is changed in it', () => {
  const names = fc.constantFrom('a', 'b', 'c');
  const paths = fc.array(names, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
  const kinds = fc.constantFrom<PathRule['kind'][]>(
    'private',
    'shown',
    'writable',
    'held',
    'protected',
    'hidden',
    'masked',
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ kind: kinds, path: paths })),
      fc.array(paths),
      (given, writes) => {
        const rules = layerRules(given);
        if (!createAccessCheck(rules, [])({ reads: [], writes })) return;
        for (const path of writes) expect(isWritable(path, rules)).toBe(true);
      },
    ),
  );
});

const USER = { uid: 1000, gid: 1000 };
const ROOT = { uid: 0, gid: 0 };

test.each([
  [{ uid: 1000, gid: 1000, mode: 0o600 }, 'replace', USER, true],
  [{ uid: 1000, gid: 33, mode: 0o660 }, 'replace', USER, false],
  [{ uid: 0, gid: 1000, mode: 0o660 }, 'replace', USER, false],
  [{ uid: 0, gid: 33, mode: 0o775 }, 'create', USER, true],
  [{ uid: 0, gid: 0, mode: 0o600 }, 'read', USER, true],
  [{ uid: 1000, gid: 1000, mode: 0o755 }, 'create', ROOT, false],
  [{ uid: 1000, gid: 1000, mode: 0o600 }, 'read', ROOT, false],
  [{ uid: 1000, gid: 1000, mode: 0o644 }, 'read', ROOT, true],
  [{ uid: 0, gid: 0, mode: 0o600 }, 'read', ROOT, true],
] as const)('%j can be used as before (%s by %j): %s', (stats, use, own, expected) => {
  expect(isUsableWithOwnIds(stats, use, own)).toBe(expected);
});
