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
 * Returns the URLs of the remotes in a repository's configuration; `homes`: possible meanings of `~` in
 * includes.
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
 * Returns the repository that a URL names on this machine; undefined if it is on another machine or does not
 * exist.
 */
export function findLocalRepository(url: string, top: string): Repository | undefined {
  const path = url.replace(/^file:\/\//, '');
  const isElsewhere = /^[\w+.-]+:\/\//.test(path) || /^[^/]+:/.test(path);
  if (isElsewhere) return undefined;
  const { real, exists } = resolveInRoots(path.startsWith('/') ? path : join(top, path), []);
  if (!exists) return undefined;
  const found = findRepository(real);
  const bare = { top: real, gitDirectory: real, commonDirectory: real };
  return found !== undefined && found.top === real ? found : bare;
}
