import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../sys/env.ts';
import { toAbsolutePath, expandHome } from '../sys/files/paths.ts';
import { listProjectDirectories } from '../sys/files/project-directories.ts';

/** The environment variables and the absolute home directory of a user. */
export interface UserEnvironment {
  readonly environment: Environment;
  readonly home: string;
}

/**
 * Returns the directory of the user's own files: `$XDG_CONFIG_HOME/muster`, else `~/.config/muster`. It is the same on
 * macOS.
 */
export function userConfigDirectory(user: UserEnvironment): string {
  return join(xdgBase(user, 'XDG_CONFIG_HOME', '.config'), 'muster');
}

export function userConfigFile(user: UserEnvironment): string {
  return join(userConfigDirectory(user), 'config.toml');
}

/**
 * Returns the data directory: `--data-dir`, else `MUSTER_DATA_DIR`, else `$XDG_DATA_HOME/muster`, else
 * `~/.local/share/muster`. Relative paths are relative to `cwd`, and `~` is the home directory.
 */
export function dataDirectory(
  user: UserEnvironment,
  chosen: { readonly cwd: string; readonly dataDir?: string },
): string {
  const directory = chosen.dataDir ?? user.environment['MUSTER_DATA_DIR'];
  if (directory !== undefined && directory !== '')
    return toAbsolutePath(directory, chosen.cwd, user.home);
  return join(xdgBase(user, 'XDG_DATA_HOME', join('.local', 'share')), 'muster');
}

/** Whether a flag or `MUSTER_DATA_DIR` names the data directory. */
export function isDataDirectoryChosen(
  { environment }: Pick<UserEnvironment, 'environment'>,
  dataDir?: string,
): boolean {
  return (dataDir ?? environment['MUSTER_DATA_DIR'] ?? '') !== '';
}

/**
 * Returns a base directory. According to the XDG base directory specification, a relative or empty value counts as not
 * set.
 */
function xdgBase(user: UserEnvironment, variable: string, fallback: string): string {
  const value = expandHome(user.environment[variable] ?? '', user.home);
  return isAbsolute(value) ? value : join(user.home, fallback);
}

const PROJECT_FILE = join('.muster', 'config.toml');

/**
 * Returns the configuration files of the project of `cwd`, nearest first, up to the root of its repository. Outside of
 * a repository, only `cwd` is searched. Only the nearest trusted file has an effect.
 */
export function findConfigFiles(cwd: string): readonly string[] {
  return listProjectDirectories(resolve(cwd))
    .map((directory) => join(directory, PROJECT_FILE))
    .filter(fileExists);
}

function fileExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A path that cannot be examined (no permission, a loop of links) counts as absent.
    return false;
  }
}
