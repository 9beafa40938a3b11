import type { CleanupResult, QuarantinedEntry } from '../../../base/cleanup-result.ts';
import { join, relative } from 'node:path';
import { existsWithoutLinks } from '../../files/path-lookup.ts';
import { isInside } from '../../../base/path-inside.ts';
import { hashContent } from '../../files/read-file.ts';
import { findCommittedFiles, type StoredFile } from '../../git/committed-files.ts';
import { hashGitObject } from '../../git/object-reader.ts';
import { findRepository, type Repository } from '../../git/repository.ts';
import { NewEntries, type FindCommitted, type ProtectedPathState } from './new-entries.ts';
import { listSubmoduleRepositories } from '../git-rules.ts';
import type { ProtectedFileBackup } from './file-backup.ts';
import type { EntryContent } from './file-content.ts';
import { runsNoPrograms } from './git-writable-paths.ts';
import { quarantineEntry } from './quarantine.ts';
import type { ConfinedCommand } from '../sandbox.ts';
import { findTrustedProgram } from '../../processes/find-program.ts';
import { TrustedTips, type TipsAtStart } from './trusted-tips.ts';
import { CommandRecords } from './command-records.ts';

export const EMPTY_CLEANUP: CleanupResult = { removed: [], fromCommits: [] };

/**
 * Returns the directory for entries that are removed from a workspace. `records` is the private directory of the
 * sandbox.
 */
export function quarantineDirectory(records: string | null): string | null {
  return records === null ? null : join(records, 'removed');
}

export interface ProtectedFileCheckSettings {
  /** The user's PATH, in which git is looked up. */
  readonly path: string;
  /** A private directory for records of running commands; null if none are kept. */
  readonly records: string | null;
}

interface ProtectedCommand {
  readonly pathState: ProtectedPathState;
  /** A backup of the files that git may change; null if there are none. */
  readonly backup: ProtectedFileBackup | null;
  readonly roots: readonly string[];
}

interface Running {
  /** The backup of the protected files, or null after they have been checked. */
  backup: ProtectedFileBackup | null;
  readonly entries: NewEntries;
}

/**
 * Checks the protected files that commands have created or changed, when the commands have ended. The sandbox cannot
 * prevent all of these changes.
 */
export class ProtectedFileChecks {
  private readonly settings: ProtectedFileCheckSettings;
  private readonly records: CommandRecords;
  private readonly tips = new TrustedTips();
  private readonly running = new Set<Running>();
  private readonly userStates = new KnownFileStates();

  constructor(settings: ProtectedFileCheckSettings) {
    this.settings = settings;
    this.records = new CommandRecords(settings.records);
  }

  /** Quarantines entries that commands of killed processes have created. */
  cleanUpAfterKilledProcesses(): void {
    this.records.cleanUp(quarantineDirectory(this.settings.records));
  }

  /**
   * Tells whether no running command can have changed protected files. If one can, their present content may not come
   * from the user, and no backup may be created from it.
   */
  isSettled(): boolean {
    return [...this.running].every(
      ({ backup, entries }) => backup === null && !entries.hasUnknown(),
    );
  }

  /** Prepares the checks for a command. Must be called before the command starts. */
  begin({
    pathState,
    backup,
    roots,
  }: ProtectedCommand): Pick<ConfinedCommand, 'settle' | 'release'> {
    if (pathState.missing.length === 0 && pathState.present.size === 0 && backup === null) {
      return { settle: () => Promise.resolve(EMPTY_CLEANUP), release: () => {} };
    }
    const { path, records } = this.settings;
    const record = this.records.add(pathState, backup);
    const use = { roots, isGitAlone: backup !== null };
    const repositories = findRepositories(roots);
    const tipsAtStart = repositories.map((repository) => this.tips.begin(repository, use));
    const settleModules = watchSubmodules(repositories, quarantineDirectory(records));
    // Another running command may just have changed these files.
    if (backup !== null && this.running.size === 0) this.userStates.add(backup.files());
    const committed: FindCommitted = async (files) => {
      const known = this.userStates.among(files);
      const others = files.filter(({ path: each }) => !known.has(each));
      if (others.length === 0 || tipsAtStart.length === 0) return known;
      const git = findTrustedProgram('git', path, roots);
      if (git === undefined) return known;
      return new Set([
        ...known,
        ...(await selectCommitted(others, tipsAtStart, { tips: this.tips, git })),
      ]);
    };
    const entries = new NewEntries(pathState, committed, quarantineDirectory(records));
    const running: Running = { backup, entries };
    this.running.add(running);
    let isReleased = false;
    return {
      settle: async () => {
        const changed = (await running.backup?.settle(committed)) ?? EMPTY_CLEANUP;
        running.backup = null;
        const made = await entries.settle();
        if (made.fromCommits.length > 0 && !isReleased) record.accept(entries.acceptedFiles());
        return {
          removed: [...changed.removed, ...made.removed, ...settleModules()],
          fromCommits: [...changed.fromCommits, ...made.fromCommits],
          putBack: changed.putBack ?? [],
        };
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.running.delete(running);
        running.backup?.restoreAll();
        entries.settleNow();
        settleModules();
        for (const before of tipsAtStart) this.tips.end(before);
        record.remove();
      },
    };
  }
}

