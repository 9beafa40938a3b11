import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSessionWorkspaces } from '../../../src/api/workspaces/session-workspaces.ts';
import { openStoredWorkspaces } from '../../../src/api/workspaces/stored-workspaces.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { TRUST_NOTHING } from '../../../src/sys/files/project-file.ts';
import { createWorkspace } from '../../../src/workspaces/create.ts';
import { DEFAULT_COPY_LIMITS } from '../../../src/workspaces/copy-tree.ts';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { access, createFor, createRepository, git, write } from '../../workspaces/repository.ts';

const BEFORE = '1\n2\n3\n4\n5\n';
const AFTER = 'ONE\n2\n3\n4\n5\n';

type Work = (tree: string) => void;

/** Creates a workspace in which a task does some work and ends, and opens it for commands. */
async function leaveWork(work: Work, source = createDirectory()) {
  const { record, plan, dataDir } = await createFor(source);
  work(record.tree);
  await endWorkspace(record, access);
  const store = openMemoryStore();
  const stored = openStoredWorkspaces({ store, dataDir, ...access, onNotice: () => {} });
  const { id } = record;
  const undo = async () => await stored.undo(id);
  /** Lets the task work again: it gets another workspace. */
  const workAgain = async (next: Work): Promise<void> => {
    const packages = { names: [], mode: 'none' } as const;
    const options = {
      ...access,
      start: 'uncommitted',
      limits: DEFAULT_COPY_LIMITS,
      packages,
    } as const;
    const again = await createWorkspace(plan, options, access.signal);
    next(again.record.tree);
    await endWorkspace(again.record, access);
  };
  return { source, stored, id, record, dataDir, undo, workAgain };
}

/** Creates a directory without a repository, in which everything takes less time. */
function createDirectory(): string {
  const source = tempDirectory();
  write(source, { a: BEFORE });
  return source;
}

const editFirst: Work = (tree) => write(tree, { a: AFTER });
const read = (source: string, path = 'a') => readFileSync(join(source, path), 'utf8');
const parentsOf = (source: string) => git(source, 'log', '-1', '--format=%P').split(' ');

