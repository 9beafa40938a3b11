import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { findRepository } from '../../sys/git/repository.ts';
import { updateIndexEntries } from '../capture.ts';
import type { PathDifference, PathState } from '../difference.ts';
import { toBytes, toPath, WorkspaceGit, type GitPlace } from '../git.ts';
import type { WorkspaceRecord } from '../record.ts';
import { deleteDirectory } from '../worktree-files.ts';
import type { WorkspaceAccess } from '../worktree-state.ts';
import { commitTree } from '../worktree.ts';
import type { GitChange, GitPort, LandedIndexEntry, LandingSide } from './git-change.ts';
import { openHeadTree, type HeadTree } from './head-tree.ts';

/** A commit that is about to land. */
export interface CommitRequest {
  readonly record: WorkspaceRecord;
  /**
   * Merges the changes of the task with the last commit of the user. Returns the changes to that commit. Called once with
   * its files.
   */
  readonly merge: (head: HeadTree) => readonly PathDifference[];
  /** The paths that `merge` may read. */
  readonly paths: readonly string[];
  /**
   * The last commit of the task, if its commits become part of the history: a second parent. Left out if git has deleted
   * it. Default: none.
   */
  readonly mergedCommit?: string;
  readonly message: string;
}

/**
 * Makes a commit on top of the last commit of the user, without moving the branch. Returns what has to change in the
 * repository: the ref, and the index entries that are still as in that commit. Returns null if the merge changes nothing.
 * Throws MusterError; CONFLICT if the user has staged other changes in a file that it changes, or if an operation of git,
 * such as a merge, is not finished.
 */
export async function prepareCommit(
  { record, merge, paths, mergedCommit, message }: CommitRequest,
  access: WorkspaceAccess,
): Promise<GitChange | null> {
  const { git, place } = await openSource(record.source, record.id, access);
  const names = ['HEAD', ...(mergedCommit === undefined ? [] : [mergedCommit])];
  const [head = null, merged = null] = await git.resolve(
    place,
    names.map((each) => `${each}^{commit}`),
  );
  const name = await readHeadName(git, place);
  requireOwnRef(record, name);
  requireNoOperation(place);
  const headTree = await openHeadTree(git, place, head, paths);
  const changes = merge(headTree);
  if (changes.length === 0) return null;
  const touched = listTouched(changes);
  const entries = await storeMerged({ git, place, record }, head, changes);
  const [before, after] = [headTree.entries, entries.after];
  const index = await readIndex(git, place);
  const staged = touched.filter((path) => {
    const entry = index.get(path);
    return !isSameEntry(entry, before.get(path)) && !isSameEntry(entry, after.get(path));
  });
  if (staged.length > 0) {
    const message = `nothing was changed, because you have staged changes in ${staged.join(', ')}, and your next commit would revert those of the task there; commit or unstage yours first, or use --no-commit`;
    throw new MusterError('CONFLICT', message);
  }
  const commit = await commitTree(git, place, {
    tree: entries.tree,
    parents: [head, merged].flatMap((parent) => parent ?? []),
    message,
  });
  return {
    index: touched
      .filter((path) => isSameEntry(index.get(path), before.get(path)))
      .map((path) => ({
        path,
        before: before.get(path) ?? null,
        after: after.get(path) ?? null,
      })),
    ref: { name, before: head, after: commit },
  };
}

/** Prepares git for the tree into which a task lands. */
async function openSource(
  source: string,
  id: string,
  { environment, signal }: WorkspaceAccess,
): Promise<{ readonly git: WorkspaceGit; readonly place: GitPlace }> {
  const repository = findRepository(source);
  if (repository?.top !== source) {
    throw new MusterError(
      'NOT_FOUND',
      `${source} is no repository any more, so nothing can be committed; land the files alone (--no-commit)`,
    );
  }
  const place: GitPlace = { gitDirectory: repository.gitDirectory, workTree: source };
  return { git: await WorkspaceGit.open(place, { id, environment, signal }), place };
}

