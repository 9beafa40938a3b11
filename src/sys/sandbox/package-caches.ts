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
  /** The variable that tells the package manager the location of its cache. */
  readonly variable: string;
  /** The name in the directory of the private caches. */
  readonly name: string;
  /** The usual location, relative to the home directory. */
  readonly usual: string;
  /** True if downloaded packages are useful without a network, even if the cache cannot be written. */
  readonly isLibrary?: true;
}

/** Each row comes from the manual of its program. Other programs follow `XDG_CACHE_HOME`. */
const CACHES: readonly Cache[] = [
  { variable: 'npm_config_cache', name: 'npm', usual: '.npm' },
  { variable: 'PNPM_HOME', name: 'pnpm', usual: '.local/share/pnpm' },
  { variable: 'YARN_CACHE_FOLDER', name: 'yarn', usual: '.cache/yarn' },
  { variable: 'YARN_GLOBAL_FOLDER', name: 'yarn-berry', usual: '.yarn/berry' },
  { variable: 'COREPACK_HOME', name: 'corepack', usual: '.cache/node/corepack' },
  { variable: 'BUN_INSTALL_CACHE_DIR', name: 'bun', usual: '.bun/install/cache' },
  { variable: 'DENO_DIR', name: 'deno', usual: '.cache/deno' },
  { variable: 'PIP_CACHE_DIR', name: 'pip', usual: '.cache/pip' },
  { variable: 'UV_CACHE_DIR', name: 'uv', usual: '.cache/uv' },
  { variable: 'POETRY_CACHE_DIR', name: 'poetry', usual: '.cache/pypoetry' },
  { variable: 'PIPENV_CACHE_DIR', name: 'pipenv', usual: '.cache/pipenv' },
  { variable: 'CARGO_HOME', name: 'cargo', usual: '.cargo', isLibrary: true },
  { variable: 'GOMODCACHE', name: 'go-mod', usual: 'go/pkg/mod', isLibrary: true },
  { variable: 'GOCACHE', name: 'go-build', usual: '.cache/go-build' },
  { variable: 'GRADLE_USER_HOME', name: 'gradle', usual: '.gradle', isLibrary: true },
  { variable: 'NUGET_PACKAGES', name: 'nuget', usual: '.nuget/packages', isLibrary: true },
  { variable: 'COMPOSER_CACHE_DIR', name: 'composer', usual: '.cache/composer' },
  { variable: 'BUNDLE_USER_CACHE', name: 'bundler', usual: '.bundle/cache' },
  { variable: 'PUB_CACHE', name: 'pub', usual: '.pub-cache', isLibrary: true },
  { variable: 'CCACHE_DIR', name: 'ccache', usual: '.cache/ccache' },
  { variable: 'SCCACHE_DIR', name: 'sccache', usual: '.cache/sccache' },
];

/** Programs that keep caches, or are known to run one that does. */
const USERS =
  /\b(?:npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack|bun|bunx|deno|node-gyp|pip|pip3|uv|uvx|poetry|pipenv|cargo|go|gradle|gradlew|dotnet|nuget|composer|bundle|dart|flutter|ccache|sccache|make)\b/;

/**
 * Tells whether a command line names a program that keeps caches. Other commands use private caches only if
 * they already exist.
 */
export function usesPackageCaches(argv: readonly string[]): boolean {
  return argv.some((word) => USERS.test(word));
}

/** The locations of the caches for one command. */
export interface CacheLocations {
  /**
   * Returns the cache variables for a command, given its temporary directory (absolute), which is used if there
   * are no other caches.
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
  /** True if missing private caches are created. */
  readonly makes: boolean;
}

/** Locates the caches for one command, and creates the directories that it may write to. */
export function locateCaches(settings: CacheSettings | null, use: CacheUse): CacheLocations {
  const { mayWrite, network, makes } = use;
  if (settings?.kind === 'shared' && mayWrite) return sharedPlaces(settings);
  const directory =
    settings !== null && mayWrite ? privateDirectory(settings.directory, makes) : null;
  const used = CACHES.filter(({ name, usual, isLibrary }) => {
    if (isLibrary !== true || (network && directory !== null)) return true;
    const hasOwn = directory !== null && existsSync(join(directory, name));
    return hasOwn || settings === null || !existsSync(join(settings.home, usual));
  });
  return {
    variables: (scratch) => {
      const base = directory ?? join(scratch, '.cache');
      return Object.fromEntries(used.map(({ variable, name }) => [variable, join(base, name)]));
    },
    writable: directory === null ? [] : [directory],
  };
}

function sharedPlaces({ home, environment }: CacheSettings): CacheLocations {
  const places = CACHES.map(
    ({ variable, usual }) => [variable, environment[variable] ?? join(home, usual)] as const,
  );
  return {
    variables: () => Object.fromEntries(places),
    writable: places.map(([, path]) => path).filter(isDirectory),
  };
}

function isDirectory(path: string): boolean {
  return lstatIfPresent(path)?.isDirectory() === true;
}

/** Returns null if the directory is missing or cannot be created, or if others could change its content. */
function privateDirectory(path: string, makes: boolean): string | null {
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
