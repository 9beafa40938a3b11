import { previewProjectFile } from '../config/load.ts';
import { isUtf8 } from 'node:buffer';
import { UsageError } from '../base/errors.ts';
import { escapeLine } from '../config/message-text.ts';
import { isInside } from '../base/path-inside.ts';
import { toAbsolutePath } from '../sys/files/paths.ts';
import { projectRoot } from '../sys/files/project-directories.ts';
import { readProjectFile, TRUST_ALL } from '../sys/files/project-file.ts';
import { hashContent } from '../sys/files/read-file.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import { isAnswerFor, SAVED_ANSWERS, type SavedAnswer } from './saved-answers.ts';
import { savedModeName, SAVED_MODES, type SavedMode } from './saved-modes.ts';
import type { StateOptions } from './state-directory.ts';
import type { StateList } from '../store/state/state-list.ts';
import { listProjectPlugins, type ProjectPluginSettings } from './plugin-settings.ts';
import { openApprovalList } from './approval-list.ts';
import { hashReview, POSTPONED_REVIEWS, type PostponedReview } from './postponed-reviews.ts';
import { settingsEffects, type FileEffects, memoryEffects } from './file-effects.ts';
import {
  indexEntries,
  listFile,
  readProjectFiles,
  compareTrust,
  type ReadProjectFile,
  type ListedFile,
} from './list-files.ts';
import { maxFileBytes, type ProjectFile } from './project-files.ts';
import { entryKey, TRUSTED_FILES, type TrustEntry } from './trust-store.ts';

/** The files, saved answers and saved modes that `muster trust list` shows. */
export interface TrustListing {
  /** The root of the project, without links. */
  readonly project: string;
  readonly files: readonly ListedFile[];
  /** The effects that each file has if it is trusted, in the order of the files. The lines quote the files. */
  readonly effects: readonly (readonly string[])[];
  readonly answers: readonly SavedAnswer[];
  /** The modes that the user has approved for agents. They apply in every project. */
  readonly modes: readonly SavedMode[];
  /** The plugins and marketplaces that settings files of the project name, without an effect. */
  readonly plugins: readonly ProjectPluginSettings[];
}

/** A proposal to approve the present content of a file. An approval does not extend to later changes of the file. */
export interface ApprovalProposal {
  readonly entry: Omit<TrustEntry, 'trustedOn'>;
  readonly state: 'new' | 'changed';
  /** The effects of the file if it is approved. */
  readonly grants: FileEffects;
}

/** The approvals that were revoked. */
export interface RevokedApprovals {
  readonly files: readonly TrustEntry[];
  readonly answers: readonly SavedAnswer[];
  readonly modes: readonly SavedMode[];
}

/** The approvals of one project, and the files that could be approved. Every method can throw MusterError. */
export class Approvals {
  readonly #options: StateOptions;
  /** The root of the project, without links. */
  readonly project: string;

  constructor(options: StateOptions) {
    this.#options = options;
    this.project = projectRoot(options.cwd);
  }

