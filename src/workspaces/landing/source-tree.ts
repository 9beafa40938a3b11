import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { holdDirectory, type HeldDirectory } from '../../sys/files/held-directory.ts';
import { readWithLimit } from '../../sys/files/read-at-most.ts';
import type { PathState } from '../difference.ts';
import type { EntryKind, UserTree } from '../merge/user-tree.ts';

/** The maximum length in bytes of all files of the user that one landing reads. */
const MAX_LANDING_BYTES = 256 * 1024 * 1024;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const NOTHING: SourceEntry = { kind: 'nothing', state: null, mode: null };

/** The present state of a path of the source. */
export interface SourceEntry {
  readonly kind: EntryKind;
  /** The content of a file or link; null for everything else. */
  readonly state: PathState;
  /** The permission bits of a file or directory; null for everything else. */
  readonly mode: number | null;
}

/**
 * Reads an entry of the source without following a link. A path below a file or a link is nothing. Throws MusterError;
 * LIMIT_EXCEEDED if a file is longer than `maxBytes`.
 *
 * @param source the absolute, real path of the tree
 */
export function readSourceEntry(
  source: string,
  path: string,
  maxBytes = MAX_LANDING_BYTES,
): SourceEntry {
  return withEntry(source, path, (parent, name, { kind, mode }) => {
    if (kind === 'link') {
      return { kind, state: { kind, target: fs.readlinkSync(parent.at(name)) }, mode };
    }
    if (kind !== 'file' || mode === null) return { kind, state: null, mode };
    const bytes = readHeldFile(parent, name, maxBytes);
    if (bytes === undefined) throw tooLarge(join(source, path));
    return { kind, state: { kind, executable: isExecutable(mode), bytes }, mode };
  });
}

type EntryFacts = Omit<SourceEntry, 'state'>;

/** Returns what an entry of the source is, like `readSourceEntry`, without its content. */
export function inspectSourceEntry(source: string, path: string): EntryFacts {
  return withEntry(source, path, (_parent, _name, facts) => ({ ...facts, state: null }));
}

function withEntry(
  source: string,
  path: string,
  read: (parent: HeldDirectory, name: string, facts: EntryFacts) => SourceEntry,
): SourceEntry {
  try {
    using parent = holdParent(source, path);
    const name = basename(path);
    const stats = fs.lstatSync(parent.at(name), { throwIfNoEntry: false });
    return stats === undefined ? NOTHING : read(parent, name, toFacts(stats));
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return NOTHING;
    throw toFileError(join(source, path), thrown);
  }
}

function toFacts(stats: fs.Stats): EntryFacts {
  const mode = stats.mode & 0o777;
  if (stats.isDirectory()) return { kind: 'directory', mode };
  if (stats.isFile()) return { kind: 'file', mode };
  return { kind: stats.isSymbolicLink() ? 'link' : 'special', mode: null };
}

/** Holds the directory of a path of the source. Throws the system's error. */
export function holdParent(source: string, path: string): HeldDirectory {
  return holdDirectory(source, join(source, dirname(path)));
}

/** Returns permission bits with or without the right to execute. Whoever may read the file may then execute it. */
export function adaptMode(mode: number, executable: boolean): number {
  if (isExecutable(mode) === executable) return mode;
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

/** Tells whether a file with these permission bits is executable, as git judges it. */
function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

function readHeldFile(parent: HeldDirectory, name: string, maxBytes: number): Buffer | undefined {
  const fd = fs.openSync(parent.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  using _close = atScopeEnd(() => fs.closeSync(fd));
  parent.verify({ name, stats: fs.fstatSync(fd, { bigint: true }) });
  return readWithLimit(fd, maxBytes);
}

function tooLarge(path: string): MusterError {
  const limit = `${MAX_LANDING_BYTES / 1024 / 1024} MiB`;
  const message = `${path}: the files that would be changed have more than ${limit} together, the limit of one landing`;
  return new MusterError('LIMIT_EXCEEDED', message);
}

/** Opens the tree of the user for a merge. Each file is read once. */
export function openSourceTree(source: string): UserTree {
  const entries = new Map<string, SourceEntry>();
  let bytesLeft = MAX_LANDING_BYTES;
  const read = (path: string): SourceEntry => {
    const known = entries.get(path);
    if (known !== undefined) return known;
    const entry = readSourceEntry(source, path, bytesLeft);
    if (entry.state?.kind === 'file') bytesLeft -= entry.state.bytes.length;
    entries.set(path, entry);
    return entry;
  };
  return {
    ignoresCase: ignoresCase(source),
    kindOf: (path) => inspectSourceEntry(source, path).kind,
    read: (path) => read(path).state,
    list: (directory) => listNamesIn(source, directory),
  };
}

function listNamesIn(source: string, directory: string): readonly string[] {
  try {
    using held = holdDirectory(source, join(source, directory));
    return fs.readdirSync(held.at('.'));
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return [];
    throw toFileError(join(source, directory), thrown);
  }
}

/** Tells whether the file system finds a directory by its name in other letter case. */
function ignoresCase(source: string): boolean {
  const names = listNamesIn(source, '').map((name) => join(source, name));
  const path = [...names, source].find((each) => swapCase(basename(each)) !== basename(each));
  if (path === undefined) return false;
  const other = join(dirname(path), swapCase(basename(path)));
  if (names.includes(other)) return false;
  const [a, b] = [path, other].map((each) => fs.lstatSync(each, { throwIfNoEntry: false }));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

function swapCase(name: string): string {
  const upper = name.toUpperCase();
  return upper === name ? name.toLowerCase() : upper;
}
