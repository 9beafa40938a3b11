import { previewProjectFile } from '../config/load.ts';
import { isUtf8 } from 'node:buffer';
import { UsageError } from '../base/errors.ts';
import { escapeLine } from '../config/message-text.ts';
import { toAbsolutePath, isInside } from '../sys/files/paths.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import { readProjectFile, TRUST_ALL } from '../sys/files/project-file.ts';
import { hashContent } from '../sys/files/read-file.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import { isAnswerFor, SAVED_ANSWERS, type SavedAnswer } from './saved-answers.ts';
import { savedModeName, SAVED_MODES, type SavedMode } from './saved-modes.ts';
import type { StateOptions } from './state-directory.ts';
import type { StateList } from '../store/state/state-list.ts';
import { openApprovalList } from './approval-list.ts';
import { settingsEffects, type FileEffects, memoryEffects } from './file-effects.ts';
import {
  indexEntries,
  listFile,
  readProjectFiles,
  trustStateOf,
  type ReadProjectFile,
  type ListedFile,
} from './list-files.ts';
import { maxBytesOf, type ProjectFile } from './project-files.ts';
import { entryKey, TRUSTED_FILES, type TrustEntry } from './trust-store.ts';

export interface TrustListing {
  /** The root of the project, without links. */
  readonly project: string;
  readonly files: readonly ListedFile[];
  readonly answers: readonly SavedAnswer[];
  /** Approvals of agents in every project. */
  readonly modes: readonly SavedMode[];
}

/**
 * A proposal to approve the present bytes of a file. Later changes of the file are not approved by it.
 */
export interface ApprovalProposal {
  readonly entry: Omit<TrustEntry, 'trustedOn'>;
  readonly state: 'new' | 'changed';
  readonly grants: FileEffects;
}

/** The approvals that were revoked. */
export interface RevokedApprovals {
  readonly files: readonly TrustEntry[];
  readonly answers: readonly SavedAnswer[];
  readonly modes: readonly SavedMode[];
}

/**
 * The approvals of one project, and the files that could be approved. Every method may throw MusterError.
 */
export class Approvals {
  readonly #place: StateOptions;
  readonly #project: string;

  constructor(place: StateOptions) {
    this.#place = place;
    this.#project = projectRoot(place.cwd);
  }