  async list(): Promise<TrustListing> {
    const entries = this.#trusted().all();
    const trusted = indexEntries(entries);
    const { found, unusable } = await readProjectFiles(this.#options);
    const files = found.map((read) => listFile(read, trusted));
    const known = new Set(files.map(entryKey));
    const others = entries
      .filter((entry) => entry.project === this.project && !known.has(entryKey(entry)))
      .map((entry) => this.#listUnlisted(entry));
    const effects = await Promise.all(found.map((read) => this.#listEffects(read)));
    return {
      project: this.project,
      files: [...files, ...others, ...unusable],
      effects: [...effects, ...[...others, ...unusable].map(() => [])],
      answers: this.#answers()
        .all()
        .filter((each) => isAnswerFor(each, this.project)),
      modes: this.#modes().all(),
      plugins: listProjectPlugins(this.#options.cwd, this.#options.home),
    };
  }

  /**
   * Returns proposals to approve the files at or below these paths, or all files of the project if there are no paths.
   */
  async propose(paths: readonly string[]): Promise<readonly ApprovalProposal[]> {
    const trusted = indexEntries(this.#trusted().all());
    const { found } = await readProjectFiles(this.#options);
    const chosen = paths.length === 0 ? found : this.#select(paths, found);
    const proposals = new Map<string, ApprovalProposal>();
    for (const { file, reading } of chosen) {
      if (reading.kind !== 'read') continue;
      const { kind, path } = file;
      const entry = { kind, path, sha256: hashContent(reading.bytes), project: this.project };
      const state = compareTrust(trusted.get(entryKey(entry)), entry.sha256);
      if (state === 'trusted') continue;
      const grants = await this.#readEffects(file, reading.bytes);
      proposals.set(entryKey(entry), { entry, state, grants });
    }
    return [...proposals.values()];
  }

  /**
   * Returns the files at or below these paths, or all files of the project if there are no paths, that can never be
   * trusted as they are, such as files that are too large.
   */
  async listUnusable(paths: readonly string[]): Promise<readonly ListedFile[]> {
    const { found } = await readProjectFiles(this.#options);
    const chosen = paths.length === 0 ? found : this.#select(paths, found);
    const files = chosen.map((each) => listFile(each, new Map()));
    return files.filter(({ state }) => state === 'unusable');
  }

  /** Returns the time at which the user postponed the review of exactly these files; null if it was not postponed. */
  postponedOn(proposals: readonly ApprovalProposal[]): string | null {
    const sha256 = hashReview(proposals.map(({ entry }) => entry));
    const { cwd } = this.#options;
    const found = this.#postponed()
      .all()
      .find((review) => review.directory === cwd && review.sha256 === sha256);
    return found?.answeredOn ?? null;
  }

  /** Remembers that the user does not want to review these files here until one of them changes. */
  postpone(proposals: readonly ApprovalProposal[]): void {
    const answeredOn = new Date().toISOString();
    const review = {
      directory: this.#options.cwd,
      sha256: hashReview(proposals.map(({ entry }) => entry)),
      answeredOn,
    };
    this.#postponed().add([review]);
  }

  approve(proposals: readonly ApprovalProposal[]): void {
    const trustedOn = new Date().toISOString();
    this.#trusted().add(proposals.map(({ entry }) => ({ ...entry, trustedOn })));
  }

  /** Revokes all approvals of this project. Answers that apply to every project remain. */
  async revokeAll(): Promise<RevokedApprovals> {
    const { files } = await this.list();
    const projectKeys = new Set(files.map(entryKey));
    return {
      files: this.#trusted().remove((entry) => projectKeys.has(entryKey(entry))),
      answers: this.#answers().remove(({ project }) => project === this.project),
      modes: this.#modes().remove(({ path }) => isInside(this.project, path)),
    };
  }

  /**
   * Revokes approvals by name. A name is the path of a file, the path of a directory (for all files below it), the rule
   * of a saved answer, or `AGENT=MODE` for a saved mode. Throws UsageError for a name that matches none of these.
   */
  revoke(names: readonly string[]): RevokedApprovals {
    const trusted = this.#trusted();
    const answers = this.#answers();
    const entries = trusted.all();
    const projectAnswers = answers.all().filter((each) => isAnswerFor(each, this.project));
    const files = new Set<string>();
    const rules = new Set<string>();
    const savedModes = this.#modes().all();
    const modes = new Set<string>();
    for (const name of names) {
      const locations = this.#resolvePaths(name);
      const below = entries.filter(({ path }) =>
        locations.some((location) => isInside(location, path)),
      );
      for (const entry of below) files.add(entryKey(entry));
      if (below.length > 0) continue;
      if (projectAnswers.some(({ rule }) => rule === name)) rules.add(name);
      else if (savedModes.some((each) => savedModeName(each) === name)) modes.add(name);
      else {
        throw new UsageError(
          `${escapeLine(name)} is not a trusted file, the rule of a saved answer, or a saved AGENT=MODE; see muster trust list`,
        );
      }
    }
    const shouldRevoke = (answer: SavedAnswer): boolean =>
      rules.has(answer.rule) && isAnswerFor(answer, this.project);
    return {
      files: files.size === 0 ? [] : trusted.remove((entry) => files.has(entryKey(entry))),
      answers: rules.size === 0 ? [] : answers.remove(shouldRevoke),
      modes: modes.size === 0 ? [] : this.#modes().remove((each) => modes.has(savedModeName(each))),
    };
  }

  #trusted(): StateList<TrustEntry> {
    return openApprovalList(this.#options, TRUSTED_FILES);
  }

  #postponed(): StateList<PostponedReview> {
    return openApprovalList(this.#options, POSTPONED_REVIEWS);
  }

  #answers(): StateList<SavedAnswer> {
    return openApprovalList(this.#options, SAVED_ANSWERS);
  }

  #modes(): StateList<SavedMode> {
    return openApprovalList(this.#options, SAVED_MODES);
  }

  /**
   * Lists an entry that a search from the current directory does not find: a file that was trusted from another
   * directory of the project, or that no longer exists.
   */
  #listUnlisted(entry: TrustEntry): ListedFile {
    const { kind, path } = entry;
    const file = { kind, path, boundary: this.project, maxBytes: maxFileBytes(kind) };
    return listFile({ file, reading: readProjectFile(file, TRUST_ALL) }, indexEntries([entry]));
  }

  #select(paths: readonly string[], found: readonly ReadProjectFile[]): readonly ReadProjectFile[] {
    return paths.flatMap((path) => {
      const locations = this.#resolvePaths(path);
      const chosen = found.filter(({ file }) =>
        locations.some((location) => isInside(location, file.path)),
      );
      if (chosen.length > 0) return chosen;
      throw new UsageError(
        `${escapeLine(path)} is not a file of this project that could be trusted; see muster trust list`,
      );
    });
  }

  /** Returns the absolute path without resolving links, and the real path. */
  #resolvePaths(path: string): readonly string[] {
    const absolute = toAbsolutePath(path, this.#options.cwd, this.#options.home);
    return [absolute, resolveInRoots(absolute, []).real];
  }

  async #listEffects({ file, reading }: ReadProjectFile): Promise<readonly string[]> {
    if (reading.kind !== 'read') return [];
    return (await this.#readEffects(file, reading.bytes)).lines;
  }

  async #readEffects(file: ProjectFile, bytes: Buffer): Promise<FileEffects> {
    if (file.grants !== undefined) return file.grants(bytes);
    if (file.kind === 'memory') return memoryEffects(bytes);
    if (!isUtf8(bytes)) return { lines: [], problems: ['It is not UTF-8 text.'] };
    const text = bytes.toString('utf8');
    return settingsEffects(await previewProjectFile(file, text, this.#options), text);
  }
}
