import { join } from 'node:path';
import { readGitFile } from './read-git-file.ts';
import type { Repository } from './repository.ts';

const MAX_INDEX_BYTES = 32 * 1024 * 1024;
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
export function readTrackedFiles({ gitDirectory }: Repository): TrackedFiles | null {
  const path = join(gitDirectory, 'index');
  const content = readGitFile(path, MAX_INDEX_BYTES);
  if (content === 'missing') return { names: [], hasSubmodules: false };
  try {
    return content === null ? null : parseIndex(content);
  } catch {
    // The index ends in the middle of an entry.
    return null;
  }
}

function parseIndex(data: Buffer): TrackedFiles | null {
  const version = data.readUInt32BE(4);
  if (data.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return null;
  const count = data.readUInt32BE(8);
  const names: string[] = [];
  let hasSubmodules = false;
  let name = '';
  let at = 12;
  for (let entry = 0; entry < count; entry += 1) {
    const start = at;
    hasSubmodules ||= data.readUInt32BE(start + 24) === SUBMODULE;
    const isExtended = (data.readUInt16BE(start + 60) & EXTENDED_FLAG) !== 0;
    at += FIXED_BYTES + (isExtended ? 2 : 0);
    let sharedPrefix = '';
    if (version === 4) {
      const removed = readOffset(data, at);
      at = removed.end;
      sharedPrefix = name.slice(0, name.length - removed.value);
    }
    const end = data.indexOf(0, at);
    if (end < 0) return null;
    // Each byte becomes one character, so that lengths of prefixes count bytes. The full name is decoded below.
    name = sharedPrefix + data.toString('latin1', at, end);
    names.push(Buffer.from(name, 'latin1').toString('utf8'));
    at = version === 4 ? end + 1 : start + Math.ceil((end + 1 - start) / 8) * 8;
  }
  return hasSplitIndex(data, at) ? null : { names, hasSubmodules };
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
