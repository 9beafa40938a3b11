import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { removeLanded } from '../../../src/api/workspaces/remove-landed.ts';
import { openStoredWorkspaces } from '../../../src/api/workspaces/stored-workspaces.ts';
import { findHolder, holdWorkspace } from '../../../src/api/workspaces/workspace-hold.ts';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { writeWorkspaceRecord } from '../../../src/workspaces/record.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { access, createFor, createRepository, git, write } from '../../workspaces/repository.ts';

/** Creates a workspace in which a task has changed a file and ended, and opens it for commands. */
async function leaveChanges() {
  const source = createRepository({ a: 'one\n' });
  const { record, dataDir } = await createFor(source);
  write(record.tree, { a: 'two\n' });
  const end = await endWorkspace(record, access);
  const store = openMemoryStore();
  const stored = openStoredWorkspaces({ store, dataDir, ...access, onNotice: () => {} });
  return { source, stored, record: end.record, directory: dirname(record.tree) };
}

it('holds the workspace while it lands or is discarded', async () => {
  const { source, stored, record, directory } = await leaveChanges();
  const release = holdWorkspace(record.id, directory);
  const { id } = record;
  for (const act of [
    () => stored.apply(id, 'files'),
    () => stored.discard(id),
    () => stored.undo(id),
    () => stored.recover(id, 'continue'),
    () => stored.recover(id, 'abort'),
  ])
    await expect(act()).rejects.toThrow(`uses the workspace of task ${record.id}`);
  release();
  const applied = stored.apply(record.id, 'files');
  expect(findHolder(directory)).toBe(process.pid);
  expect(await applied).toMatchObject({ kind: 'landed', paths: ['a'], kept: null });
  expect(findHolder(directory)).toBe(null);
  expect(readFileSync(join(source, 'a'), 'utf8')).toBe('two\n');
});

it('keeps a landed workspace in which the task works again', async () => {
  const { record } = await leaveChanges();
  const { result: _, ...again } = record;
  writeWorkspaceRecord({ ...again, status: 'ready' });
  expect(await removeLanded(record, access)).toBe('the task has continued to work in it');
  expect(existsSync(record.tree)).toBe(true);
});

it('applies what is recorded of a workspace whose files were deleted', async () => {
  const { source, stored, record } = await leaveChanges();
  rmSync(record.tree, { recursive: true });
  expect(await stored.apply(record.id, 'files')).toMatchObject({ kind: 'landed', paths: ['a'] });
  expect(readFileSync(join(source, 'a'), 'utf8')).toBe('two\n');
});

it('discards a workspace whose files were deleted', async () => {
  const { source, stored, record } = await leaveChanges();
  rmSync(record.tree, { recursive: true });
  expect(await stored.discard(record.id)).toEqual({ id: record.id, files: [] });
  expect(git(source, 'branch', '--list')).toBe('* main');
});

it('says that the source of the changes no longer exists', async () => {
  const { source, stored, record } = await leaveChanges();
  rmSync(source, { recursive: true });
  await expect(stored.apply(record.id, 'files')).rejects.toThrow(
    `their source ${source} no longer exists`,
  );
});