describe('after an undo, apply', () => {
  it('lands the same files and commits again', async () => {
    const repository = createRepository({ a: BEFORE, gone: 'x\n' });
    const { source, stored, id, undo } = await leaveWork((tree) => {
      editFirst(tree);
      git(tree, 'commit', '--quiet', '--all', '--message=by the task');
      git(tree, 'mv', 'gone', 'moved');
      write(tree, { 'new/file': 'new\n' });
    }, repository);
    const landed = await stored.apply(id, 'commits');
    const state = () => ({
      files: git(source, 'ls-tree', '-r', 'HEAD'),
      status: git(source, 'status', '--short'),
      parents: parentsOf(source),
      landing: stored.landingState(id),
    });
    const after = state();
    expect(after).toMatchObject({ status: '', landing: 'landed' });
    expect(after.parents).toHaveLength(2);
    const diff = await stored.leftDiff(id, 10_000);
    await undo();
    expect([read(source), stored.landingState(id)]).toEqual([BEFORE, 'undone']);
    expect(await stored.leftDiff(id, 10_000)).toEqual({ text: diff?.text, hasLanded: false });
    expect(await stored.diff(id)).toBe(diff?.text);
    expect(await stored.preview(id)).toEqual({ diff: diff?.text, files: 3, conflicts: [] });
    const again = await stored.apply(id, 'commits');
    expect(again).toEqual({ ...landed, commit: expect.any(String) });
    expect(state()).toEqual(after);
    await expect(stored.apply(id, 'commits')).rejects.toThrow('so there are no changes');
  });

  it('lands as often as the landing is undone', async () => {
    const { source, stored, id, undo } = await leaveWork(editFirst);
    for (let count = 0; count < 4; count += 1) {
      // oxlint-disable no-await-in-loop -- one after another
      expect(await stored.apply(id, 'commits')).toMatchObject({ paths: ['a'], commit: null });
      expect(read(source)).toBe(AFTER);
      await undo();
      expect([read(source), stored.landingState(id)]).toEqual([BEFORE, 'undone']);
      // oxlint-enable no-await-in-loop
    }
  });

  it('makes one commit if git has deleted the commits of the task', async () => {
    const { source, stored, id, undo } = await leaveWork(
      (tree) => {
        editFirst(tree);
        git(tree, 'commit', '--quiet', '--all', '--message=by the task');
      },
      createRepository({ a: BEFORE }),
    );
    await stored.apply(id, 'commits');
    await undo();
    git(source, 'reflog', 'expire', '--expire=now', '--all');
    git(source, 'gc', '--quiet', '--prune=now');
    const head = git(source, 'rev-parse', 'HEAD');
    expect(await stored.apply(id, 'commits')).toMatchObject({ kind: 'landed', paths: ['a'] });
    expect([read(source), parentsOf(source)]).toEqual([AFTER, [head]]);
  });

  it('merges later edits of the user, and reports conflicts with them', async () => {
    const { source, stored, id, undo } = await leaveWork(editFirst);
    await stored.apply(id, 'files');
    await undo();
    write(source, { a: BEFORE.replace('1', 'mine') });
    const conflicts = [
      {
        path: 'a',
        reason: 'has changes of you and of the task at the same lines',
        hunks: '<<<<<<< your file, line 1\nmine\n=======\nONE\n>>>>>>> the task, line 1',
      },
    ];
    expect(await stored.apply(id, 'files')).toEqual({ kind: 'conflicts', id, conflicts });
    expect(read(source)).toBe(BEFORE.replace('1', 'mine'));
    write(source, { a: BEFORE.replace('5', 'mine') });
    expect(await stored.apply(id, 'files')).toMatchObject({ kind: 'landed', paths: ['a'] });
    expect(read(source)).toBe(AFTER.replace('5', 'mine'));
    await undo();
    expect(read(source)).toBe(BEFORE.replace('5', 'mine'));
  });

  it('lands several undone landings one after the other, in their first order', async () => {
    const repository = createRepository({ a: BEFORE });
    const { source, stored, id, undo, workAgain } = await leaveWork(editFirst, repository);
    await stored.apply(id, 'files');
    await workAgain((tree) => {
      write(tree, { a: AFTER.replace('ONE', 'ONE AGAIN') });
      git(tree, 'commit', '--quiet', '--all', '--message=by the task');
    });
    await stored.apply(id, 'files');
    await undo();
    await undo();
    const seen: unknown[] = [[read(source), stored.landingState(id)]];
    for (let count = 0; count < 2; count += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await stored.apply(id, 'commits');
      seen.push([read(source), stored.landingState(id), parentsOf(source).length]);
    }
    // The second workspace began with uncommitted changes of the user, so its commits do not become part of the history.
    expect(seen).toEqual([
      [BEFORE, 'undone'],
      [AFTER, 'undone', 1],
      [AFTER.replace('ONE', 'ONE AGAIN'), 'landed', 1],
    ]);
  });

  it('leaves out what was undone before the task did other work, which has landed', async () => {
    const { source, stored, id, undo, workAgain } = await leaveWork(editFirst);
    await stored.apply(id, 'files');
    await undo();
    await workAgain((tree) => write(tree, { other: 'new\n' }));
    expect(await stored.apply(id, 'files')).toMatchObject({ paths: ['other'] });
    await expect(stored.apply(id, 'files')).rejects.toThrow('so there are no changes');
    expect([read(source), stored.landingState(id)]).toEqual([BEFORE, 'landed']);
  });

  it('says that the changes are not known any more', async () => {
    const { stored, id, undo, record } = await leaveWork(editFirst);
    await stored.apply(id, 'files');
    await undo();
    const contents = join(dirname(record.tree), 'landings/1/contents');
    writeFileSync(contents, '');
    await expect(stored.apply(id, 'files')).rejects.toThrow(
      `${contents} is shorter than its journal says`,
    );
    expect(stored.landingState(id)).toBe('undone');
  });
});

it('a parent lands the changes again in its session', async () => {
  const { source, stored, id, dataDir, undo } = await leaveWork(editFirst);
  await stored.apply(id, 'files');
  await undo();
  const { signal, environment } = access;
  const [home, cwd] = [tempDirectory(), source];
  const trust = TRUST_NOTHING;
  const { config } = await loadConfig({ environment, home, cwd, trust, flags: [] });
  const port = createSessionWorkspaces({
    settings: config.workspaces,
    environment,
    dataDir,
    keepsOpen: false,
    endPrograms: () => Promise.resolve(),
  });
  expect(await port.diff(id, 10_000, signal)).toContain('-1\n+ONE\n');
  const proposal = await port.proposeLanding(id, { signal, check: null });
  if (!proposal.ok) throw new Error('there are conflicts');
  expect(await proposal.land()).toEqual({ commit: null, kept: null, checkInputs: [] });
  expect([read(source), stored.landingState(id)]).toEqual([AFTER, 'landed']);
  await expect(port.diff(id, 10_000, signal)).rejects.toThrow('so there are no changes');
  expect(existsSync(join(dataDir, 'workspaces', id, 'tree'))).toBe(false);
});
