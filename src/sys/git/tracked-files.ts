import { join } from 'node:path';
import { readGitFile } from './read-git-file.ts';
import type { Repository } from './repository.ts';

const MAX_INDEX_BYTES = 32 * 1024 * 1024;
/** The offsets of fields in an entry. */
const MTIME_OFFSET = 8;
const MODE_OFFSET = 24;
const SIZE_OFFSET = 36;
const ID_OFFSET = 40;
const FLAGS_OFFSET = 60;
const ID_BYTES = 20;
const FIXED_BYTES = 62;
const EXTENDED_FLAG = 0x4000;
const SUBMODULE = 0o160000;

/** The files in the index of a repository. */
export interface TrackedFiles {
  /** Paths relative to the top of the working tree. */
  readonly names: readonly string[];
  readonly hasSubmodules: boolean;
}

/**
 * Reads the tracked files from the index (gitformat-index, versions 2 to 4, SHA-1). Returns null if the index
 * is too large or has another format.
 */
export function readTrackedFiles(repository: Repository): TrackedFiles | null {
  const names: string[] = [];
  let hasSubmodules = false;
  const isRead = visitEntries(repository, (name, entry) => {
    hasSubmodules ||= entry.readUInt32BE(MODE_OFFSET) === SUBMODULE;
    names.push(name);
  });
  return isRead ? { names, hasSubmodules } : null;
}

/** A tracked file as it was when git last compared it with its object. */
export interface TrackedVersion {
  /** The id of the object with the content. */
  readonly id: string;
  /** The size of the file in the working tree, modulo 2^32. */
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * Reads the versions of the tracked files from the index, by the path from the top of the working tree. A file that has
 * still this size and time of modification, and was modified before the index was written, has the content of the object.
 * Returns an empty map if the index cannot be read.
 */
export function readTrackedVersions(repository: Repository): ReadonlyMap<string, TrackedVersion> {
  const versions = new Map<string, TrackedVersion>();
  const isRead = visitEntries(repository, (name, entry) => {
    versions.set(name, {
      id: entry.toString('hex', ID_OFFSET, ID_OFFSET + ID_BYTES),
      size: entry.readUInt32BE(SIZE_OFFSET),
      mtimeMs: entry.readUInt32BE(MTIME_OFFSET) * 1000 + entry.readUInt32BE(MTIME_OFFSET + 4) / 1e6,
    });
  });
  return isRead ? versions : new Map();
}

/** Called for each entry, with the path of its file and the bytes from the start of the entry. */
type EntryVisitor = (name: string, entry: Buffer) => void;

/** Visits the entries of the index. Returns false if the index cannot be read. */
function visitEntries({ gitDirectory }: Repository, visit: EntryVisitor): boolean {
  const content = readGitFile(join(gitDirectory, 'index'), MAX_INDEX_BYTES);
  if (content === 'missing') return true;
  try {
    return content !== null && parseIndex(content, visit);
  } catch {
    // The index ends in the middle of an entry.
    return false;
  }
}

function parseIndex(data: Buffer, visit: EntryVisitor): boolean {
  const version = data.readUInt32BE(4);
  if (data.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return false;
  const count = data.readUInt32BE(8);
  let name = '';
  let at = 12;
  for (let entry = 0; entry < count; entry += 1) {
    const start = at;
    const isExtended = (data.readUInt16BE(start + FLAGS_OFFSET) & EXTENDED_FLAG) !== 0;
    at += FIXED_BYTES + (isExtended ? 2 : 0);
    let sharedPrefix = '';
    if (version === 4) {
      const removed = readOffset(data, at);
      at = removed.end;
      sharedPrefix = name.slice(0, name.length - removed.value);
    }
    const end = data.indexOf(0, at);
    if (end < 0) return false;
    // Each byte becomes one character, so that lengths of prefixes count bytes. The full name is decoded below.
    name = sharedPrefix + data.toString('latin1', at, end);
    visit(Buffer.from(name, 'latin1').toString('utf8'), data.subarray(start));
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8;
  }
  return !hasSplitIndex(data, at);
}

/** Reads the variable-length number of version 4, which has the format of pack files. */
function readOffset(data: Buffer, start: number): { readonly value: number; readonly end: number } {
  let at = start;
  let byte = data.readUInt8(at);
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    at += 1;
    byte = data.readUInt8(at);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end: at + 1 };
}

/** Tells whether the index is split, so that most of the entries are in another file. */
function hasSplitIndex(data: Buffer, start: number): boolean {
  let at = start;
  while (at + 8 <= data.length - 20) {
    if (data.toString('latin1', at, at + 4) === 'link') return true;
    at += 8 + data.readUInt32BE(at + 4);
  }
  return false;
}
