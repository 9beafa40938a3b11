import { join } from 'node:path';
import { readConfiguration } from './configuration.ts';
import type { Repository } from './repository.ts';

/** A place that a repository fetches from or pushes to. */
export interface RemoteUrl {
  readonly remote: string;
  readonly url: string;
}

const URL_OF_REMOTE = /^remote\.(.+)\.(?:push)?url$/;

/** Returns what the configuration of a repository names; `homes`: what `~` of an include may mean. */
export function remoteUrls(
  { commonDirectory }: Repository,
  homes: readonly string[],
): readonly RemoteUrl[] {
  const { settings } = readConfiguration([join(commonDirectory, 'config')], homes);
  return settings.flatMap(({ name, value }) => {
    const [, remote] = URL_OF_REMOTE.exec(name) ?? [];
    return remote === undefined ? [] : [{ remote, url: value ?? '' }];
  });
}

/** All that the configuration of a repository says of its remotes, to be compared. */
export function remoteSettings(
  { commonDirectory }: Repository,
  homes: readonly string[],
): readonly string[] {
  const { settings } = readConfiguration([join(commonDirectory, 'config')], homes);
  return settings
    .filter(({ name }) => /^(?:remote|url)\./.test(name))
    .map(({ name, value }) => `${name}=${value}`);
}

/** The path (absolute) that a URL names on this machine; undefined: another machine, or none. */
export function localPath(url: string, top: string): string | undefined {
  const path = url.replace(/^file:\/\//, '');
  const isElsewhere = /^[\w+.-]+:\/\//.test(path) || /^[^/]+:/.test(path);
  if (isElsewhere) return undefined;
  return path.startsWith('/') ? path : join(top, path);
}
