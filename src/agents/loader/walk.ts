import { realpathSync, statSync, type Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { directoryEntries } from '../../sys/files/directory-names.ts';
import { isInside } from '../../base/path-inside.ts';

/** The default for the maximum number of levels of subdirectories that are searched. */
const MAX_DEPTH = 8;
/** The names of directories that are not searched. They never contain definitions, but often very many files. */
const IGNORED = new Set(['.git', 'node_modules']);

export interface WalkOptions {
  readonly accepts: (fileName: string) => boolean;
  /** The real path of the directory that files must be in. */
  readonly boundary: string;
  /** The number of directory entries that may still be examined. Several walks share this number and count it down. */
  readonly budget: { entries: number };
  /** The maximum number of levels of subdirectories. Default: 8. */
  readonly maxDepth?: number;
  /**
   * Whether everything else in the directory of an accepted file belongs to this file, so that its subdirectories are
   * not searched. This does not apply to the top directory. Default: false.
   */
  readonly ownsFolder?: boolean;
}

/** A file that a walk has found. */
export interface FoundFile {
  /** The path by which the file was found. Links in it are not resolved. */
  readonly path: string;
  readonly realPath: string;
  /** The real path of the file's directory, for kinds of definitions that need it. */
  readonly directory?: string;
  /** The name that the location of the file gives its definition, for kinds of definitions that need it. */
  readonly locatedName?: string;
}

/** A path that is not used, with the reason. */
export interface SkippedPath {
  readonly path: string;
  readonly code: string;
  /** The reason, and what to do about it. */
  readonly reason: string;
}

interface WalkResult {
  /** The accepted files, sorted by path. */
  readonly files: readonly FoundFile[];
  readonly skipped: readonly SkippedPath[];
}

interface WalkState extends WalkOptions {
  readonly files: FoundFile[];
  readonly skipped: SkippedPath[];
  /**
   * The real paths of the directories that were entered, so that a link to a parent directory does not cause a loop.
   */
  readonly entered: Set<string>;
}

/**
 * Finds the files below a directory whose names are accepted, or the file itself if the path is a file. A missing path
 * has no files.
 */
export function walkFiles(path: string, options: WalkOptions): WalkResult {
  const state: WalkState = { ...options, files: [], skipped: [], entered: new Set() };
  if (isDirectory(path)) enterDirectory(path, 0, state);
  else followLink(path, basename(path), 0, state);
  return {
    files: state.files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    skipped: state.skipped,
  };
}

/**
 * Returns whether a path is a directory. A path that cannot be examined counts as a directory, because entering it then
 * reports the reason.
 */
function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? true;
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return true;
  }
}

function enterDirectory(directory: string, depth: number, state: WalkState): void {
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
    const acceptedFiles =
      depth > 0 && state.ownsFolder === true ? entries.filter(isAcceptedFile(state)) : [];
    for (const entry of acceptedFiles.length > 0 ? acceptedFiles : entries)
      visitEntry(directory, entry, depth, state);
  } catch (error) {
    const code = systemErrorCode(error);
    if (depth === 0 && (code === 'ENOENT' || code === 'ENOTDIR')) return;
    skip(state, directory, 'unreadable', `Cannot be read: ${errorMessage(error)}`);
  }
}

function isAcceptedFile({ accepts }: WalkState): (entry: Dirent) => boolean {
  return (entry) => !entry.isDirectory() && accepts(entry.name);
}

/** Reads the entries of a directory, sorted by name. Entries beyond the budget are left out. */
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

function visitEntry(directory: string, entry: Dirent, depth: number, state: WalkState): void {
  const path = join(directory, entry.name);
  if (entry.isDirectory()) enterDirectory(path, depth + 1, state);
  else if (entry.isSymbolicLink()) followLink(path, entry.name, depth, state);
  else if (!state.accepts(entry.name)) return;
  else if (entry.isFile()) state.files.push({ path, realPath: path });
  else skip(state, path, 'not-a-file', 'Not a regular file.');
}

function followLink(path: string, name: string, depth: number, state: WalkState): void {
  try {
    const realPath = realpathSync.native(path);
    const isDirectory = statSync(realPath).isDirectory();
    if (!isDirectory && !state.accepts(name)) return;
    if (!isInside(state.boundary, realPath)) skipOutside(state, path);
    else if (isDirectory) enterDirectory(path, depth + 1, state);
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
