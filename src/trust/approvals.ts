import { isUtf8 } from 'node:buffer';
import { UsageError } from '../base/errors.ts';
import { toAbsolutePath, isInside } from '../sys/files/paths.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import { readProjectFile, TRUST_ALL } from '../sys/files/project-file.ts';
import { hashContent } from '../sys/files/read-file.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import { previewLayer } from '../config/preview.ts';
import { oneLine } from '../config/quote.ts';
import { AnswerStore, type SavedAnswer } from './saved-answers.ts';
import { modeName, ModeStore, type SavedMode } from './saved-modes.ts';
import { approvalDirectory, type StateWish } from './state-place.ts';
import { settingsGrants, type Grants, memoryGrants } from './grants.ts';
import {
  byKey,
  listed,
  readProjectFiles,
  stateOf,
  type FileRead,
  type ListedFile,
} from './listing.ts';
import { maxBytesOf, type ProjectFile } from './project-files.ts';
import { entryKey, TrustStore, type TrustEntry } from './trust-store.ts';

export interface TrustListing {
  /** The root of the project, without links. */
  readonly project: string;
  readonly files: readonly ListedFile[];
  readonly answers: readonly SavedAnswer[];
  /** Approvals of agents in every project. */
  readonly modes: readonly SavedMode[];
}

/** Approving what a file holds: nothing but these bytes, whatever happens to the file meanwhile. */
export interface Proposal {
  readonly entry: Omit<TrustEntry, 'trustedOn'>;
  readonly state: 'new' | 'changed';
  readonly grants: Grants;
}

/** What was approved and is not any more. */
export interface Revoked {
  readonly files: readonly TrustEntry[];
  readonly answers: readonly SavedAnswer[];
  readonly modes: readonly SavedMode[];
}

/** What the user has approved of one project, and what could be. Every method may throw MusterError. */
export class Approvals {
  readonly #place: StateWish;
  readonly #project: string;

  constructor(place: StateWish) {
    this.#place = place;
    this.#project = projectRoot(place.cwd);
  }

  async list(): Promise<TrustListing> {
    const entries = this.#trusted().entries();
    const trusted = byKey(entries);
    const { found, unusable } = await readProjectFiles(this.#place);
    const files = found.map((read) => listed(read, trusted));
    const known = new Set(files.map(entryKey));
    const others = entries.filter(
      (entry) => entry.project === this.#project && !known.has(entryKey(entry)),
    );
    return {
      project: this.#project,
      files: [...files, ...others.map((entry) => this.#elsewhere(entry)), ...unusable],
      answers: this.#answers().of(this.#project),
      modes: this.#modes().all(),
    };
  }

  /** What could be approved: of these paths (files, or directories with all below), or everything. */
  async propose(paths: readonly string[]): Promise<readonly Proposal[]> {
    const trusted = byKey(this.#trusted().entries());
    const { found } = await readProjectFiles(this.#place);
    const chosen = paths.length === 0 ? found : this.#chosen(paths, found);
    const proposals = new Map<string, Proposal>();
    for (const { file, reading } of chosen) {
      if (reading.kind !== 'read') continue;
      const { kind, path } = file;
      const entry = { kind, path, sha256: hashContent(reading.bytes), project: this.#project };
      const state = stateOf(trusted.get(entryKey(entry)), entry.sha256);
      if (state === 'trusted') continue;
      const grants = await this.#grants(file, reading.bytes);
      proposals.set(entryKey(entry), { entry, state, grants });
    }
    return [...proposals.values()];
  }

  approve(proposals: readonly Proposal[]): void {
    const trustedOn = new Date().toISOString();
    this.#trusted().approve(proposals.map(({ entry }) => ({ ...entry, trustedOn })));
  }

  /** Takes back all that was approved of this project; answers for every project stay. */
  async revokeAll(): Promise<Revoked> {
    const { files } = await this.list();
    const own = new Set(files.map(entryKey));
    return {
      files: this.#trusted().revoke((entry) => own.has(entryKey(entry))),
      answers: this.#answers().remove(({ project }) => project === this.#project),
      modes: this.#modes().remove(({ path }) => isInside(this.#project, path)),
    };
  }

  /**
   * Takes approvals back: of paths (files, or directories with all below), of answers, named by
   * their rule, and of modes, named as `AGENT=MODE`. Throws UsageError for a name that means none of them.
   */
  revoke(names: readonly string[]): Revoked {
    const trusted = this.#trusted();
    const answers = this.#answers();
    const entries = trusted.entries();
    const saved = answers.of(this.#project);
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
      else if (savedModes.some((each) => modeName(each) === name)) modes.add(name);
      else {
        throw new UsageError(
          `${oneLine(name)} is neither a trusted file nor a saved answer, be it a rule or AGENT=MODE; see muster trust list`,
        );
      }
    }
    const isMeant = ({ rule, project }: SavedAnswer): boolean =>
      rules.has(rule) && (project === null || project === this.#project);
    return {
      files: files.size === 0 ? [] : trusted.revoke((entry) => files.has(entryKey(entry))),
      answers: rules.size === 0 ? [] : answers.remove(isMeant),
      modes: modes.size === 0 ? [] : this.#modes().remove((each) => modes.has(modeName(each))),
    };
  }

  #trusted(): TrustStore {
    return new TrustStore(approvalDirectory(this.#place));
  }

  #answers(): AnswerStore {
    return new AnswerStore(approvalDirectory(this.#place));
  }

  #modes(): ModeStore {
    return new ModeStore(approvalDirectory(this.#place));
  }

  /** What was trusted from another directory of the project, or is gone. */
  #elsewhere(entry: TrustEntry): ListedFile {
    const { kind, path } = entry;
    const file = { kind, path, boundary: this.#project, maxBytes: maxBytesOf(kind) };
    return listed({ file, reading: readProjectFile(file, TRUST_ALL) }, byKey([entry]));
  }

  #chosen(paths: readonly string[], found: readonly FileRead[]): readonly FileRead[] {
    return paths.flatMap((path) => {
      const places = this.#places(path);
      const chosen = found.filter(({ file }) => places.some((place) => isInside(place, file.path)));
      if (chosen.length > 0) return chosen;
      throw new UsageError(
        `${oneLine(path)} is nothing that this project could be trusted with; see muster trust list`,
      );
    });
  }

  /** As it is written, and where that leads. */
  #places(path: string): readonly string[] {
    const place = toAbsolutePath(path, this.#place.cwd, this.#place.home);
    return [place, resolveInRoots(place, []).real];
  }

  async #grants(file: ProjectFile, bytes: Buffer): Promise<Grants> {
    if (file.grants !== undefined) return file.grants(bytes);
    if (file.kind === 'memory') return memoryGrants(bytes);
    if (!isUtf8(bytes)) return { lines: [], problems: ['It is not UTF-8 text.'] };
    const text = bytes.toString('utf8');
    return settingsGrants(await previewLayer(file, text, this.#place), text);
  }
}
