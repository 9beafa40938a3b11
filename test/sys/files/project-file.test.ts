import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listProjectDirectories, projectRoot } from '../../../src/sys/files/project-directories.ts';
import {
  describeExcessSize,
  readProjectFile,
  TRUST_ALL,
  TRUST_NOTHING,
  explainUntrusted,
  type ProjectTrust,
} from '../../../src/sys/files/project-file.ts';
import { hashContent } from '../../../src/sys/files/read-file.ts';

let root: string;
let boundary: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-project-file-')));
  boundary = join(root, 'repo');
  mkdirSync(join(boundary, '.git'), { recursive: true });
  mkdirSync(join(boundary, 'a/b'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function read(path: string, trust: ProjectTrust = TRUST_ALL) {
  const request = { kind: 'agent', path: join(boundary, path), boundary, maxBytes: 10 } as const;
  return readProjectFile(request, trust);
}

it('reads a trusted file, and judges exactly these bytes', () => {
  writeFileSync(join(boundary, 'f'), 'hello');
  const judged: string[] = [];
  const trust: ProjectTrust = {
    judge: ({ kind, path }, hash) => {
      judged.push(kind, path, hash());
      // Changed after it was judged: what is used is what was judged.
      writeFileSync(join(boundary, 'f'), 'evil');
      return { state: 'trusted' };
    },
  };
  expect(read('f', trust)).toEqual({ kind: 'read', bytes: Buffer.from('hello') });
  expect(judged).toEqual(['agent', join(boundary, 'f'), hashContent('hello')]);
});

it('does not open a file that nobody has trusted', () => {
  execFileSync('mkfifo', [join(boundary, 'pipe')]);
  const verdict = { state: 'new' } as const;
  expect(read('pipe', TRUST_NOTHING)).toEqual({ kind: 'untrusted', verdict });
  expect(explainUntrusted(verdict)).toMatch(/^Not trusted yet\. .*muster trust add/);
  expect(explainUntrusted({ state: 'changed', trustedOn: '2026-01-02T03:04:05Z' })).toMatch(
    /^Changed since you trusted it on 2026-01-02\. /,
  );
});

it('says of a file that nobody has trusted whether it is too large to be trusted', () => {
  writeFileSync(join(boundary, 'eleven'), 'x'.repeat(11));
  writeFileSync(join(boundary, 'ten'), 'x'.repeat(10));
  const verdict = { state: 'new' } as const;
  expect(['eleven', 'ten'].map((path) => read(path, TRUST_NOTHING))).toStrictEqual([
    { kind: 'untrusted', verdict, sizeProblem: 'It has 11 bytes, and the limit is 10 bytes.' },
    { kind: 'untrusted', verdict },
  ]);
  expect(read('eleven')).toEqual({
    kind: 'refused',
    code: 'too-large',
    reason: 'It has 11 bytes, and the limit is 10 bytes.',
  });
  expect(describeExcessSize(0, 10)).toBe('It is too large: the limit is 10 bytes.');
});

it('refuses anything but a regular file of the project, and large files', () => {
  writeFileSync(join(root, 'outside'), 'secret');
  symlinkSync(join(root, 'outside'), join(boundary, 'out'));
  symlinkSync(root, join(boundary, 'up'));
  symlinkSync('loop', join(boundary, 'loop'));
  symlinkSync('nowhere', join(boundary, 'dangling'));
  execFileSync('mkfifo', [join(boundary, 'pipe')]);
  writeFileSync(join(boundary, 'huge'), '');
  truncateSync(join(boundary, 'huge'), 1_000_000_000);
  writeFileSync(join(boundary, 'eleven'), 'x'.repeat(11));
  writeFileSync(join(boundary, 'ten'), 'x'.repeat(10));
  const outcome = (path: string): string => {
    const reading = read(path);
    return reading.kind === 'refused' ? reading.code : reading.kind;
  };
  const paths = [
    'ten',
    'eleven',
    'huge',
    'out',
    'up/outside',
    'loop',
    'dangling',
    'none',
    'ten/x',
    'a',
    'pipe',
  ];
  expect(paths.map((path) => [path, outcome(path)])).toEqual([
    ['ten', 'read'],
    ['eleven', 'too-large'],
    ['huge', 'too-large'],
    ['out', 'link-outside'],
    ['up/outside', 'link-outside'],
    ['loop', 'link-outside'],
    ['dangling', 'absent'],
    ['none', 'absent'],
    ['ten/x', 'absent'],
    ['a', 'not-a-file'],
    ['pipe', 'not-a-file'],
  ]);
});

it('follows links that stay inside', () => {
  writeFileSync(join(boundary, 'a/real'), 'hello');
  symlinkSync('../real', join(boundary, 'a/b/link'));
  expect(read('a/b/link')).toEqual({ kind: 'read', bytes: Buffer.from('hello') });
});

it('a project extends from the directory up to the root of its repository', () => {
  const deep = join(boundary, 'a/b');
  expect(listProjectDirectories(deep)).toEqual([deep, join(boundary, 'a'), boundary]);
  expect([projectRoot(deep), projectRoot(root)]).toEqual([boundary, root]);
  mkdirSync(join(deep, '.git'));
  expect(listProjectDirectories(deep)).toEqual([deep]);
});
