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

/** The maximum total size of the files that one listing reads. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** A file of a project in the listing of trusted and untrusted files. */
export interface ListedFile extends ProjectFileName {
  /** Whether the file is trusted. An `unusable` file can never have an effect, for the reason in `reason`. */
  readonly state: 'trusted' | 'new' | 'changed' | 'missing' | 'unusable';
  /** The size of the file in bytes. */
  readonly size: number | null;
  /** The SHA-256 hash of the present content, in hexadecimal. */
  readonly sha256: string | null;
  /** The time at which the file was last trusted, in ISO 8601. */
  readonly trustedOn: string | null;
  readonly reason: string | null;
}

/** A file of the project with its content, read once. */
export interface ReadProjectFile {
  readonly file: ProjectFile;
  readonly reading: ProjectFileReading;
}

/**
 * Reads every file that could have an effect (files with prompts of agents last), and lists the unusable files, which
 * have a matching name but can never have an effect.
 */
export async function readProjectFiles(options: StateOptions): Promise<{
  readonly found: readonly ReadProjectFile[];
  readonly unusable: readonly ListedFile[];
}> {
  const { files, unusable } = findProjectFiles(options.cwd, options);
  let remaining = MAX_TOTAL_BYTES;
  const read = (file: ProjectFile): ReadProjectFile => {
    if (remaining <= 0) return { file, reading: refuseForSize() };
    const reading = readProjectFile(file, TRUST_ALL);
    const bytes = reading.kind === 'read' ? reading.bytes : null;
    remaining -= bytes?.length ?? 0;
    // A file that may hold nothing of this kind is listed for this kind only if it can be read.
    const isListed = file.isOfUse === undefined || (bytes !== null && file.isOfUse(bytes));
    return { file, reading: isListed ? reading : { kind: 'absent' } };
  };
  const named = files.map(read);
  const prompts = await findPromptFiles(named);
  const found = [...named, ...prompts.map(read)];
  return {
    found: found.filter(({ reading }) => reading.kind !== 'absent'),
    unusable: unusable.map(unusableFile),
  };
}

function refuseForSize(): ProjectFileReading {
  const reason = `Not read: the files before it hold ${MAX_TOTAL_BYTES / 1024 / 1024} MB.`;
  return { kind: 'refused', code: 'too-many-bytes', reason };
}

const UNKNOWN_FIELDS = { size: null, sha256: null, trustedOn: null, reason: null } as const;

function unusableFile({ kind, path, reason }: UnusableFile): ListedFile {
  return { ...UNKNOWN_FIELDS, kind, path, reason, state: 'unusable' };
}

/** The trusted entries by their `entryKey`. */
export type TrustedFiles = ReadonlyMap<string, TrustEntry>;

export function indexEntries(entries: readonly TrustEntry[]): TrustedFiles {
  return new Map(entries.map((entry) => [entryKey(entry), entry]));
}

export function listFile({ file, reading }: ReadProjectFile, trusted: TrustedFiles): ListedFile {
  const { kind, path } = file;
  const entry = trusted.get(entryKey(file));
  const trustedOn = entry?.trustedOn ?? null;
  switch (reading.kind) {
    case 'absent':
      return { ...UNKNOWN_FIELDS, kind, path, trustedOn, state: 'missing' };
    case 'untrusted':
    case 'refused': {
      const reason = reading.kind === 'refused' ? reading.reason : null;
      return { ...UNKNOWN_FIELDS, kind, path, state: 'unusable', reason };
    }
    case 'read': {
      const hash = hashContent(reading.bytes);
      const state = compareTrust(entry, hash);
      const size = reading.bytes.length;
      return { kind, path, state, size, sha256: hash, trustedOn, reason: null };
    }
  }
}

/**
 * Compares the hash of a file's content with its trusted entry. An agent's notes are trusted by their path, because
 * they change during runs.
 */
export function compareTrust(
  entry: TrustEntry | undefined,
  hash: string,
): 'trusted' | 'new' | 'changed' {
  if (entry === undefined) return 'new';
  return entry.kind === 'memory' || entry.sha256 === hash ? 'trusted' : 'changed';
}

/** Returns the files of the project that agents take their prompts from and that do not define an agent themselves. */
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
      prompts.set(path, { kind, boundary, maxBytes, path, grants: describePrompt });
    }
  }
  return [...prompts.values()];
}

async function describePrompt(bytes: Buffer) {
  const text = decodeUtf8(bytes);
  const line = text.ok
    ? 'the prompt of an agent that another file defines; read it in the file'
    : `nothing: ${text.reason}`;
  return { lines: [line], problems: [] };
}
