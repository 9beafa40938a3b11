import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pruneWorkspaces } from '../../../src/api/workspaces/prune-workspaces.ts';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { findAbandonedWorkspaces, removeWorkspace } from '../../../src/workspaces/remove.ts';
import { newId } from '../../../src/base/ids.ts';
import {
  isDamagedWorkspace,
  listWorkspaces,
  readWorkspaceRecord,
} from '../../../src/workspaces/record.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { access, createFor, createRepository, git, hashTree, write } from '../repository.ts';

const PROGRAM = join(import.meta.dirname, 'killed-removal.ts');
/** Objects, and directories of logs that git leaves. */
const MAY_STAY = /^\.git\/(objects|logs$|logs\/refs$|logs\/refs\/heads$)/;

type Action = 'create' | 'discard' | 'landed' | 'prune';

/** Creates an ended workspace with a change. For `landed`, the directory of a finished landing keeps its record. */
async function createEnded(source: string, action: Action) {
  const { record, dataDir } = await createFor(source);
  write(record.tree, { a: 'work of the task\n' });
  const end = await endWorkspace(record, access);
  const directory = dirname(record.tree);
  if (action === 'landed') mkdirSync(join(directory, 'landings'));
  return { dataDir, directory, record: end.record };
}

interface Place {
  readonly dataDir: string;
  readonly id: string;
  /** The directory of the compile cache. */
  readonly cache: string;
  readonly source: string;
}

function run({ dataDir, id, cache, source }: Place, action: Action, killAt: number) {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, dataDir, id, action, String(killAt), source],
    { encoding: 'utf8', env: { ...process.env, NODE_COMPILE_CACHE: cache } },
  );
  if (signal === null && status !== 0) throw new Error(stderr);
  return { wasKilled: signal === 'SIGKILL', calls: Number(stdout) };
}

test('a creation that is killed at any of its calls leaves nothing after the next start', async () => {
  const source = createRepository({ a: '1\n', b: '2\n' });
  write(source, { b: 'uncommitted\n', c: 'new\n' });
  const before = hashTree(source, MAY_STAY);
  const [dataDir, cache] = [tempDirectory(), tempDirectory()];
  const seen = new Set<string>();
  for (let killAt = 1; !seen.has('ready'); killAt += 1) {
    expect(killAt).toBeLessThan(200);
    run({ dataDir, id: newId(), cache, source }, 'create', killAt);
    const [left] = listWorkspaces(dataDir);
    if (left !== undefined && isDamagedWorkspace(left)) throw new Error(left.problem);
    seen.add(left?.status ?? 'none');
    const parts = { dataDir, ...access, isActive: () => false, onNotice: expect.unreachable };
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await pruneWorkspaces(parts, 0);
    // A workspace that was ready is work that nobody deletes without being asked.
    if (left?.status === 'ready')
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await removeWorkspace(left, { ...access, discard: 'nothing' });
    expect(listWorkspaces(dataDir)).toEqual([]);
    expect([killAt, hashTree(source, MAY_STAY)]).toEqual([killAt, before]);
  }
  expect([...seen].toSorted()).toEqual(['creating', 'none', 'ready']);
}, 900_000);

describe('a removal that is killed at any of its calls', () => {
  test.each(['discard', 'landed'] as const)(
    'of a workspace (%s) has not begun, or is completed by the next start, which may be killed too',
    async (action) => {
      const seen = new Set<string>();
      let hasEnded = false;
      const cache = tempDirectory();
      const source = createRepository({ a: '1\n', b: '2\n' });
      const before = hashTree(source, MAY_STAY);
      for (let killAt = 1; !hasEnded; killAt += 1) {
        expect(killAt).toBeLessThan(100);
        // oxlint-disable-next-line no-await-in-loop -- one after another
        const { dataDir, directory, record } = await createEnded(source, action);
        const place = { dataDir, id: record.id, cache, source };
        hasEnded = !run(place, action, killAt).wasKilled;
        const left = readWorkspaceRecord(directory);
        const hasBegun = 'problem' in left || left.status === 'removed';
        seen.add(hasBegun ? 'begun' : 'not begun');
        // The start that completes the removal is killed as well.
        run(place, 'prune', 1 + (killAt % 4));
        const parts = { dataDir, ...access, isActive: () => false, onNotice: expect.unreachable };
        // oxlint-disable-next-line no-await-in-loop -- one after another
        const { kept } = await pruneWorkspaces(parts, 0);
        if (hasBegun) {
          expect(kept).toEqual([]);
          expect([existsSync(record.tree), existsSync(join(directory, 'index'))]).toEqual([
            false,
            false,
          ]);
          expect(readWorkspaceRecord(directory)).toMatchObject({ status: 'removed' });
          expect(findAbandonedWorkspaces(dataDir, () => false)).toEqual([]);
          expect(hashTree(source, MAY_STAY)).toEqual(before);
        } else {
          expect(kept).toEqual([record.id]);
          expect(left).toEqual(record);
          expect(readFileSync(join(record.tree, 'a'), 'utf8')).toBe('work of the task\n');
          expect(git(source, 'show', `${record.git?.branch}:a`)).toBe('work of the task');
          // The next round begins with the repository as it was.
          // oxlint-disable-next-line no-await-in-loop -- one after another
          await removeWorkspace(record, { ...access, discard: 'changes' });
        }
      }
      expect([...seen].toSorted()).toEqual(['begun', 'not begun']);
    },
    900_000,
  );
});
