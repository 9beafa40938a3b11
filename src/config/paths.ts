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
 * Returns the directory of the user's own files: `$XDG_CONFIG_HOME/muster` or `~/.config/muster`, on macOS, too.
 */
export function userConfigDirectory(place: UserEnvironment): string {
  return join(xdgBase(place, 'XDG_CONFIG_HOME', '.config'), 'muster');
}

export function userConfigFile(place: UserEnvironment): string {
  return join(userConfigDirectory(place), 'config.toml');
}

/**
 * Returns the directory of logs and other state: `--data-dir`, else `MUSTER_DATA_DIR`, else `$XDG_DATA_HOME/muster`
 * or `~/.local/share/muster`. Relative paths are relative to `cwd`, and `~` is the home directory.
 */
export function dataDirectory(
  place: UserEnvironment,
  chosen: { readonly cwd: string; readonly dataDir?: string },
): string {
  const directory = chosen.dataDir ?? place.environment['MUSTER_DATA_DIR'];
  if (directory !== undefined && directory !== '')
    return toAbsolutePath(directory, chosen.cwd, place.home);
  return join(xdgBase(place, 'XDG_DATA_HOME', join('.local', 'share')), 'muster');
}

/** Whether a flag or `MUSTER_DATA_DIR` names the data directory. */
export function isDataDirectoryChosen(
  { environment }: Pick<UserEnvironment, 'environment'>,
  dataDir?: string,
): boolean {
  return (dataDir ?? environment['MUSTER_DATA_DIR'] ?? '') !== '';
}

/**
 * Returns a base directory. By the XDG base directory specification, a relative or empty value counts as not set.
 */
function xdgBase(place: UserEnvironment, variable: string, fallback: string): string {
  const value = expandHome(place.environment[variable] ?? '', place.home);
  return isAbsolute(value) ? value : join(place.home, fallback);
}

const PROJECT_FILE = join('.muster', 'config.toml');

/**
 * Returns the configuration files of the project of `cwd`, nearest first, up to the root of its repository, or of
 * `cwd` alone outside of a repository. Only the nearest one that is trusted has an effect.
 */
export function findConfigFiles(cwd: string): readonly string[] {
  return listProjectDirectories(resolve(cwd))
    .map((directory) => join(directory, PROJECT_FILE))
    .filter(exists);
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at (no right to enter, a link loop) is not this project's configuration.
    return false;
  }
}
