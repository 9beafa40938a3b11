import type { CleanupResult } from '../../../base/cleanup-result.ts';
import { join } from 'node:path';
import { findRepository, type Repository } from '../../git/repository.ts';
import { selectCommitted } from './committed-entries.ts';
import { KnownFileStates } from './known-files.ts';
import { NewEntries, type FindCommitted, type ProtectedPathState } from './new-entries.ts';
import { NewSubmodules } from './new-modules.ts';
import type { ProtectedFileBackup } from './file-backup.ts';
import type { ConfinedCommand } from '../sandbox.ts';
import { findTrustedProgram } from '../../processes/trusted-program.ts';
import { TrustedTips } from './trusted-tips.ts';
import { CommandRecords } from './command-records.ts';

export const EMPTY_CLEANUP: CleanupResult = { removed: [], fromCommits: [] };

/**
 * Returns the directory for entries that are removed from a workspace; `records`: the private directory of the
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
  readonly places: ProtectedPathState;
  /** A backup of the files that git may change; null if there are none. */
  readonly opened: ProtectedFileBackup | null;
  readonly roots: readonly string[];
}

interface Running {
  /** Null after the files have been checked. */
  opened: ProtectedFileBackup | null;
  readonly entries: NewEntries;
}

/**
 * Checks, when commands have ended, the protected files that the sandbox could not prevent them from creating
 * or changing.
 */
export class ProtectedFileChecks {
  private readonly settings: ProtectedFileCheckSettings;
  private readonly records: CommandRecords;
  private readonly tips = new TrustedTips();
  private readonly running = new Set<Running>();
  private readonly ofUser = new KnownFileStates();

  constructor(settings: ProtectedFileCheckSettings) {
    this.settings = settings;
    this.records = new CommandRecords(settings.records);
  }

  /** Quarantines entries that commands of killed processes have created. */
  sweep(): void {
    this.records.sweep(quarantineDirectory(this.settings.records));
  }

  /**
   * Tells whether protected files are as the user left them. If not, a running command may have changed them,
   * and their present content must not be taken for the user's.
   */
  isSettled(): boolean {
    return [...this.running].every(
      ({ opened, entries }) => opened === null && !entries.hasUnknown(),
    );
  }

  /** Must be called before the command starts. */
  begin({ places, opened, roots }: ProtectedCommand): Pick<ConfinedCommand, 'settle' | 'release'> {
    if (places.missing.length === 0 && places.present.size === 0 && opened === null) {
      return { settle: () => Promise.resolve(EMPTY_CLEANUP), release: () => {} };
    }
    const { path, records } = this.settings;
    const record = this.records.add(places, opened);
    const use = { roots, isGitAlone: opened !== null };
    const repositories = repositoriesOf(roots);
    const begun = repositories.map((repository) => this.tips.begin(repository, use));
    const modules = new NewSubmodules(repositories, quarantineDirectory(records));
    // What runs in the background may have changed what is there a moment ago.
    if (opened !== null && this.running.size === 0) this.ofUser.add(opened.files());
    const committed: FindCommitted = async (files) => {
      const known = this.ofUser.among(files);
      const others = files.filter(({ path: each }) => !known.has(each));
      if (others.length === 0 || begun.length === 0) return known;
      const git = findTrustedProgram('git', path, roots);
      if (git === undefined) return known;
      return new Set([
        ...known,
        ...(await selectCommitted(others, begun, { tips: this.tips, git })),
      ]);
    };
    const entries = new NewEntries(places, committed, quarantineDirectory(records));
    const running: Running = { opened, entries };
    this.running.add(running);
    let isReleased = false;
    return {
      settle: async () => {
        const changed = (await running.opened?.settle(committed)) ?? EMPTY_CLEANUP;
        running.opened = null;
        const made = await entries.settle();
        if (made.fromCommits.length > 0 && !isReleased) record.accept(entries.acceptedFiles());
        return {
          removed: [...changed.removed, ...made.removed, ...modules.settle()],
          fromCommits: [...changed.fromCommits, ...made.fromCommits],
          putBack: changed.putBack ?? [],
        };
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.running.delete(running);
        running.opened?.restoreAll();
        entries.settleNow();
        modules.settle();
        for (const before of begun) this.tips.end(before);
        record.remove();
      },
    };
  }
}

function repositoriesOf(roots: readonly string[]): readonly Repository[] {
  const byDirectory = new Map<string, Repository>();
  for (const root of roots) {
    const repository = findRepository(root);
    if (repository !== undefined) byDirectory.set(repository.gitDirectory, repository);
  }
  return [...byDirectory.values()];
}
