import { isAbsolute, join } from 'node:path';
import type { Environment } from '../sys/env.ts';
import { toAbsolutePath, expandHome } from '../sys/files/paths.ts';

/** The person whose files are meant. `home` is absolute. */
export interface UserPlace {
  readonly environment: Environment;
  readonly home: string;
}

/** Where the user's own files lie: `$XDG_CONFIG_HOME/muster` or `~/.config/muster`, on macOS too. */
export function userConfigDir(place: UserPlace): string {
  return join(xdgBase(place, 'XDG_CONFIG_HOME', '.config'), 'muster');
}

export function userConfigFile(place: UserPlace): string {
  return join(userConfigDir(place), 'config.toml');
}

/**
 * Where logs and other state lie: `--data-dir`, else `MUSTER_DATA_DIR`, else `$XDG_DATA_HOME/muster`
 * or `~/.local/share/muster`. Relative ones count from `cwd`, and `~` is
 * the home directory.
 */
export function dataDir(
  place: UserPlace,
  chosen: { readonly cwd: string; readonly dataDir?: string },
): string {
  const wish = chosen.dataDir ?? place.environment['MUSTER_DATA_DIR'];
  if (wish !== undefined && wish !== '') return toAbsolutePath(wish, chosen.cwd, place.home);
  return join(xdgBase(place, 'XDG_DATA_HOME', join('.local', 'share')), 'muster');
}

/** By the XDG base directory specification a relative or empty value counts as not set. */
function xdgBase(place: UserPlace, variable: string, fallback: string): string {
  const value = expandHome(place.environment[variable] ?? '', place.home);
  return isAbsolute(value) ? value : join(place.home, fallback);
}
