import { realpathSync, statSync, type Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { directoryEntries } from '../../sys/files/directory-names.ts';
import { isInside } from '../../sys/files/paths.ts';

/** The maximum number of levels below a search path that are entered by default. */
const MAX_DEPTH = 8;
/** Directories that never hold definitions and can hold very many files. */
const IGNORED = new Set(['.git', 'node_modules']);

export interface WalkOptions {
  readonly accepts: (fileName: string) => boolean;
  /** The real path of the directory that no link may lead out of. */
  readonly boundary: string;
  /** The number of directory entries that may still be looked at. It is counted down, and several walks share it. */
  readonly budget: { entries: number };
  /** Default: 8. */
  readonly maxDepth?: number;
  /**
   * Whether the walk does not go on below a folder that holds an accepted file, since everything else in it
   * belongs to that file. The top directory is no such folder. Default: false.
   */
  readonly ownsFolder?: boolean;
}

export interface FoundFile {
  /** The path by which it was found, with links not resolved. */
  readonly path: string;
  readonly realPath: string;
  /** The real path of its folder, for kinds that need it. */
  readonly directory?: string;
}

export interface SkippedPath {
  readonly path: string;
  readonly code: string;
  /** The reason, and what to do about it. */
  readonly reason: string;
}

interface WalkResult {
  /** Sorted by path. */
  readonly files: readonly FoundFile[];
  readonly skipped: readonly SkippedPath[];
}

interface WalkState extends WalkOptions {
  readonly files: FoundFile[];
  readonly skipped: SkippedPath[];
  /** The real paths of directories that were entered: a link back up ends there. */
  readonly entered: Set<string>;
}

/** Returns the files below a directory whose names are accepted, or the file itself. A missing path has none. */
export function walkFiles(path: string, options: WalkOptions): WalkResult {
  const state: WalkState = { ...options, files: [], skipped: [], entered: new Set() };
  if (isDirectory(path)) enter(path, 0, state);
  else follow(path, basename(path), 0, state);
  return {
    files: state.files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    skipped: state.skipped,
  };
}

/** A path that cannot be looked at counts as a directory: entering it then gives the reason. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return true;
  }
}

function enter(directory: string, depth: number, state: WalkState): void {
  const { maxDepth = MAX_DEPTH } = state;
  if (depth > maxDepth) {
    skip(state, directory, 'too-deep', `It is more than ${maxDepth} levels deep.`);
    return;
  }
  try {
    const real = realpathSync.native(directory);
    if (!isInside(state.boundary, real)) return skipOutside(state, directory);
    if (state.entered.has(real)) return;
    state.entered.add(real);
    const entries = readEntries(directory, state);
    const own = depth > 0 && state.ownsFolder === true ? entries.filter(isAcceptedFile(state)) : [];
    for (const entry of own.length > 0 ? own : entries) visit(directory, entry, depth, state);
  } catch (error) {
    const code = systemErrorCode(error);
    if (depth === 0 && (code === 'ENOENT' || code === 'ENOTDIR')) return;
    skip(state, directory, 'unreadable', `Cannot be read: ${errorMessage(error)}`);
  }
}

function isAcceptedFile({ accepts }: WalkState): (entry: Dirent) => boolean {
  return (entry) => !entry.isDirectory() && accepts(entry.name);
}

/** Sorts the entries, so that the budget cuts off the same ones in every run where it can. */
function readEntries(directory: string, state: WalkState): readonly Dirent[] {
  const entries: Dirent[] = [];
  for (const entry of directoryEntries(directory)) {
    if (state.budget.entries <= 0) {
      skip(state, directory, 'too-many-files', 'Too many files below the searched directories.');
      break;
    }
    state.budget.entries -= 1;
    if (!IGNORED.has(entry.name)) entries.push(entry);
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function visit(directory: string, entry: Dirent, depth: number, state: WalkState): void {
  const path = join(directory, entry.name);
  if (entry.isDirectory()) enter(path, depth + 1, state);
  else if (entry.isSymbolicLink()) follow(path, entry.name, depth, state);
  else if (!state.accepts(entry.name)) return;
  else if (entry.isFile()) state.files.push({ path, realPath: path });
  else skip(state, path, 'not-a-file', 'Not a regular file.');
}

function follow(path: string, name: string, depth: number, state: WalkState): void {
  try {
    const realPath = realpathSync.native(path);
    const isDirectory = statSync(realPath).isDirectory();
    if (!isDirectory && !state.accepts(name)) return;
    if (!isInside(state.boundary, realPath)) skipOutside(state, path);
    else if (isDirectory) enter(path, depth + 1, state);
    else if (statSync(realPath).isFile()) state.files.push({ path, realPath });
    else skip(state, path, 'not-a-file', 'Not a regular file.');
  } catch (error) {
    if (!state.accepts(name)) return;
    skip(state, path, 'broken-link', `The link is broken: ${errorMessage(error)}`);
  }
}

function skipOutside(state: WalkState, path: string): void {
  const reason = `A link out of ${state.boundary}. Copy the file there instead.`;
  skip(state, path, 'link-outside', reason);
}

function skip(state: WalkState, path: string, code: string, reason: string): void {
  state.skipped.push({ path, code, reason });
}
