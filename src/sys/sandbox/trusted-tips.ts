import { isDeepStrictEqual } from 'node:util';
import { localPath, remoteSettings, remoteUrls, type RemoteUrl } from '../git/remotes.ts';
import { remoteTipsOf, tipsOf } from '../git/tips.ts';
import type { Repository } from '../git/repository.ts';
import { isInside } from '../paths.ts';
import { realPath } from './looks.ts';

/** What a repository named when a command began. */
export interface TipsBefore {
  readonly repository: Repository;
  readonly named: ReadonlySet<string>;
  /** Those whose commits the user or a remote has made. */
  readonly trusted: ReadonlySet<string>;
  /** Whether nothing but git runs: then what a remote has was fetched from it. */
  readonly isGitAlone: boolean;
}

/** How a command uses a repository. */
export interface RepositoryUse {
  readonly roots: readonly string[];
  readonly isGitAlone: boolean;
}

interface RepositoryTips {
  /** Ids that appeared while a command ran: it may have made the commits. */
  readonly made: Set<string>;
  readonly running: Set<TipsBefore>;
  /** Those that were there before the first command, and that no command can write to. */
  readonly remotes: readonly RemoteUrl[];
  /** All that was said of them. */
  readonly settings: readonly string[];
}

/**
 * Tells the commits of the user from those that commands have made. What a command brings under a protected
 * name may stay only if git has it from the former: any command can make a commit of its own, and name it as
 * that of a remote. What was fetched counts only where git alone ran, from a remote that was there before.
 */
export class TrustedTips {
  private readonly byDirectory = new Map<string, RepositoryTips>();

  begin(repository: Repository, { roots, isGitAlone }: RepositoryUse): TipsBefore {
    const tips = this.tipsAt(repository, roots);
    const named = tipsOf(repository);
    const running = [...tips.running];
    const isTrusted = (id: string): boolean =>
      running.length === 0 ? !tips.made.has(id) : running.some((other) => other.trusted.has(id));
    const trusted = new Set([...named].filter(isTrusted));
    const before = { repository, named, trusted, isGitAlone };
    tips.running.add(before);
    return before;
  }

  /** What may be trusted while the command runs: it may have fetched more. */
  trustedNow(before: TipsBefore): ReadonlySet<string> {
    return new Set([...before.trusted, ...this.fetched(before)]);
  }

  end(before: TipsBefore): void {
    const tips = this.tipsAt(before.repository, []);
    if (!tips.running.has(before)) return;
    const fetched = new Set(this.fetched(before));
    tips.running.delete(before);
    for (const id of tipsOf(before.repository)) {
      if (!before.named.has(id) && !fetched.has(id)) tips.made.add(id);
    }
  }

  /** Another command that runs at the same time could name any commit as that of a remote. */
  private fetched({ repository, named }: TipsBefore): readonly string[] {
    const { made, running, remotes, settings } = this.tipsAt(repository, []);
    if (![...running].every(({ isGitAlone }) => isGitAlone)) return [];
    // A new remote may be one that a command has made, and write to the names of another one.
    if (!isDeepStrictEqual(remoteSettings(repository, []), settings)) return [];
    return remotes
      .flatMap(({ remote }) => remoteTipsOf(repository, remote))
      .filter((id) => !named.has(id) && !made.has(id));
  }

  /** Linked working trees share what is told here. */
  private tipsAt(repository: Repository, roots: readonly string[]): RepositoryTips {
    const { commonDirectory } = repository;
    const known = this.byDirectory.get(commonDirectory);
    if (known !== undefined) return known;
    const remotes = remoteUrls(repository, []).filter(({ url }) => {
      const path = localPath(url, repository.top);
      const real = path === undefined ? undefined : (realPath(path) ?? path);
      return real === undefined || !roots.some((root) => isInside(root, real));
    });
    const tips = {
      made: new Set<string>(),
      running: new Set<TipsBefore>(),
      remotes,
      settings: remoteSettings(repository, []),
    };
    this.byDirectory.set(commonDirectory, tips);
    return tips;
  }
}
