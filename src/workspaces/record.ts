import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { atScopeEnd } from '../base/at-scope-end.ts';
import { isId } from '../base/ids.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { directoryNames } from '../sys/files/path-lookup.ts';
import { readGitFile } from '../sys/git/read-git-file.ts';

/**
 * The state of a workspace. `creating`: it is being made, or was when the process ended. `ended`: the task is over and
 * its changes are kept. `removed`: it is gone, or being removed.
 */
const STATUSES = ['creating', 'ready', 'ended', 'removed'] as const;
export type WorkspaceStatus = (typeof STATUSES)[number];

/** The part of a record about a worktree of git. */
export interface WorktreeRecord {
  /** The git directory that all worktrees share. Absolute. */
  readonly commonDirectory: string;
  /** The git directory of this worktree: `worktrees/NAME` in the shared one. Absolute. */
  readonly gitDirectory: string;
  /** The name of the branch below `refs/heads/`. The task may write no refs but those below `muster/ID/`. */
  readonly branch: string;
  /** The commit that was checked out; null if the repository had no commit. */
  readonly head: string | null;
  /** The commit whose tree is the state at the start: `head`, or a commit with the uncommitted changes of the user. */
  readonly base: string;
}

/** The entries that git ignored in a worktree when the task began, as paths that end with `/` if they are directories. */
export interface IgnoredAtStart {
  /** The time of the list, as an ISO date. */
  readonly at: string;
  /** Links to ignored files of the user, and copies of them. */
  readonly brought: readonly string[];
  /** Entries that the setup command has made. */
  readonly prepared: readonly string[];
  /** The names of directories of installed packages, which never are work of the task. */
  readonly packageDirectories: readonly string[];
}

/** The facts about a workspace, for use without the log of its task. Stored as `workspace.json` in its directory. */
export interface WorkspaceRecord {
  readonly version: 1;
  /** The id of the task. */
  readonly id: string;
  readonly kind: 'worktree' | 'copy';
  /** The top of the repository's working tree, or the copied directory. Absolute, without links. */
  readonly source: string;
  /** The directory in which the task works in place of `source`. Absolute. */
  readonly tree: string;
  /** The directory below `source` in which the parent works: empty, or such as `packages/a`. */
  readonly subdirectory: string;
  /** The description of the task. Outside text. */
  readonly description: string;
  /** An ISO date. */
  readonly createdAt: string;
  /** Missing in a copy, and in a worktree that is still being created. */
  readonly git?: WorktreeRecord;
  /** Set while a worktree is being created: what to delete if the process ends meanwhile. */
  readonly unfinished?: Pick<WorktreeRecord, 'commonDirectory' | 'branch'>;
  /** Directories of installed packages that are links to those of the source, or copies: never part of the changes. */
  readonly links: readonly string[];
  /** Only in a worktree. Missing while it is being created. */
  readonly ignored?: IgnoredAtStart;
  readonly status: WorkspaceStatus;
  /** Set if a person or the parent has deleted the changes. The status is then `removed`. */
  readonly isDiscarded?: true;
  /** Set when the task has ended. `commit` holds everything that it left; null in a copy. */
  readonly result?: {
    readonly commit: string | null;
    /** The number of commits that the task itself has made. Default: 0. */
    readonly commits?: number;
    readonly endedAt: string;
  };
}

/** A workspace whose record cannot be used. */
export interface DamagedWorkspace {
  /** The directory of the workspace. Absolute. */
  readonly directory: string;
  readonly problem: string;
}

const RECORD_NAME = 'workspace.json';
const DRAFT_NAME = `${RECORD_NAME}.new`;
const MAX_RECORD_BYTES = 4 * 1024 * 1024;

/** Returns the directory of the workspace of a task. Throws an error if `id` is not an id. */
export function workspaceDirectory(dataDir: string, id: string): string {
  if (!isId(id)) throw new Error(`not the id of a task: ${id}`);
  return join(dataDir, 'workspaces', id);
}

/**
 * Writes the record atomically: after a power failure the file has the old or the new content. Creates the directory
 * of the workspace.
 */
export function writeWorkspaceRecord(record: WorkspaceRecord): void {
  const directory = dirname(record.tree);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const draft = join(directory, DRAFT_NAME);
  rmSync(draft, { force: true });
  const fd = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  {
    using _close = atScopeEnd(() => closeSync(fd));
    writeFileSync(fd, `${JSON.stringify(record, null, 2)}\n`);
    fsyncSync(fd);
  }
  renameSync(draft, join(directory, RECORD_NAME));
  const directoryFd = openSync(directory, constants.O_RDONLY);
  using _close = atScopeEnd(() => closeSync(directoryFd));
  fsyncSync(directoryFd);
}

