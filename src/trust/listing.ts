import {
  type ProjectFileName,
  type ProjectFileReading,
  readProjectFile,
  TRUST_ALL,
} from '../sys/files/project-file.ts';
import { hashContent } from '../sys/files/read-file.ts';
import type { StateWish } from './state-place.ts';
import { findProjectFiles, type ProjectFile, type UnusableFile } from './project-files.ts';
import { promptFiles } from './prompt-files.ts';
import { entryKey, type TrustEntry } from './trust-store.ts';

/** Bytes that one listing reads. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface ListedFile extends ProjectFileName {
  /** `unusable`: it can never act; `reason` says why. */
  readonly state: 'trusted' | 'new' | 'changed' | 'missing' | 'unusable';
  /** Bytes. */
  readonly size: number | null;
  /** Hexadecimal, of what it holds now. */
  readonly sha256: string | null;
  /** When it was last trusted, ISO 8601. */
  readonly trustedOn: string | null;
  readonly reason: string | null;
}

/** A file as it was read, once. */
export interface FileRead {
  readonly file: ProjectFile;
  readonly reading: ProjectFileReading;
}

/**
 * Every file that could act, read once, those that agents take their prompts from last, and what is
 * found by name and cannot act.
 */
export async function readProjectFiles(place: StateWish): Promise<{
  readonly found: readonly FileRead[];
  readonly unusable: readonly ListedFile[];
}> {
  const { files, unusable } = findProjectFiles(place.cwd, place);
  let left = MAX_BYTES;
  const read = (file: ProjectFile): FileRead => {
    if (left <= 0) return { file, reading: tooMany() };
    const reading = readProjectFile(file, TRUST_ALL);
    if (reading.kind === 'read') left -= reading.bytes.length;
    return { file, reading };
  };
  const named = files.map(read);
  const prompts = await promptFiles(named);
  const found = [...named, ...prompts.map(read)];
  return {
    found: found.filter(({ reading }) => reading.kind !== 'absent'),
    unusable: unusable.map(unusableFile),
  };
}

function tooMany(): ProjectFileReading {
  const reason = `Not read: the files before it hold ${MAX_BYTES / 1024 / 1024} MB.`;
  return { kind: 'refused', code: 'too-many-bytes', reason };
}

const UNKNOWN = { size: null, sha256: null, trustedOn: null, reason: null } as const;

function unusableFile({ kind, path, reason }: UnusableFile): ListedFile {
  return { ...UNKNOWN, kind, path, reason, state: 'unusable' };
}

/** What was trusted, by what `entryKey` makes of it. */
export type Trusted = ReadonlyMap<string, TrustEntry>;

export function byKey(entries: readonly TrustEntry[]): Trusted {
  return new Map(entries.map((entry) => [entryKey(entry), entry]));
}

export function listed({ file, reading }: FileRead, trusted: Trusted): ListedFile {
  const { kind, path } = file;
  const known = trusted.get(entryKey(file));
  const trustedOn = known?.trustedOn ?? null;
  switch (reading.kind) {
    case 'absent':
      return { ...UNKNOWN, kind, path, trustedOn, state: 'missing' };
    case 'untrusted':
    case 'refused': {
      const reason = reading.kind === 'refused' ? reading.reason : null;
      return { ...UNKNOWN, kind, path, state: 'unusable', reason };
    }
    case 'read': {
      const hash = hashContent(reading.bytes);
      const state = stateOf(known, hash);
      const size = reading.bytes.length;
      return { kind, path, state, size, sha256: hash, trustedOn, reason: null };
    }
  }
}

/** How a content stands to what was trusted of its file; notes change, and are trusted by their path. */
export function stateOf(
  known: TrustEntry | undefined,
  hash: string,
): 'trusted' | 'new' | 'changed' {
  if (known === undefined) return 'new';
  return known.kind === 'memory' || known.sha256 === hash ? 'trusted' : 'changed';
}
