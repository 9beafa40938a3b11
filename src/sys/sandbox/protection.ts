import { join } from 'node:path';
import { findRepository, type Repository } from '../git/repository.ts';
import { committedAmong } from './committed-entries.ts';
import { NewEntries, type CommittedContent, type ProtectedPlaces } from './new-entries.ts';
import type { OpenedEntries } from './opened-entries.ts';
import type { Settlement } from './put-aside.ts';
import type { ConfinedCommand } from './sandbox.ts';
import { findTrustedProgram } from './trusted-program.ts';
import { TrustedTips } from './trusted-tips.ts';
import { WatchRecords } from './watch-records.ts';

export const NOTHING_SETTLED: Settlement = { removed: [], fromCommits: [] };

/** Where what is taken out of a workspace goes; `records`: the private directory of the sandbox. */
export function keptIn(records: string | null): string | null {
  return records === null ? null : join(records, 'removed');
}

export interface ProtectionSettings {
  /** The user's PATH, where git is looked for. */
  readonly path: string;
  /** A private directory for notes about running commands; null: none are kept. */
  readonly records: string | null;
}

interface ProtectedCommand {
  readonly places: ProtectedPlaces;
  /** What git alone may change; null: nothing. */
  readonly opened: OpenedEntries | null;
  readonly roots: readonly string[];
}

/** Looks, when commands have ended, at the protected files that nothing kept them from making or changing. */
export class Protection {
  private readonly settings: ProtectionSettings;
  private readonly records: WatchRecords;
  private readonly tips = new TrustedTips();

  constructor(settings: ProtectionSettings) {
    this.settings = settings;
    this.records = new WatchRecords(settings.records);
  }

  /** Takes away what commands of killed processes have made. */
  sweep(): void {
    this.records.sweep(keptIn(this.settings.records));
  }

  /** To be called before the command starts. */
  begin({ places, opened, roots }: ProtectedCommand): Pick<ConfinedCommand, 'settle' | 'release'> {
    if (places.missing.length === 0 && places.present.size === 0) {
      return { settle: () => Promise.resolve(NOTHING_SETTLED), release: () => {} };
    }
    const { path, records } = this.settings;
    const forget = this.records.add(places);
    const begun = repositoriesOf(roots).map((repository) => this.tips.begin(repository));
    const committed: CommittedContent = async (files) => {
      if (files.length === 0 || begun.length === 0) return new Set();
      const git = findTrustedProgram('git', path, roots);
      return git === undefined
        ? new Set()
        : await committedAmong(files, begun, { tips: this.tips, git });
    };
    const entries = new NewEntries(places, committed, keptIn(records));
    let stillOpen = opened;
    let isReleased = false;
    return {
      settle: async () => {
        const changed = (await stillOpen?.settle(committed)) ?? NOTHING_SETTLED;
        stillOpen = null;
        const made = await entries.settle();
        return {
          removed: [...changed.removed, ...made.removed],
          fromCommits: [...changed.fromCommits, ...made.fromCommits],
        };
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        stillOpen?.restoreAll();
        entries.settleNow();
        for (const before of begun) this.tips.end(before);
        forget();
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
