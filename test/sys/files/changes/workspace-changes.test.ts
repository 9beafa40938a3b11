import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { DirectoryWatches } from '../../../../src/sys/files/changes/directory-watches.ts';
import type { PathChange } from '../../../../src/sys/files/changes/path-change.ts';
import {
  WorkspaceChanges,
  type ObservedChanges,
} from '../../../../src/sys/files/changes/workspace-changes.ts';
import { changeAsMuster } from '../../../../src/sys/files/own-writes.ts';
import { hashContent } from '../../../../src/sys/files/read-file.ts';
import { tempDirectory } from '../../temp.ts';
import { PREPARE, randomCommand } from './random-commands.ts';
import { compareSnapshots, takeSnapshot, type ComparableChange } from './tree-snapshot.ts';

/** A workspace in a repository, and the part that finds what commands change in it. */
class Workspace {
  readonly root: string;
  readonly stored = new Map<string, Buffer>();
  readonly changes: WorkspaceChanges;

  constructor(watches?: DirectoryWatches) {
    const base = tempDirectory();
    this.root = join(base, 'work');
    mkdirSync(this.root);
    this.shell('git init -q; git config user.name a; git config user.email a@b.c');
    this.changes = new WorkspaceChanges({
      excluded: [join(this.root, 'muster-data')],
      now: Date.now,
      ...(watches === undefined ? {} : { watches }),
    });
    onTestFinished(() => this.changes.close());
  }

