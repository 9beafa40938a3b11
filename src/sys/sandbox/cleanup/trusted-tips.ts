import { isDeepStrictEqual } from 'node:util';
import { findLocalRepository, readRemoteSettings, readRemoteUrls } from '../../git/remotes.ts';
import { readRemoteTips, readTips } from '../../git/tips.ts';
import type { Repository } from '../../git/repository.ts';
import { isInside } from '../../../base/path-inside.ts';

/** The refs of a repository when a command began. */
export interface TipsAtStart extends RepositoryUse {
  readonly repository: Repository;
  /** All ids that refs named. */
  readonly named: ReadonlySet<string>;
  /** The ids of the commits that the user or a remote has created. */
  readonly trusted: ReadonlySet<string>;
}

/** The use of a repository by a command. */
export interface RepositoryUse {
  readonly roots: readonly string[];
  /** True if the command runs only git. A new ref of a remote was then fetched from that remote. */
  readonly isGitAlone: boolean;
}

/** A remote that was configured before the first command. */
interface Remote {
  readonly name: string;
  /** The remote's repository on this machine; undefined if the remote is on another machine. */
  readonly local: Repository | undefined;
}

interface RepositoryTips {
  /** Ids that appeared while a command ran. The command may have created the commits. */
  readonly created: Set<string>;
  readonly running: Set<TipsAtStart>;
  readonly remotes: readonly Remote[];
  /** All settings of the remotes. */
  readonly settings: readonly string[];
}

/**
 * Distinguishes commits of the user from commits that commands have created. A file that a command creates under a
 * protected name may stay only if it is in a commit of the user or of a remote. Any command can create a commit and a
 * ref that names it as a commit of a remote. A new commit of a remote is therefore trusted only in two cases: the
 * remote lies on this machine and contains the commit, or only git ran and fetched the commit from a remote that
 * existed before.
 */
export class TrustedTips {
  private readonly byDirectory = new Map<string, RepositoryTips>();

  begin(repository: Repository, use: RepositoryUse): TipsAtStart {
    const tips = this.tipsAt(repository);
    const named = readTips(repository);
    const running = [...tips.running];
    const isTrusted = (id: string): boolean =>
      running.length === 0 ? !tips.created.has(id) : running.some((other) => other.trusted.has(id));
    const before = { ...use, repository, named, trusted: new Set([...named].filter(isTrusted)) };
    tips.running.add(before);
    return before;
  }

  /** Returns the ids that are trusted now: those from before the command, and those that it has fetched. */
  trustedNow(before: TipsAtStart): ReadonlySet<string> {
    return new Set([...before.trusted, ...this.fetched(before)]);
  }

  end(before: TipsAtStart): void {
    const tips = this.tipsAt(before.repository);
    if (!tips.running.has(before)) return;
    const added = [...readTips(before.repository)].filter((id) => !before.named.has(id));
    const fetched = new Set(added.length === 0 ? [] : this.fetched(before));
    tips.running.delete(before);
    for (const id of added) if (!fetched.has(id)) tips.created.add(id);
  }

  private fetched(before: TipsAtStart): readonly string[] {
    const { remotes } = this.tipsAt(before.repository);
    const localTips = remotes.flatMap(({ local }) =>
      local === undefined || isInRoots(local, before.roots) ? [] : Array.from(readTips(local)),
    );
    return [...localTips, ...this.fetchedByGitAlone(before)];
  }

  /**
   * Returns the ids that git has fetched from remotes on other machines. Returns no ids if a command that is not only
   * git runs at the same time, because that command could create refs of a remote.
   */
  private fetchedByGitAlone({ repository, named }: TipsAtStart): readonly string[] {
    const { created, running, remotes, settings } = this.tipsAt(repository);
    if (![...running].every(({ isGitAlone }) => isGitAlone)) return [];
    // A command may have added a remote that writes to the refs of another remote.
    if (!isDeepStrictEqual(readRemoteSettings(repository), settings)) return [];
    return remotes
      .flatMap(({ name, local }) => (local === undefined ? readRemoteTips(repository, name) : []))
      .filter((id) => !named.has(id) && !created.has(id));
  }

  /** Returns the tips of a repository, which linked working trees share. */
  private tipsAt(repository: Repository): RepositoryTips {
    const { commonDirectory, top } = repository;
    const known = this.byDirectory.get(commonDirectory);
    if (known !== undefined) return known;
    const tips = {
      created: new Set<string>(),
      running: new Set<TipsAtStart>(),
      remotes: readRemoteUrls(repository, []).map(({ remote, url }) => {
        return { name: remote, local: findLocalRepository(url, top) };
      }),
      settings: readRemoteSettings(repository),
    };
    this.byDirectory.set(commonDirectory, tips);
    return tips;
  }
}

/** Tells whether commands can write to any part of the repository. */
function isInRoots(
  { gitDirectory, commonDirectory }: Repository,
  roots: readonly string[],
): boolean {
  return [gitDirectory, commonDirectory].some((path) => roots.some((root) => isInside(root, path)));
}