/** Throws if the source is the workspace of another task, and its HEAD names a branch that is not of that task. */
function requireOwnRef({ source, tree }: WorkspaceRecord, name: string): void {
  const workspaces = dirname(dirname(tree));
  const id = source.startsWith(`${workspaces}/`) ? source.split('/').at(-2) : undefined;
  if (id === undefined || name === 'HEAD' || name.startsWith(`refs/heads/muster/${id}/`)) return;
  throw new MusterError(
    'PERMISSION_DENIED',
    `HEAD of ${source} is ${name}, which does not belong to task ${id}; nothing was committed there`,
  );
}

/** The entries of a git directory that exist while an operation is not finished, with the names of the operations. */
const OPERATIONS = [
  ['MERGE_HEAD', 'a merge'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
] as const;

/** Throws CONFLICT if the user is in the middle of an operation that continues from the last commit. */
function requireNoOperation({ gitDirectory, workTree }: GitPlace): void {
  const found = OPERATIONS.find(([name]) => existsSync(join(gitDirectory, name)));
  if (found === undefined) return;
  throw new MusterError(
    'CONFLICT',
    `nothing was changed, because ${found[1]} in ${workTree} is not finished, and a commit would disturb it; finish it first, or use --no-commit`,
  );
}

function listTouched(changes: readonly PathDifference[]): readonly string[] {
  const paths = changes.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path]));
  return [...new Set(paths)].toSorted();
}

interface StoredMerge {
  readonly tree: string;
  /** The entries of the touched paths; those that were deleted are missing. */
  readonly after: ReadonlyMap<string, LandedIndexEntry>;
}

/** Stores the merged contents as objects: git converts them as it would the files of the user. */
async function storeMerged(
  {
    git,
    place,
    record,
  }: { readonly git: WorkspaceGit; readonly place: GitPlace; readonly record: WorkspaceRecord },
  head: string | null,
  changes: readonly PathDifference[],
): Promise<StoredMerge> {
  const directory = join(dirname(record.tree), `commit-${newId()}`);
  const workTree = join(directory, 'tree');
  const merged: GitPlace = { ...place, workTree, index: join(directory, 'index') };
  try {
    await mkdir(workTree, { recursive: true, mode: 0o700 });
    await git.run(merged, ['read-tree', head ?? '--empty']);
    for (const { path, after } of changes) await writeState(join(workTree, path), after);
    await updateIndexEntries(git, merged, listTouched(changes).map(toBytes));
    const tree = await git.line(merged, ['write-tree']);
    return { tree, after: await readIndex(git, merged) };
  } finally {
    await deleteDirectory(directory);
  }
}

async function writeState(path: string, state: PathState): Promise<void> {
  if (state === null) return;
  await mkdir(dirname(path), { recursive: true });
  if (state.kind === 'link') await symlink(state.target, path);
  else await writeFile(path, state.bytes, { mode: state.executable ? 0o755 : 0o644, flag: 'wx' });
}

/** Reads the entries of an index by path. An entry with a conflict has the mode `conflict`. */
async function readIndex(
  git: WorkspaceGit,
  place: GitPlace,
): Promise<ReadonlyMap<string, LandedIndexEntry>> {
  const entries = new Map<string, LandedIndexEntry>();
  for (const entry of await git.list(place, ['ls-files', '-z', '--stage'])) {
    const end = entry.indexOf('\t');
    const [mode = '', object = '', stage = ''] = entry.slice(0, end).split(' ');
    const path = toPath(entry.slice(end + 1));
    if (path !== null) entries.set(path, { mode: stage === '0' ? mode : 'conflict', object });
  }
  return entries;
}

