import { readdirSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { homeDirectory, type Environment } from '../../sys/env.ts';
import { isInside } from '../../base/path-inside.ts';
import { expandHome } from '../../sys/files/paths.ts';
import { listProjectDirectories } from '../../sys/files/project-directories.ts';

/** The user's own directories. */
export interface UserDirectories {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or `.config` in the home directory. */
  readonly config: string;
  /**
   * Returns the directory that an environment variable names, or undefined if the variable is not set or its path is
   * not absolute.
   */
  readonly readVariable: (variable: string) => string | undefined;
}

/** Returns the directories for the user's own files. */
function userDirectories(environment: Environment): UserDirectories {
  const home = homeDirectory(environment);
  // The XDG specification says that a relative path in XDG_CONFIG_HOME is to be ignored.
  const readVariable = (variable: string): string | undefined => {
    const path = expandHome(environment[variable] ?? '', home);
    return isAbsolute(path) ? path : undefined;
  };
  return { home, config: readVariable('XDG_CONFIG_HOME') ?? join(home, '.config'), readVariable };
}

/**
 * Functions that return the directory in which a product keeps the user's own files. The product's environment variable
 * has precedence over the default.
 */
export const PRODUCT_HOMES = {
  claude: ({ home, readVariable }: UserDirectories) =>
    readVariable('CLAUDE_CONFIG_DIR') ?? join(home, '.claude'),
  codex: ({ home, readVariable }: UserDirectories) =>
    readVariable('CODEX_HOME') ?? join(home, '.codex'),
  copilot: ({ home, readVariable }: UserDirectories) =>
    readVariable('COPILOT_HOME') ?? join(home, '.copilot'),
  gemini: ({ home, readVariable }: UserDirectories) =>
    join(readVariable('GEMINI_CLI_HOME') ?? home, '.gemini'),
  pi: ({ home, readVariable }: UserDirectories) =>
    readVariable('PI_CODING_AGENT_DIR') ?? join(home, '.pi', 'agent'),
  qwen: ({ home, readVariable }: UserDirectories) =>
    readVariable('QWEN_HOME') ?? join(home, '.qwen'),
} as const;

/** The owner of a directory, which decides whether the files in it must be trusted. */
export interface DirectoryOwner {
  readonly scope: 'project' | 'user';
  /**
   * The directory that files must be in, wherever links lead. For the user's own files, it is the root of the file
   * system, because some people keep all settings in one directory and link to them.
   */
  readonly boundary: string;
}

/**
 * Returns the owner of one of the user's directories. An environment variable may name any directory. A directory
 * inside the project (`root`) belongs to the project, so its files must be trusted.
 */
export function ownerOfDirectory(
  path: string,
  user: UserDirectories,
  root: string,
): DirectoryOwner {
  if (isInside(root, path) && !isInside(root, user.home)) {
    return { scope: 'project', boundary: root };
  }
  return { scope: 'user', boundary: '/' };
}

/** A plugin that the user has installed and enabled, in Muster or in Claude Code. */
export interface InstalledPlugin {
  readonly name: string;
  /** The absolute path of the plugin's directory. */
  readonly root: string;
  /** The product in whose format the plugin is written. */
  readonly vendor: 'claude' | 'gemini';
  /**
   * The absolute paths of its definitions, by the name of the directory for their kind. Default: this directory, and the
   * paths that the manifest declares.
   */
  readonly paths?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The directories in which definitions are searched for a working directory. A context serves only for searches at one
 * time, because it does not notice later changes.
 */
export interface SearchContext {
  /** The absolute path of the working directory. */
  readonly cwd: string;
  readonly user: UserDirectories;
  /** The directories of the project, from `cwd` up to the root of the project. */
  readonly directories: readonly string[];
  /** The root of the project. A link that leads out of it is not followed. */
  readonly root: string;
  readonly paths: PathCache;
  /** The active plugins that were installed in Muster. */
  readonly plugins: readonly InstalledPlugin[];
}

export function createSearchContext(
  cwd: string,
  environment: Environment,
  plugins: readonly InstalledPlugin[] = [],
): SearchContext {
  const user = userDirectories(environment);
  const directories = listProjectDirectories(cwd);
  const paths = new PathCache([...directories, user.home, user.config]);
  return { cwd, user, directories, root: directories.at(-1) ?? cwd, paths, plugins };
}

/**
 * The maximum size of a directory that is listed, in the bytes that `stat` reports. Listing a larger directory would
 * take longer than checking each path in it, and would slow down the start.
 */
const MAX_DIRECTORY_BYTES = 4096;

/**
 * Answers quickly whether paths exist, for searches in which most paths do not. Each directory of the cache is listed
 * only once, so that a check of a missing path in it needs no further system call. A cache serves only for searches at
 * one time, because it does not notice later changes.
 */
export class PathCache {
  /** The directories of the cache. Each ends with a slash. Nested directories come before their parents. */
  readonly #directories: readonly string[];
  /** The lower-case names in each directory, or null if they are not known. */
  readonly #names = new Map<string, ReadonlySet<string> | null>();
  readonly #pathExists = new Map<string, boolean>();

  constructor(directories: readonly string[]) {
    this.#directories = [...new Set(directories)]
      .map((path) => (path.endsWith('/') ? path : `${path}/`))
      .toSorted((a, b) => b.length - a.length);
  }

  /** Returns whether a path may exist. For most missing paths, no system call is needed. */
  mayExist(path: string): boolean {
    const known = this.#pathExists.get(path);
    if (known !== undefined) return known;
    const found = this.#isListed(path) && pathExists(path);
    this.#pathExists.set(path, found);
    return found;
  }

  #isListed(path: string): boolean {
    const directory = this.#directories.find((each) => path.startsWith(each));
    if (directory === undefined) return true;
    const [name = ''] = path.slice(directory.length).split('/', 1);
    // For other names, the answer is not certain, because a file system may treat different letters or encodings as the
    // same name.
    if (name === '.' || name === '..' || !/^[\x20-\x7e]+$/.test(name)) return true;
    return this.#readNames(directory)?.has(name.toLowerCase()) ?? true;
  }

  #readNames(directory: string): ReadonlySet<string> | null {
    const known = this.#names.get(directory);
    if (known !== undefined) return known;
    const names = readNames(directory);
    this.#names.set(directory, names);
    return names;
  }
}

function readNames(directory: string): ReadonlySet<string> | null {
  try {
    const stats = statSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) return new Set();
    if (!stats.isDirectory() || stats.size > MAX_DIRECTORY_BYTES) return null;
    return new Set(readdirSync(directory).map((name) => name.toLowerCase()));
  } catch {
    // The directory may not be listed, but paths in it can perhaps be accessed.
    return null;
  }
}

function pathExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The path cannot be examined, so it may exist. Opening it later gives the reason.
    return true;
  }
}
