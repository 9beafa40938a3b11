import type { StateOptions } from './state-directory.ts';
import { findProjectFiles, type ProjectFile, type UnusableFile } from './project-files.ts';
import { entryKey, type TrustEntry } from './trust-store.ts';
import { decodeUtf8 } from '../agents/loader/read-text.ts';
import {
  type ProjectFileName,
  type ProjectFileReading,
  readProjectFile,
  TRUST_ALL,
} from '../sys/files/project-file.ts';
import { isInside } from '../base/path-inside.ts';
import { hashContent } from '../sys/files/read-file.ts';

/** The maximum number of bytes that one listing reads. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface ListedFile extends ProjectFileName {
  /** With `unusable`, the file can never have an effect, and `reason` says why. */
  readonly state: 'trusted' | 'new' | 'changed' | 'missing' | 'unusable';
  /** Bytes. */
  readonly size: number | null;
  /** Hexadecimal hash of the present content. */
  readonly sha256: string | null;
  /** When it was last trusted, ISO 8601. */
  readonly trustedOn: string | null;
  readonly reason: string | null;
}

/** A file of the project with its content, read once. */
export interface ReadProjectFile {
  readonly file: ProjectFile;
  readonly reading: ProjectFileReading;
}

/**
 * Reads every file that could have an effect, those with prompts of agents last, and lists the files that are found
 * by name and can have none.
 */
export async function readProjectFiles(place: StateOptions): Promise<{
  readonly found: readonly ReadProjectFile[];
  readonly unusable: readonly ListedFile[];
}> {
  const { files, unusable } = findProjectFiles(place.cwd, place);
  let remaining = MAX_BYTES;
  const read = (file: ProjectFile): ReadProjectFile => {
    if (remaining <= 0) return { file, reading: tooMany() };
    const reading = readProjectFile(file, TRUST_ALL);
    if (reading.kind === 'read') remaining -= reading.bytes.length;
    return { file, reading };
  };
  const named = files.map(read);
  const prompts = await findPromptFiles(named);
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

/** The trusted entries by their `entryKey`. */
export type TrustedFiles = ReadonlyMap<string, TrustEntry>;

export function indexEntries(entries: readonly TrustEntry[]): TrustedFiles {
  return new Map(entries.map((entry) => [entryKey(entry), entry]));
}

export function listFile({ file, reading }: ReadProjectFile, trusted: TrustedFiles): ListedFile {
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
      const state = trustStateOf(known, hash);
      const size = reading.bytes.length;
      return { kind, path, state, size, sha256: hash, trustedOn, reason: null };
    }
  }
}

/**
 * Compares a content with the trusted one. An agent's notes change, and are trusted by their path.
 */
export function trustStateOf(
  known: TrustEntry | undefined,
  hash: string,
): 'trusted' | 'new' | 'changed' {
  if (known === undefined) return 'new';
  return known.kind === 'memory' || known.sha256 === hash ? 'trusted' : 'changed';
}

/** Returns the files of the project from which agents take their prompts and which hold no agent themselves. */
export async function findPromptFiles(
  found: readonly { readonly file: ProjectFile; readonly reading: ProjectFileReading }[],
): Promise<readonly ProjectFile[]> {
  const agents = new Set(
    found.filter(({ file }) => file.kind === 'agent').map(({ file }) => file.path),
  );
  const prompts = new Map<string, ProjectFile>();
  for (const { file, reading } of found) {
    const text = reading.kind === 'read' ? decodeUtf8(reading.bytes) : undefined;
    if (file.referencedFiles === undefined || text?.ok !== true) continue;
    for (const path of await file.referencedFiles(text.text)) {
      if (!isInside(file.boundary, path) || agents.has(path)) continue;
      const { kind, boundary, maxBytes } = file;
      prompts.set(path, { kind, boundary, maxBytes, path, grants: promptGrants });
    }
  }
  return [...prompts.values()];
}

async function promptGrants(bytes: Buffer) {
  const text = decodeUtf8(bytes);
  const line = text.ok
    ? 'the prompt of an agent that another file defines; read it in the file'
    : `nothing: ${text.reason}`;
  return { lines: [line], problems: [] };
}
