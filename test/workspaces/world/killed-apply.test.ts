import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { openWorld, type World } from '../../e2e/world.ts';
import { access, createFor, git, hashTree, write } from '../repository.ts';

/** So many files that a landing takes much longer than the time until it is seen. */
const FILES = Array.from({ length: 200 }, (_, index) => `d${index % 20}/f${index}`);
/** What a landing may leave: objects that nothing names, the log of the branch, and times in the index. */
const MAY_STAY = /^\.git\/(objects|logs|index|ORIG_HEAD)/;

const filesWith = (text: string): Record<string, string> =>
  Object.fromEntries(FILES.map((path) => [path, `${path}\n${text}\n`]));

/** Leaves changes of a task for the repository of a world. Returns the arguments of the commands that land them. */
async function leaveChanges({ sandbox }: World) {
  const { workspace: source, data: dataDir } = sandbox;
  git(source, 'init', '--quiet', '--initial-branch=main');
  write(source, filesWith('before'));
  git(source, 'add', '--all');
  git(source, 'commit', '--quiet', '--message=first');
  const { record } = await createFor(source, { dataDir });
  write(record.tree, filesWith('after'));
  await endWorkspace(record, access);
  const args = (...flags: readonly string[]) => {
    return ['tasks', 'apply', record.id, ...flags, '--data-dir', dataDir];
  };
  return { source, args, directory: dirname(record.tree) };
}

/** Starts the command and kills it when the landing has changed the first file, or as soon as it has its journal. */
async function killDuringApply(world: World, args: readonly string[], isReached: () => boolean) {
  const running = world.start(args);
  // oxlint-disable-next-line no-await-in-loop -- until the landing has begun
  while (running.process.exitCode === null && !isReached()) await sleep(1);
  running.process.kill('SIGKILL');
  await running.finished;
}

const stateOf = (source: string) => ({
  files: hashTree(source, /^\.git$/),
  git: hashTree(source, MAY_STAY),
  log: git(source, 'log', '--format=%s'),
  status: git(source, 'status', '--short'),
});

test.each(['--continue', '--abort'] as const)(
  'muster tasks apply that is killed is ended by %s',
  async (flag) => {
    await using world = await openWorld({});
    const { source, args, directory } = await leaveChanges(world);
    const before = stateOf(source);
    await killDuringApply(world, args(), () => existsSync(join(directory, 'landing')));
    expect(existsSync(join(directory, 'landing'))).toBe(true);
    // Until the landing is ended, nothing else lands.
    const refused = await world.run(args());
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not finished')]);
    const ended = await world.run(args(flag, '--json'));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    if (flag === '--abort') {
      expect(JSON.parse(ended.stdout)).toMatchObject({
        status: 'aborted',
        left: [],
        left_in_git: [],
        kept_at: null,
      });
      expect(stateOf(source)).toEqual(before);
      expect(await world.run(args())).toMatchObject({ code: 0 });
    } else {
      expect(JSON.parse(ended.stdout)).toMatchObject({
        status: 'landed',
        paths: FILES.toSorted(),
        left: [],
        left_in_git: [],
      });
    }
    expect(git(source, 'status', '--short')).toBe('');
    expect(git(source, 'log', '--format=%s')).toBe('Add a test\nfirst');
    expect(git(source, 'show', 'HEAD:d0/f0')).toBe('d0/f0\nafter');
    expect(git(source, 'worktree', 'list').split('\n')).toHaveLength(1);
    const again = await world.run(args('--continue'));
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('no landing is unfinished'),
    ]);
  },
  120_000,
);