/** Creates the port by which a landing changes the index and the ref of the user. `id` is the id of the task. */
export function createGitPort(id: string, access: WorkspaceAccess): GitPort {
  return {
    async bringTo(side, source, change, foreignChanges) {
      const { git, place } = await openSource(source, id, access);
      const head = await readRef(git, place, change);
      const current = await readIndex(git, place);
      const { known, foreign } = divideEntries(current, change);
      const left = foreign.map(describeEntry);
      if (change.ref !== null && !isKnownRef(change.ref, head)) left.unshift(change.ref.name);
      if (foreignChanges === 'refuse' && left.length > 0) {
        const message = `${source}: somebody else has changed this just now: ${left.join(', ')}`;
        throw new MusterError('CONFLICT', message, { retryable: true });
      }
      const moving = known.filter((entry) => !isSameEntry(current.get(entry.path), entry[side]));
      if (moving.length > 0) {
        const input = moving.map((entry) => formatEntry(entry, side)).join('');
        await git.run(place, ['update-index', '-z', '--index-info'], { input });
      }
      await moveRef(git, place, { side, change, head });
      return left;
    },
    async findUndoable(source, change) {
      const { git, place } = await openSource(source, id, access);
      const { ref } = change;
      const isLast =
        (await readRef(git, place, change)) === ref?.after &&
        (await readHeadName(git, place)) === ref.name;
      if (ref !== null && !isLast) return { change: null, left: [ref.name] };
      const { known, foreign } = divideEntries(await readIndex(git, place), change);
      return { change: { ref, index: known }, left: foreign.map(describeEntry) };
    },
  };
}

/** Returns the name of the ref that a commit moves. */
async function readHeadName(git: WorkspaceGit, place: GitPlace): Promise<string> {
  const name = await git.line(place, ['symbolic-ref', '-q', 'HEAD'], { codes: [0, 1] });
  return name === '' ? 'HEAD' : name;
}

async function readRef(
  git: WorkspaceGit,
  place: GitPlace,
  { ref }: GitChange,
): Promise<string | null> {
  if (ref === null) return null;
  const [id = null] = await git.resolve(place, [`${ref.name}^{commit}`]);
  return id;
}

function isKnownRef(ref: NonNullable<GitChange['ref']>, id: string | null): boolean {
  return id === ref.before || id === ref.after;
}

type EntryChange = GitChange['index'][number];

/** Separates the entries that have one of their two states from those that somebody else has changed. */
function divideEntries(
  current: ReadonlyMap<string, LandedIndexEntry>,
  { index }: GitChange,
): { readonly known: readonly EntryChange[]; readonly foreign: readonly EntryChange[] } {
  const isKnown = ({ path, before, after }: EntryChange): boolean => {
    const found = current.get(path);
    return isSameEntry(found, before) || isSameEntry(found, after);
  };
  return { known: index.filter(isKnown), foreign: index.filter((entry) => !isKnown(entry)) };
}

function isSameEntry(
  a: LandedIndexEntry | null | undefined,
  b: LandedIndexEntry | null | undefined,
): boolean {
  return a?.mode === b?.mode && a?.object === b?.object;
}

function describeEntry({ path }: EntryChange): string {
  return `the index at ${path}`;
}

/** Formats an entry as input of `git update-index --index-info` (latin1). */
function formatEntry(entry: EntryChange, side: LandingSide): string {
  const target = entry[side];
  const noObject = '0'.repeat((entry.before ?? entry.after)?.object.length ?? 0);
  const state = target === null ? `0 ${noObject}` : `${target.mode} ${target.object}`;
  return `${state}\t${toBytes(entry.path)}\0`;
}

async function moveRef(
  git: WorkspaceGit,
  place: GitPlace,
  {
    side,
    change: { ref },
    head,
  }: { readonly side: LandingSide; readonly change: GitChange; readonly head: string | null },
): Promise<void> {
  if (ref === null || head === ref[side] || !isKnownRef(ref, head)) return;
  const options = ['-m', 'muster: land changes of a task', '--no-deref'];
  const target = ref[side];
  await git.run(
    place,
    target === null
      ? ['update-ref', '--no-deref', '-d', ref.name, head ?? '']
      : ['update-ref', ...options, ref.name, target, head ?? ''],
  );
}
