import { MusterError } from '../base/errors.ts';
import { openApprovalList, type ApprovalReaderOptions } from './approval-list.ts';
import { entryKey, TRUSTED_FILES, type TrustEntry } from './trust-store.ts';
import { dirname } from 'node:path';
import { DIRECTORY_BYTES } from '../tools/memory/notes.ts';
import {
  TRUST_ALL,
  TRUST_NOTHING,
  type ProjectFileName,
  type ProjectTrust,
  type TrustVerdict,
  readProjectFile,
} from '../sys/files/project-file.ts';
import { hashContent } from '../sys/files/read-file.ts';

/** A file of a project about whose trust a program decides. */
export interface ProjectFileToTrust extends ProjectFileName {
  /** The SHA-256 hash of the present content, in hexadecimal. */
  readonly sha256: string;
}

/**
 * The decision about a project's files for one run: true trusts all files, false trusts the files that the user has
 * approved, and a function decides about each file.
 */
export type TrustDecision = boolean | ((file: ProjectFileToTrust) => boolean);

export interface TrustOptions extends ApprovalReaderOptions {
  readonly decision: TrustDecision;
}

/**
 * Creates the judge of the project's files for one run. The approvals are read from disk only when the first file is
 * judged.
 */
export function createProjectTrust(options: TrustOptions): ProjectTrust {
  const { decision } = options;
  if (decision === true) return TRUST_ALL;
  if (decision === false) return new StoredTrust(options);
  return {
    judge: (file, hash) => ({ state: decision({ ...file, sha256: hash() }) ? 'trusted' : 'new' }),
    isForRun: true,
  };
}

/** Trusts the files that the user has approved. */
class StoredTrust implements ProjectTrust {
  readonly #options: TrustOptions;
  #entries: ReadonlyMap<string, TrustEntry> | undefined;

  constructor(options: TrustOptions) {
    this.#options = options;
  }

  judge(file: ProjectFileName, hash: () => string): TrustVerdict {
    this.#entries ??= this.#read();
    const entry = this.#entries.get(entryKey(file));
    if (entry === undefined) return TRUST_NOTHING.judge(file, hash);
    if (file.kind === 'memory') return { state: 'trusted' };
    return entry.sha256 === hash()
      ? { state: 'trusted' }
      : { state: 'changed', trustedOn: entry.trustedOn };
  }

  #read(): ReadonlyMap<string, TrustEntry> {
    try {
      const entries = openApprovalList(this.#options, TRUSTED_FILES).all();
      return new Map(entries.map((entry) => [entryKey(entry), entry]));
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      this.#options.onProblem(`nothing of this project is trusted: ${thrown.message}`);
      return new Map();
    }
  }
}

/**
 * Returns whether an agent's notes may be part of its prompt.
 *
 * @param path the path of the index of the notes in a project
 */
export function isTrustedMemory(path: string, trust: ProjectTrust): boolean {
  const file = { kind: 'memory', path } as const;
  const hash = (): string => {
    const request = { ...file, boundary: dirname(path), maxBytes: DIRECTORY_BYTES };
    const reading = readProjectFile(request, TRUST_ALL);
    return hashContent(reading.kind === 'read' ? reading.bytes : '');
  };
  return trust.judge(file, hash).state === 'trusted';
}