/** Reads the record of a workspace from its directory (absolute). A record that is missing or damaged is a problem. */
export function readWorkspaceRecord(directory: string): WorkspaceRecord | DamagedWorkspace {
  const path = join(directory, RECORD_NAME);
  const content = readGitFile(path, MAX_RECORD_BYTES);
  const damaged = (problem: string): DamagedWorkspace => ({ directory, problem });
  if (content === 'missing') return damaged(`${path} does not exist`);
  if (content === null) return damaged(`${path} cannot be read`);
  let value: unknown;
  try {
    value = JSON.parse(content.toString('utf8'));
  } catch {
    return damaged(`${path} is not JSON`);
  }
  if (!isJsonObject(value)) return damaged(`${path} holds no object`);
  const field = findWrongField(value, directory);
  if (field !== null) return damaged(`${path}: the field ${field} is missing or wrong`);
  return value as JsonObject & WorkspaceRecord;
}

/** Tells whether a read record is damaged. */
export function isDamagedWorkspace(
  read: WorkspaceRecord | DamagedWorkspace,
): read is DamagedWorkspace {
  return 'problem' in read;
}

/**
 * Lists the workspaces in a data directory, with those that are damaged, in the order of their ids. A directory in which
 * the creation has written nothing yet is left out.
 */
export function listWorkspaces(dataDir: string): readonly (WorkspaceRecord | DamagedWorkspace)[] {
  const all = join(dataDir, 'workspaces');
  const directories = directoryNames(all)
    .filter(isId)
    .toSorted()
    .map((id) => join(all, id));
  const isEmpty = (directory: string): boolean =>
    directoryNames(directory).every((name) => name === DRAFT_NAME);
  return directories.filter((each) => !isEmpty(each)).map(readWorkspaceRecord);
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Returns the name of a field that does not have its form; null if there is none. */
function findWrongField(value: JsonObject, directory: string): string | null {
  const id = value['id'];
  const isRight: Readonly<Record<string, boolean>> = {
    version: value['version'] === 1,
    id: typeof id === 'string' && isId(id) && directory.endsWith(`/${id}`),
    kind: value['kind'] === 'worktree' || value['kind'] === 'copy',
    source: isAbsolutePath(value['source']),
    tree: value['tree'] === join(directory, 'tree'),
    subdirectory: typeof value['subdirectory'] === 'string',
    description: typeof value['description'] === 'string',
    createdAt: typeof value['createdAt'] === 'string',
    links: isTextList(value['links']),
    ignored: value['ignored'] === undefined || isIgnoredAtStart(value['ignored']),
    status: STATUSES.some((status) => status === value['status']),
    isDiscarded: value['isDiscarded'] === undefined || value['isDiscarded'] === true,
    git: value['git'] === undefined || isWorktreeRecord(value['git'], String(id)),
    unfinished: value['unfinished'] === undefined || isPlace(value['unfinished'], String(id)),
    result: value['result'] === undefined || isResult(value['result']),
  };
  return Object.keys(isRight).find((name) => isRight[name] !== true) ?? null;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isIgnoredAtStart(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['at'] !== 'string') return false;
  return [value['brought'], value['prepared'], value['packageDirectories']].every(isTextList);
}

function isWorktreeRecord(value: unknown, id: string): boolean {
  if (!isJsonObject(value) || !isPlace(value, id)) return false;
  const { commonDirectory, gitDirectory, head, base } = value;
  return (
    isAbsolutePath(gitDirectory) &&
    dirname(String(gitDirectory)) === join(String(commonDirectory), 'worktrees') &&
    (head === null || isObjectId(head)) &&
    isObjectId(base)
  );
}

function isPlace(value: unknown, id: string): boolean {
  if (!isJsonObject(value)) return false;
  const { commonDirectory, branch } = value;
  const isBranch = typeof branch === 'string' && /^muster\/[a-z0-9]+\/[a-z0-9-]+$/.test(branch);
  return isAbsolutePath(commonDirectory) && isBranch && branch.startsWith(`muster/${id}/`);
}

function isResult(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { commit, endedAt } = value;
  return (commit === null || isObjectId(commit)) && typeof endedAt === 'string';
}

function isAbsolutePath(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('/');
}

/** Tells whether a value is the id of a git object. */
function isObjectId(value: unknown): value is string {
  return typeof value === 'string' && OBJECT_ID.test(value);
}