function findRepositories(roots: readonly string[]): readonly Repository[] {
  const byDirectory = new Map<string, Repository>();
  for (const root of roots) {
    const repository = findRepository(root);
    if (repository !== undefined) byDirectory.set(repository.gitDirectory, repository);
  }
  return [...byDirectory.values()];
}

/**
 * Watches the git directories of a workspace for new repositories of submodules. Git obeys such a repository once a
 * submodule of its name is set up. Returns a function that quarantines, below `directory`, those that have hooks or
 * programs and did not exist at the time of this call.
 */
function watchSubmodules(
  repositories: readonly Repository[],
  directory: string | null,
): () => readonly QuarantinedEntry[] {
  const watched = [...new Set(repositories.map(({ commonDirectory }) => commonDirectory))];
  const before = new Set(watched.flatMap(listSubmoduleRepositories));
  return () =>
    watched
      .flatMap(listSubmoduleRepositories)
      .filter((path) => !before.has(path))
      .filter((path) => !runsNoPrograms({ top: path, gitDirectory: path, commonDirectory: path }))
      .flatMap((path) => quarantineEntry(path, directory) ?? []);
}

/** The maximum number of states that are kept. The oldest are removed first. */
const MAX_STATES = 5_000;

/** Earlier states of the user's protected files, to which git may restore them, for example from a stash. */
class KnownFileStates {
  private readonly states = new Set<string>();

  add(files: Iterable<EntryContent>): void {
    for (const file of files) {
      const state = describeState(file);
      this.states.delete(state);
      this.states.add(state);
      const [oldest] = this.states;
      if (this.states.size > MAX_STATES && oldest !== undefined) this.states.delete(oldest);
    }
  }

  /** Returns the paths of those files whose present state is a known state. */
  among(files: readonly EntryContent[]): ReadonlySet<string> {
    const known = files.filter(
      (file) => existsWithoutLinks(file.path) && this.states.has(describeState(file)),
    );
    return new Set(known.map(({ path }) => path));
  }
}

/**
 * Returns a text that identifies the state of a file. As in git, the only part of the mode that counts is whether the
 * file is executable.
 */
function describeState({ path, kind, content, mode }: EntryContent): string {
  return [hashContent(content), kind, mode & 0o100, path].join(' ');
}

const EXECUTABLE = 0o100;

/**
 * Returns the paths of the files whose content and mode equal those in a commit that the user or a remote has created.
 */
async function selectCommitted(
  files: readonly EntryContent[],
  tipsAtStart: readonly TipsAtStart[],
  { tips, git }: { readonly tips: TrustedTips; readonly git: string },
): Promise<ReadonlySet<string>> {
  const committed = new Set<string>();
  for (const before of tipsAtStart) {
    const trusted = tips.trustedNow(before);
    const [first = ''] = trusted;
    const { top } = before.repository;
    const pathOf = new Map(
      files
        .filter(({ path }) => isInside(top, path) && !isOfGit(relative(top, path)))
        .map((file) => [storedFile(file, top, first.length), file.path] as const),
    );
    const found = await findCommittedFiles(before.repository, trusted, [...pathOf.keys()], { git });
    for (const file of found) committed.add(pathOf.get(file) ?? '');
  }
  return committed;
}

/**
 * Tells whether a path lies in a `.git` directory. Git never writes such a file from a commit, though a hostile
 * commit may contain one.
 */
function isOfGit(path: string): boolean {
  return path.split('/').some((name) => name.toLowerCase() === '.git');
}

/** Returns the file in the form in which git would store it, if no filter changes it. */
function storedFile(
  { path, kind, content, mode }: EntryContent,
  top: string,
  idLength: number,
): StoredFile {
  const plain = (mode & EXECUTABLE) === 0 ? '100644' : '100755';
  return {
    path: relative(top, path),
    mode: kind === 'link' ? '120000' : plain,
    id: hashGitObject('blob', content, idLength),
  };
}
