import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLandableWork } from '../../../src/api/workspaces/landable-work.ts';
import {
  createLandingContext,
  proposeLanding,
} from '../../../src/api/workspaces/propose-landing.ts';
import { pruneWorkspaces } from '../../../src/api/workspaces/prune-workspaces.ts';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { undoLanding } from '../../../src/workspaces/landing/land.ts';
import { readLandingState } from '../../../src/workspaces/landing-state.ts';
import {
  readWorkspaceRecord,
  writeWorkspaceRecord,
  type WorkspaceRecord,
} from '../../../src/workspaces/record.ts';
import {
  discardWorkspace,
  finishRemoval,
  removeWorkspace,
} from '../../../src/workspaces/remove.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { access, createFor, createRepository, git, write } from '../../workspaces/repository.ts';

const LATER = Date.now() + 86_400_000;

async function prune(dataDir: string, endedBefore: number) {
  const notices: string[] = [];
  const onNotice = (line: string): void => void notices.push(line);
  const parts = { dataDir, ...access, isActive: () => false, onNotice };
  return { ...(await pruneWorkspaces(parts, endedBefore)), notices };
}

/** Creates a workspace in which a task has changed a file and ended. */
async function leaveChanges() {
  const source = createRepository({ a: 'one\n' });
  const { record, dataDir } = await createFor(source);
  write(record.tree, { a: 'two\n' });
  const end = await endWorkspace(record, access);
  return { source, dataDir, record: end.record, directory: dirname(record.tree) };
}

async function land(record: WorkspaceRecord, dataDir: string): Promise<void> {
  const options = { dataDir, ...access, check: null, form: 'files' } as const;
  const proposal = await proposeLanding(await readLandableWork(record, access), options);
  if (!proposal.ok) throw new Error('there are conflicts');
  expect(await proposal.land()).toEqual({ commit: null, kept: null, checkInputs: [] });
}