  path(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  shell(command: string): void {
    execFileSync('/bin/bash', ['-c', command], { cwd: this.root, stdio: 'ignore' });
  }

  begin() {
    return this.changes.begin([this.root], async (bytes) => {
      this.stored.set(hashContent(bytes), bytes);
    });
  }

  /** Observes a command, or other work that takes place while it runs. */
  async observe(work: string | (() => void)): Promise<ObservedChanges> {
    const observation = await this.begin();
    if (typeof work === 'string') this.shell(work);
    else work();
    return await observation.end();
  }

  /** Observes a command. Returns the paths of its changes with the hashes of known contents. */
  async run(work: string | (() => void)): Promise<readonly (readonly [string, string, string])[]> {
    const { changes } = await this.observe(work);
    return changes.map(({ path, before, after }) => [
      path.slice(this.root.length + 1),
      this.show(before),
      this.show(after),
    ]);
  }

  private show(version: PathChange['before']): string {
    if (version === null) return 'nothing';
    const kept = this.stored.get(version.hash)?.toString();
    const [kind = ''] = version.hash.split(':', 1);
    return `${kept ?? (kind === version.hash ? 'hash' : kind)} ${version.mode.toString(8)}`;
  }
}

function unwatched(): DirectoryWatches {
  const watches = new DirectoryWatches();
  watches.close();
  return watches;
}

function toComparable({ path, before, after }: PathChange): ComparableChange {
  return {
    path,
    before: before?.hash ?? null,
    after: after?.hash ?? null,
    oldMode: before?.mode ?? null,
    newMode: after?.mode ?? null,
  };
}

describe.each([
  { how: 'with watches', watches: () => new DirectoryWatches() },
  { how: 'by looking at all files', watches: unwatched },
])('the changes of a command, found $how', ({ watches }) => {
  test('are those that a comparison of the tree before and after finds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(randomCommand, { minLength: 3, maxLength: 6 }),
        async (commands) => {
          const at = new Workspace(watches());
          at.shell(PREPARE);
          for (const command of commands) {
            at.shell(PREPARE);
            const before = takeSnapshot(at.root);
            const { changes } = await at.observe(command);
            const expected = compareSnapshots(before, takeSnapshot(at.root));
            expect(changes.map(toComparable)).toEqual(expected);
            for (const { before: former } of expected) {
              if (former === null || former.includes(':')) continue;
              const content = at.stored.get(former);
              if (content !== undefined) expect(hashContent(content)).toBe(former);
            }
          }
          at.changes.close();
        },
      ),
      { numRuns: (inject('randomRuns') ?? 1) * 6 },
    );
  });

  test('do not include what others changed before it', async () => {
    const at = new Workspace(watches());
    at.write('a.txt', 'one');
    expect(await at.run('true')).toEqual([]);
    at.write('a.txt', 'two');
    at.write('b.txt', 'new');
    expect(await at.run('echo x > c.txt')).toEqual([['c.txt', 'nothing', 'hash 644']]);
  });

  test('do not include what Muster itself changes while it runs', async () => {
    const at = new Workspace(watches());
    const [a, b] = [at.write('a.txt', 'one'), at.write('b.txt', 'two')];
    const found = await at.run(() => {
      changeAsMuster([a], () => writeFileSync(a, 'by Muster'));
      changeAsMuster([b], () => rmSync(b));
      at.shell('echo x > c.txt');
      changeAsMuster([at.path('new/d.txt')], () => {
        mkdirSync(at.path('new'));
        at.write('new/d.txt', 'by Muster');
      });
    });
    expect(found).toEqual([['c.txt', 'nothing', 'hash 644']]);
  });

  test('include what it changed before and after Muster changed the same file', async () => {
    const at = new Workspace(watches());
    const a = at.write('a.txt', 'one');
    const found = await at.run(() => {
      at.shell('echo two > a.txt');
      changeAsMuster([a], () => writeFileSync(a, 'three'));
      at.shell('echo four > a.txt');
    });
    expect(found).toEqual([['a.txt', 'one 644', 'hash 644']]);
    expect([...at.stored.values()].map(String)).toEqual(['one', 'three']);
  });

  test('have the previous content of files of git, and of others that are small', async () => {
    const at = new Workspace(watches());
    at.write('tracked.txt', 'x'.repeat(300_000));
    at.shell('git add .; git commit -qm one; sleep 0.05; git update-index --refresh');
    at.write('untracked.txt', 'mine');
    at.write('large.txt', 'y'.repeat(300_000));
    at.write('.env', 'KEY=secret');
    const found = await at.run('for file in *.txt .env; do echo z > $file; done');
    expect(found).toEqual([
      ['.env', 'unknown 644', 'hash 644'],
      ['large.txt', 'unknown 644', 'hash 644'],
      ['tracked.txt', `${'x'.repeat(300_000)} 644`, 'hash 644'],
      ['untracked.txt', 'mine 644', 'hash 644'],
    ]);
  });

  test('are shared if two commands run at the same time', async () => {
    const at = new Workspace(watches());
    const first = await at.begin();
    at.shell('echo 1 > first.txt');
    const second = await at.begin();
    at.shell('echo 2 > both.txt');
    const found = await first.end();
    at.shell('echo 3 > second.txt');
    const shared = (each: ObservedChanges) =>
      each.changes.map((change) => [change.path.slice(at.root.length + 1), change.shared]);
    expect([shared(found), shared(await second.end())]).toEqual([
      [
        ['both.txt', true],
        ['first.txt', false],
      ],
      [
        ['both.txt', true],
        ['second.txt', false],
      ],
    ]);
  });

  test('in directories of dependencies are not listed, and those of Muster are left out', async () => {
    const at = new Workspace(watches());
    const reason = 'dependencies';
    const path = at.path('node_modules');
    const { changes, unlisted } = await at.observe(
      'mkdir -p node_modules/a muster-data .git/x; touch node_modules/a/b muster-data/log .git/y',
    );
    expect({ changes, unlisted }).toEqual({ changes: [], unlisted: [{ path, reason }] });
    expect((await at.observe('touch node_modules/b')).unlisted).toEqual([{ path, reason }]);
    expect((await at.observe('true')).unlisted).toEqual([]);
    expect((await at.observe('rm -r node_modules')).unlisted).toEqual([{ path, reason }]);
  });

  test('include all names of a file', async () => {
    const at = new Workspace(watches());
    at.write('a', 'one');
    at.shell('ln a b');
    expect(await at.run('echo two > b')).toEqual([
      ['a', 'one 644', 'hash 644'],
      ['b', 'one 644', 'hash 644'],
    ]);
    expect(await at.run('rm a; echo x > a')).toHaveLength(1);
  });

  test('include all names of a file that has got another name since the first look', async () => {
    const at = new Workspace(watches());
    at.write('a', 'one');
    at.write('c', 'three');
    await at.run('true');
    expect(await at.run('ln a b; echo two > b')).toEqual([
      ['a', 'one 644', 'hash 644'],
      ['b', 'nothing', 'hash 644'],
    ]);
    expect(await at.run('mkdir deep; ln c deep/d')).toHaveLength(1);
    expect((await at.run('echo four > deep/d')).map(([path]) => path)).toEqual(['c', 'deep/d']);
  });

  test('include the bits that let a program run as its owner', async () => {
    const at = new Workspace(watches());
    at.write('a', 'one');
    await at.run('true');
    expect(await at.run('chmod u+s a')).toEqual([['a', 'hash 644', 'hash 4644']]);
  });

  test('do not include tracked files that were only touched, however many they are', async () => {
    const at = new Workspace(watches());
    at.shell('for i in {1..700}; do echo $i > f$i; done; touch -d 2020-01-01 f*; git add .');
    await at.run('true');
    expect(await at.run('touch f*; echo x > f1')).toEqual([['f1', '1\n 644', 'hash 644']]);
    expect(at.stored.size).toBe(1);
  });

  test('have the previous hash of more tracked files than are stored', async () => {
    const at = new Workspace(watches());
    at.shell('for i in {1..700}; do echo $i > f$i; done; touch -d 2020-01-01 f*; git add .');
    await at.run('true');
    const { changes } = await at.observe('for file in f*; do echo x > $file; done');
    const numbers = changes.map(({ path }) => path.slice(at.path('f').length));
    expect(changes.map(({ before }) => before?.hash)).toEqual(
      numbers.map((number) => hashContent(`${number}\n`)),
    );
    expect(at.stored.size).toBe(500);
  });

  test('include each change of a file that is too large to be hashed', async () => {
    const at = new Workspace(watches());
    const change = (text: string) =>
      `printf ${text} | dd of=large conv=notrunc; touch -d 2020-01-01 large`;
    at.shell(`truncate -s 33M large; ${change('a')}`);
    await at.run('true');
    const found = [await at.run(change('b')), await at.run(change('c'))];
    expect(found).toEqual([
      [['large', 'unknown 644', 'stat 644']],
      [['large', 'unknown 644', 'stat 644']],
    ]);
  });

  test('are found again after a root was moved away and back', async () => {
    const at = new Workspace(watches());
    at.write('a', 'one');
    await at.run('true');
    expect(await at.run('mv ../work ../other')).toEqual([['a', 'one 644', 'nothing']]);
    execFileSync('mv', [join(at.root, '../other'), at.root]);
    await at.run('true');
    expect(await at.run('echo two > a')).toEqual([['a', 'one 644', 'hash 644']]);
  });

  test('include links, pipes, and a directory that takes the place of a file', async () => {
    const at = new Workspace(watches());
    at.write('a', 'one');
    symlinkSync('a', at.path('link'));
    const found = await at.run('rm a; mkdir a; echo x > a/b; ln -sfn b link; mkfifo pipe');
    expect(found).toEqual([
      ['a', 'one 644', 'nothing'],
      ['a/b', 'nothing', 'hash 644'],
      ['link', 'link 777', 'link 777'],
      ['pipe', 'nothing', 'special 644'],
    ]);
  });
});

