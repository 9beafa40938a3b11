import { join } from 'node:path';
import { readGitConfiguration } from './configuration.ts';
import { resolveInRoots } from '../files/real-path.ts';
import { findRepository, type Repository } from './repository.ts';

/** A URL that a repository fetches from or pushes to. */
export interface RemoteUrl {
  readonly remote: string;
  readonly url: string;
}

const URL_OF_REMOTE = /^remote\.(.+)\.(?:push)?url$/;

/**
 * Returns the URLs of the remotes in a repository's configuration. `homes` are the directories that `~` may mean in
 * the paths of included files.
 */
export function readRemoteUrls(
  { commonDirectory }: Repository,
  homes: readonly string[],
): readonly RemoteUrl[] {
  const { settings } = readGitConfiguration([join(commonDirectory, 'config')], homes);
  return settings.flatMap(({ name, value }) => {
    const [, remote] = URL_OF_REMOTE.exec(name) ?? [];
    return remote === undefined ? [] : [{ remote, url: value ?? '' }];
  });
}

/** Returns all settings of the remotes in a repository's configuration, for comparison. */
export function readRemoteSettings({ commonDirectory }: Repository): readonly string[] {
  const { settings } = readGitConfiguration([join(commonDirectory, 'config')], []);
  return settings
    .filter(({ name }) => /^(?:remote|url)\./.test(name))
    .map(({ name, value }) => `${name}=${value}`);
}

/**
 * Returns the repository on this machine that a URL names; undefined if the repository is on another machine or does
 * not exist.
 */
export function findLocalRepository(url: string, top: string): Repository | undefined {
  const path = url.replace(/^file:\/\//, '');
  const isOnOtherMachine = /^[\w+.-]+:\/\//.test(path) || /^[^/]+:/.test(path);
  if (isOnOtherMachine) return undefined;
  const { real, exists } = resolveInRoots(path.startsWith('/') ? path : join(top, path), []);
  if (!exists) return undefined;
  const found = findRepository(real);
  const bare = { top: real, gitDirectory: real, commonDirectory: real };
  return found !== undefined && found.top === real ? found : bare;
}
