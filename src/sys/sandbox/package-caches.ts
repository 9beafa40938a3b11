import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { lstatIfPresent } from '../files/path-lookup.ts';
import type { Environment } from '../env.ts';

/** Settings for the caches of package managers in commands. */
export interface CacheSettings {
  /** `private`: Muster's own caches, which only commands use. `shared`: the caches of the user. */
  readonly kind: 'private' | 'shared';
  /** The directory of the private caches; absolute. Created when needed. */
  readonly directory: string;
  readonly home: string;
  /** The user's environment. Its cache variables apply to `shared`. */
  readonly environment: Environment;
}

interface Cache {
  /** The environment variable that sets the location of the cache. */
  readonly variable: string;
  /** The name in the directory of the private caches. */
  readonly name: string;
  /** The default location, relative to the home directory. */
  readonly defaultLocation: string;
  /** True if downloaded packages are useful without a network, even if the cache cannot be written. */
  readonly isLibrary?: true;
}

/** The caches of package managers, from their manuals. Programs that are not listed follow `XDG_CACHE_HOME`. */
const CACHES: readonly Cache[] = [
  { variable: 'npm_config_cache', name: 'npm', defaultLocation: '.npm' },
  { variable: 'PNPM_HOME', name: 'pnpm', defaultLocation: '.local/share/pnpm' },
  { variable: 'YARN_CACHE_FOLDER', name: 'yarn', defaultLocation: '.cache/yarn' },
  { variable: 'YARN_GLOBAL_FOLDER', name: 'yarn-berry', defaultLocation: '.yarn/berry' },
  { variable: 'COREPACK_HOME', name: 'corepack', defaultLocation: '.cache/node/corepack' },
  { variable: 'BUN_INSTALL_CACHE_DIR', name: 'bun', defaultLocation: '.bun/install/cache' },
  { variable: 'DENO_DIR', name: 'deno', defaultLocation: '.cache/deno' },
  { variable: 'PIP_CACHE_DIR', name: 'pip', defaultLocation: '.cache/pip' },
  { variable: 'UV_CACHE_DIR', name: 'uv', defaultLocation: '.cache/uv' },
  { variable: 'POETRY_CACHE_DIR', name: 'poetry', defaultLocation: '.cache/pypoetry' },
  { variable: 'PIPENV_CACHE_DIR', name: 'pipenv', defaultLocation: '.cache/pipenv' },
  { variable: 'CARGO_HOME', name: 'cargo', defaultLocation: '.cargo', isLibrary: true },
  { variable: 'GOMODCACHE', name: 'go-mod', defaultLocation: 'go/pkg/mod', isLibrary: true },
  { variable: 'GOCACHE', name: 'go-build', defaultLocation: '.cache/go-build' },
  { variable: 'GRADLE_USER_HOME', name: 'gradle', defaultLocation: '.gradle', isLibrary: true },
  {
    variable: 'NUGET_PACKAGES',
    name: 'nuget',
    defaultLocation: '.nuget/packages',
    isLibrary: true,
  },
  { variable: 'COMPOSER_CACHE_DIR', name: 'composer', defaultLocation: '.cache/composer' },
  { variable: 'BUNDLE_USER_CACHE', name: 'bundler', defaultLocation: '.bundle/cache' },
  { variable: 'PUB_CACHE', name: 'pub', defaultLocation: '.pub-cache', isLibrary: true },
  { variable: 'CCACHE_DIR', name: 'ccache', defaultLocation: '.cache/ccache' },
  { variable: 'SCCACHE_DIR', name: 'sccache', defaultLocation: '.cache/sccache' },
];

/** Matches programs that keep caches, or that run such programs. */
const CACHE_PROGRAMS =
  /\b(?:npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|bun|bunx|deno|node-gyp|pip|pip3|uv|uvx|poetry|pipenv|cargo|go|gradle|gradlew|dotnet|nuget|composer|bundle|dart|flutter|ccache|sccache|make)\b/;

/**
 * Tells whether a command line names a program that keeps caches. Other commands use private caches only if
 * they already exist.
 */
export function usesPackageCaches(argv: readonly string[]): boolean {
  return argv.some((word) => CACHE_PROGRAMS.test(word));
}

/** The locations of the caches for one command. */
export interface CacheLocations {
  /**
   * Returns the environment variables with the locations of caches. `scratch` is the temporary directory of the command
   * (absolute), which contains the caches if there is no other directory for them.
   */
  variables(scratch: string): Readonly<Record<string, string>>;
  /** Existing directories that the command may write to. Absolute. */
  readonly writable: readonly string[];
}

/** Properties of a command's confinement that matter to caches. */
export interface CacheUse {
  /** True if the command may write to more than its temporary directory. */
  readonly mayWrite: boolean;
  readonly network: boolean;
  /** True if the directory of the private caches is created if it is missing. */
  readonly makes: boolean;
  /** True if the command must not see what other commands have left in caches. */
  readonly isFresh: boolean;
}

/** Locates the caches for one command, and creates the directories that it may write to. */
export function locateCaches(settings: CacheSettings | null, use: CacheUse): CacheLocations {
  const { network, makes, isFresh } = use;
  const mayWrite = use.mayWrite && !isFresh;
  if (settings?.kind === 'shared' && mayWrite) return locateSharedCaches(settings);
  const directory =
    settings !== null && mayWrite ? openPrivateDirectory(settings.directory, makes) : null;
  const used = CACHES.filter(({ name, defaultLocation, isLibrary }) => {
    if (isLibrary !== true || (network && directory !== null)) return true;
    const hasOwn = directory !== null && existsSync(join(directory, name));
    return hasOwn || settings === null || !existsSync(join(settings.home, defaultLocation));
  });
  return {
    variables: (scratch) => {
      const base = directory ?? join(scratch, '.cache');
      return Object.fromEntries(used.map(({ variable, name }) => [variable, join(base, name)]));
    },
    writable: directory === null ? [] : [directory],
  };
}

function locateSharedCaches({ home, environment }: CacheSettings): CacheLocations {
  const locations = CACHES.map(
    ({ variable, defaultLocation }) =>
      [variable, environment[variable] ?? join(home, defaultLocation)] as const,
  );
  return {
    variables: () => Object.fromEntries(locations),
    writable: locations.map(([, path]) => path).filter(isDirectory),
  };
}

function isDirectory(path: string): boolean {
  return lstatIfPresent(path)?.isDirectory() === true;
}

/**
 * Returns the path of the directory, which is created if `makes` is true. Returns null if the directory is missing or
 * cannot be created, or if others could change its content.
 */
function openPrivateDirectory(path: string, makes: boolean): string | null {
  if (!makes && !existsSync(path)) return null;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if (!isDirectory(path)) return null;
    chmodSync(path, 0o700);
    return path;
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return null;
  }
}
