import { remoteTipsOf, tipsOf } from '../git/tips.ts';
import type { Repository } from '../git/repository.ts';

/** What a repository named when a command began. */
export interface TipsBefore {
  readonly repository: Repository;
  readonly named: ReadonlySet<string>;
  /** Those whose commits the user or a remote has made. */
  readonly trusted: ReadonlySet<string>;
}

interface RepositoryTips {
  /** Ids that appeared while a command ran: it may have made the commits. */
  readonly made: Set<string>;
  readonly running: Set<TipsBefore>;
}

/**
 * Tells the commits of the user from those that commands have made. What a command brings under a protected
 * name may stay only if git has it from the former: any command can make a commit of its own.
 */
export class TrustedTips {
  private readonly byDirectory = new Map<string, RepositoryTips>();

  begin(repository: Repository): TipsBefore {
    const tips = this.tipsAt(repository);
    const named = tipsOf(repository);
    const running = [...tips.running];
    const isTrusted = (id: string): boolean =>
      running.length === 0 ? !tips.made.has(id) : running.some((other) => other.trusted.has(id));
    const before = { repository, named, trusted: new Set([...named].filter(isTrusted)) };
    tips.running.add(before);
    return before;
  }

  /** What may be trusted while the command runs: it may have fetched more. */
  trustedNow({ repository, trusted }: TipsBefore): ReadonlySet<string> {
    return new Set([...trusted, ...remoteTipsOf(repository)]);
  }

  end(before: TipsBefore): void {
    const tips = this.tipsAt(before.repository);
    if (!tips.running.delete(before)) return;
    const remote = remoteTipsOf(before.repository);
    for (const id of tipsOf(before.repository)) {
      if (!before.named.has(id) && !remote.has(id)) tips.made.add(id);
    }
  }

  private tipsAt({ gitDirectory }: Repository): RepositoryTips {
    const known = this.byDirectory.get(gitDirectory);
    if (known !== undefined) return known;
    const tips = { made: new Set<string>(), running: new Set<TipsBefore>() };
    this.byDirectory.set(gitDirectory, tips);
    return tips;
  }
}