describe('a workspace', () => {
  it('with changes that wait stays, however old it is', async () => {
    const { dataDir, record, directory } = await leaveChanges();
    expect(await prune(dataDir, LATER)).toEqual({ kept: [record.id], notices: [] });
    expect(readWorkspaceRecord(directory)).toEqual(record);
    expect(readFileSync(join(record.tree, 'a'), 'utf8')).toBe('two\n');
  });

  it('that has landed keeps what undo needs, until it has expired', async () => {
    const { source, dataDir, record, directory } = await leaveChanges();
    await land(record, dataDir);
    expect(readFileSync(join(source, 'a'), 'utf8')).toBe('two\n');
    expect([existsSync(record.tree), git(source, 'branch', '--list')]).toEqual([false, '* main']);
    expect(await prune(dataDir, 0)).toEqual({ kept: [], notices: [] });
    expect(readLandingState(dataDir, record.id)).toBe('landed');
    await undoLanding(createLandingContext(record.id, { dataDir, ...access }));
    expect(readFileSync(join(source, 'a'), 'utf8')).toBe('one\n');
    expect(readLandingState(dataDir, record.id)).toBe('undone');
    expect(await prune(dataDir, LATER)).toEqual({ kept: [], notices: [] });
    expect(existsSync(directory)).toBe(false);
  });

  it('that was discarded keeps its record until it has expired', async () => {
    const { source, dataDir, record, directory } = await leaveChanges();
    await discardWorkspace(record, access);
    expect([existsSync(record.tree), git(source, 'branch', '--list')]).toEqual([false, '* main']);
    await prune(dataDir, 0);
    expect(readLandingState(dataDir, record.id)).toBe('discarded');
    await prune(dataDir, LATER);
    expect(existsSync(directory)).toBe(false);
  });

  it('whose process died between the landing and the removal is removed', async () => {
    const { source, dataDir, record, directory } = await leaveChanges();
    write(source, { b: 'mine\n' });
    await land(record, dataDir);
    const again = await leaveChangesAgain(record);
    expect(readLandingState(dataDir, record.id)).toBe('landed');
    expect(await prune(dataDir, 0)).toEqual({ kept: [], notices: [] });
    expect([existsSync(again.tree), existsSync(join(directory, 'landings'))]).toEqual([
      false,
      true,
    ]);
    expect(git(source, 'branch', '--list')).toBe('* main');
  });

  it('of such a process stays if something in it has changed since', async () => {
    const { dataDir, record } = await leaveChanges();
    await land(record, dataDir);
    const again = await leaveChangesAgain(record);
    write(again.tree, { a: 'three\n' });
    expect(await prune(dataDir, LATER)).toEqual({ kept: [record.id], notices: [] });
    expect(readFileSync(join(again.tree, 'a'), 'utf8')).toBe('three\n');
  });

  it('of such a process stays if the user has undone the change by hand', async () => {
    const { source, dataDir, record } = await leaveChanges();
    await land(record, dataDir);
    const again = await leaveChangesAgain(record);
    write(source, { a: 'one\n' });
    expect(await prune(dataDir, LATER)).toEqual({ kept: [record.id], notices: [] });
    expect(existsSync(again.tree)).toBe(true);
  });

  it('with a landing that is not finished is removed by nothing', async () => {
    const { dataDir, record, directory } = await leaveChanges();
    const journal = join(directory, 'landing', 'journal.json');
    mkdirSync(dirname(journal));
    write(dirname(journal), { 'journal.json': 'damaged', contents: 'of the user' });
    const refused = `a landing of it is not finished; finish it (muster tasks apply ${record.id} --continue) or take it back`;
    for (const discard of ['nothing', 'landed', 'changes'] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await expect(removeWorkspace(record, { ...access, discard })).rejects.toThrow(refused);
    }
    await expect(discardWorkspace(record, access)).rejects.toThrow(refused);
    expect(readWorkspaceRecord(directory)).toEqual(record);
    for (const status of ['ended', 'removed', 'creating', 'ready'] as const) {
      const changed: WorkspaceRecord = { ...record, status };
      writeWorkspaceRecord(changed);
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await expect(finishRemoval(changed, access)).rejects.toThrow(refused);
      // oxlint-disable-next-line no-await-in-loop -- one after another
      expect(await prune(dataDir, LATER)).toEqual({ kept: [record.id], notices: [] });
      expect([existsSync(journal), existsSync(record.tree)]).toEqual([true, true]);
    }
  });

  it('of a directory without a repository stays if a person has changed it after the end', async () => {
    const source = tempDirectory();
    write(source, { a: 'one\n' });
    const { record, dataDir } = await createFor(source);
    write(record.tree, { a: 'two\n' });
    const end = await endWorkspace(record, access);
    expect((await endWorkspace(end.record, access)).record).toEqual(end.record);
    write(record.tree, { b: 'a person\n' });
    const options = { dataDir, ...access, check: null, form: 'files' } as const;
    const result = { commit: null, endedAt: '2000-01-01T00:00:00.000Z' };
    const work = await readLandableWork({ ...end.record, result }, access);
    const proposal = await proposeLanding(work, options);
    if (!proposal.ok) throw new Error('there are conflicts');
    expect(await proposal.land()).toEqual({
      commit: null,
      kept: expect.stringContaining('files in it were changed after the end of the task'),
      checkInputs: [],
    });
    expect(readFileSync(join(record.tree, 'b'), 'utf8')).toBe('a person\n');
  });
});

/** Restores the workspace of a task as it was before its landing, except for the journal of the landing. */
async function leaveChangesAgain(record: WorkspaceRecord): Promise<WorkspaceRecord> {
  const { source, git: parts, tree, result } = record;
  git(source, 'branch', parts?.branch ?? '', result?.commit ?? '');
  git(source, 'worktree', 'add', '--quiet', tree, parts?.branch ?? '');
  writeWorkspaceRecord(record);
  return record;
}