test('more events than the system can queue lose no change', async () => {
  const at = new Workspace();
  at.shell('mkdir many');
  const { changes } = await at.observe(
    'cd many; for i in {1..6000}; do : > $i; done; rm {1..5000}',
  );
  expect(changes).toHaveLength(1_000);
});

test('a file with many names is compared once for each name', async () => {
  const at = new Workspace();
  at.write('a', 'one');
  await at.run('true');
  const { changes, unlisted } = await at.observe(() => {
    for (let index = 0; index < 1_500; index += 1) linkSync(at.path('a'), at.path(`l${index}`));
  });
  expect({ count: changes.length, unlisted }).toEqual({ count: 1_500, unlisted: [] });
});

test('a directory that could not be watched at first is compared when it can be', async () => {
  class Closed extends DirectoryWatches {
    isOpen = false;
    override watch(...args: Parameters<DirectoryWatches['watch']>) {
      return args[0].endsWith('/closed') && !this.isOpen ? null : super.watch(...args);
    }
  }
  const watches = new Closed();
  const at = new Workspace(watches);
  at.shell('mkdir closed');
  await at.run('true');
  watches.isOpen = true;
  expect(await at.run('chmod 700 closed; echo x > closed/a')).toHaveLength(1);
  expect(await at.run('echo y > closed/a')).toHaveLength(1);
});

test('a directory that was replaced while events were lost is watched again', async () => {
  class Losing extends DirectoryWatches {
    isLosing = false;
    override watch(path: string, listener: (name: string | null) => void) {
      return super.watch(path, (name) => {
        if (!this.isLosing) listener(name);
      });
    }
    override async waitForDelivery() {
      return (await super.waitForDelivery()) && !this.isLosing;
    }
  }
  const watches = new Losing();
  const at = new Workspace(watches);
  at.shell('mkdir d; echo 1 > d/a');
  await at.run('true');
  watches.isLosing = true;
  // On many systems the new directory gets the inode number of the old one.
  expect(await at.run('rm -r d; mkdir d; echo 2 > d/a')).toHaveLength(1);
  watches.isLosing = false;
  await at.run('true');
  expect(await at.run('echo 3 > d/a')).toHaveLength(1);
});

test('pipes in place of the objects of git do not keep a command from ending', async () => {
  const at = new Workspace();
  at.write('a.txt', 'one');
  at.shell('touch -d 2020-01-01 a.txt; git add .');
  await at.run('true');
  const found = await at.run(
    'for file in $(find .git/objects -type f); do rm -f $file; mkfifo $file; done; echo two > a.txt',
  );
  expect(found).toEqual([['a.txt', 'unknown 644', 'hash 644']]);
});

test('a name that is not valid UTF-8 is reported', async () => {
  const at = new Workspace();
  const { changes, unlisted } = await at.observe(String.raw`touch $'a\xff'`);
  expect({ changes, unlisted }).toEqual({
    changes: [],
    unlisted: [{ path: at.root, reason: 'names' }],
  });
});