  async list(): Promise<TrustListing> {
    const entries = this.#trusted().all();
    const trusted = indexEntries(entries);
    const { found, unusable } = await readProjectFiles(this.#place);
    const files = found.map((read) => listFile(read, trusted));
    const known = new Set(files.map(entryKey));
    const others = entries.filter(
      (entry) => entry.project === this.#project && !known.has(entryKey(entry)),
    );
    return {
      project: this.#project,
      files: [...files, ...others.map((entry) => this.#elsewhere(entry)), ...unusable],
      answers: this.#answers()
        .all()
        .filter((each) => isAnswerFor(each, this.#project)),
      modes: this.#modes().all(),
    };
  }

  /** Returns the files that could be approved: below these paths, or all. */
  async propose(paths: readonly string[]): Promise<readonly ApprovalProposal[]> {
    const trusted = indexEntries(this.#trusted().all());
    const { found } = await readProjectFiles(this.#place);
    const chosen = paths.length === 0 ? found : this.#chosen(paths, found);
    const proposals = new Map<string, ApprovalProposal>();
    for (const { file, reading } of chosen) {
      if (reading.kind !== 'read') continue;
      const { kind, path } = file;
      const entry = { kind, path, sha256: hashContent(reading.bytes), project: this.#project };
      const state = trustStateOf(trusted.get(entryKey(entry)), entry.sha256);
      if (state === 'trusted') continue;
      const grants = await this.#grants(file, reading.bytes);
      proposals.set(entryKey(entry), { entry, state, grants });
    }
    return [...proposals.values()];
  }

  approve(proposals: readonly ApprovalProposal[]): void {
    const trustedOn = new Date().toISOString();
    this.#trusted().add(proposals.map(({ entry }) => ({ ...entry, trustedOn })));
  }

  /** Revokes all approvals of this project. Answers for every project remain. */
  async revokeAll(): Promise<RevokedApprovals> {
    const { files } = await this.list();
    const own = new Set(files.map(entryKey));
    return {
      files: this.#trusted().remove((entry) => own.has(entryKey(entry))),
      answers: this.#answers().remove(({ project }) => project === this.#project),
      modes: this.#modes().remove(({ path }) => isInside(this.#project, path)),
    };
  }

  /**
   * Revokes approvals of paths (files, or directories with all below), of answers by their rule, and of modes as
   * `AGENT=MODE`. Throws UsageError for a name that matches none of them.
   */
  revoke(names: readonly string[]): RevokedApprovals {
    const trusted = this.#trusted();
    const answers = this.#answers();
    const entries = trusted.all();
    const saved = answers.all().filter((each) => isAnswerFor(each, this.#project));
    const files = new Set<string>();
    const rules = new Set<string>();
    const savedModes = this.#modes().all();
    const modes = new Set<string>();
    for (const name of names) {
      const places = this.#places(name);
      const below = entries.filter(({ path }) => places.some((place) => isInside(place, path)));
      for (const entry of below) files.add(entryKey(entry));
      if (below.length > 0) continue;
      if (saved.some(({ rule }) => rule === name)) rules.add(name);
      else if (savedModes.some((each) => savedModeName(each) === name)) modes.add(name);
      else {
        throw new UsageError(
          `${escapeLine(name)} is neither a trusted file nor a saved answer, be it a rule or AGENT=MODE; see muster trust list`,
        );
      }
    }
    const isMeant = (answer: SavedAnswer): boolean =>
      rules.has(answer.rule) && isAnswerFor(answer, this.#project);
    return {
      files: files.size === 0 ? [] : trusted.remove((entry) => files.has(entryKey(entry))),
      answers: rules.size === 0 ? [] : answers.remove(isMeant),
      modes: modes.size === 0 ? [] : this.#modes().remove((each) => modes.has(savedModeName(each))),
    };
  }

  #trusted(): StateList<TrustEntry> {
    return openApprovalList(this.#place, TRUSTED_FILES);
  }

  #answers(): StateList<SavedAnswer> {
    return openApprovalList(this.#place, SAVED_ANSWERS);
  }

  #modes(): StateList<SavedMode> {
    return openApprovalList(this.#place, SAVED_MODES);
  }

  /**
   * Returns an entry that was trusted from another directory of the project, or whose file is gone.
   */
  #elsewhere(entry: TrustEntry): ListedFile {
    const { kind, path } = entry;
    const file = { kind, path, boundary: this.#project, maxBytes: maxBytesOf(kind) };
    return listFile({ file, reading: readProjectFile(file, TRUST_ALL) }, indexEntries([entry]));
  }

  #chosen(paths: readonly string[], found: readonly ReadProjectFile[]): readonly ReadProjectFile[] {
    return paths.flatMap((path) => {
      const places = this.#places(path);
      const chosen = found.filter(({ file }) => places.some((place) => isInside(place, file.path)));
      if (chosen.length > 0) return chosen;
      throw new UsageError(
        `${escapeLine(path)} is nothing that this project could be trusted with; see muster trust list`,
      );
    });
  }

  /** Returns the path as written and its real path. */
  #places(path: string): readonly string[] {
    const place = toAbsolutePath(path, this.#place.cwd, this.#place.home);
    return [place, resolveInRoots(place, []).real];
  }

  async #grants(file: ProjectFile, bytes: Buffer): Promise<FileEffects> {
    if (file.grants !== undefined) return file.grants(bytes);
    if (file.kind === 'memory') return memoryEffects(bytes);
    if (!isUtf8(bytes)) return { lines: [], problems: ['It is not UTF-8 text.'] };
    const text = bytes.toString('utf8');
    return settingsEffects(await previewProjectFile(file, text, this.#place), text);
  }
}
