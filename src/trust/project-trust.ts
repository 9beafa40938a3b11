import { MusterError } from '../base/errors.ts';
import {
  TRUST_ALL,
  TRUST_NOTHING,
  type ProjectFileName,
  type ProjectTrust,
  type TrustVerdict,
} from '../sys/files/project-file.ts';
import { approvalDirectory, type StateWish } from './state-place.ts';
import { entryKey, TrustStore, type TrustEntry } from './trust-store.ts';

/** A file of a project about which a program decides itself. */
export interface ProjectFileToTrust extends ProjectFileName {
  /** Hexadecimal, of what it holds now. */
  readonly sha256: string;
}

/** True: all files, for this run. A function decides for each file; false: what the user has approved. */
export type TrustDecision = boolean | ((file: ProjectFileToTrust) => boolean);

export interface TrustOptions extends StateWish {
  readonly decision: TrustDecision;
  /** Told in one line why nothing that was approved counts. */
  readonly onProblem: (message: string) => void;
}

/** Whose word counts for the project's files in one run. Looks at the disk when first asked. */
export function projectTrust(options: TrustOptions): ProjectTrust {
  const { decision } = options;
  if (decision === true) return TRUST_ALL;
  if (decision === false) return new StoredTrust(options);
  return {
    judge: (file, hash) => ({ state: decision({ ...file, sha256: hash() }) ? 'trusted' : 'new' }),
  };
}

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
      const store = new TrustStore(approvalDirectory(this.#options));
      return new Map(store.entries().map((entry) => [entryKey(entry), entry]));
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      this.#options.onProblem(`nothing of this project is trusted: ${thrown.message}`);
      return new Map();
    }
  }
}
