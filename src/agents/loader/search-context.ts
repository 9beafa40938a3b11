import { readdirSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { homeDirectory, type Environment } from '../../sys/env.ts';
import { expandHome, isInside } from '../../sys/files/paths.ts';
import { listProjectDirectories } from '../../sys/files/project-directories.ts';

/** The user's own directories. */
export interface UserDirectories {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or `.config` in the home directory. */
  readonly config: string;
  /** Returns the directory that an environment variable names, or undefined where it is not set or not absolute. */
  readonly named: (variable: string) => string | undefined;
}

/** Returns the directories that hold the user's own files. */
function userDirectories(environment: Environment): UserDirectories {
  const home = homeDirectory(environment);
  // The XDG specification says that a relative path in XDG_CONFIG_HOME is to be ignored.
  const named = (variable: string): string | undefined => {
    const path = expandHome(environment[variable] ?? '', home);
    return isAbsolute(path) ? path : undefined;
  };
  return { home, config: named('XDG_CONFIG_HOME') ?? join(home, '.config'), named };
}

/** The directories in which products keep the user's own files. An environment variable of the product may move them. */
export const PRODUCT_HOMES = {
  claude: ({ home, named }: UserDirectories) => named('CLAUDE_CONFIG_DIR') ?? join(home, '.claude'),
  codex: ({ home, named }: UserDirectories) => named('CODEX_HOME') ?? join(home, '.codex'),
  copilot: ({ home, named }: UserDirectories) => named('COPILOT_HOME') ?? join(home, '.copilot'),
  gemini: ({ home, named }: UserDirectories) => join(named('GEMINI_CLI_HOME') ?? home, '.gemini'),
  pi: ({ home, named }: UserDirectories) =>
    named('PI_CODING_AGENT_DIR') ?? join(home, '.pi', 'agent'),
  qwen: ({ home, named }: UserDirectories) => named('QWEN_HOME') ?? join(home, '.qwen'),
} as const;

/** The owner of a directory, which decides how far the files in it are trusted. */
export interface DirectoryOwner {
  readonly scope: 'project' | 'user';
  /**
   * The directory that no link may lead out of. For the user's own files it is the root of the file system,
   * because programs that keep all settings in one directory link to them from elsewhere.
   */
  readonly boundary: string;
}

/**
 * Returns the owner of one of the user's directories. An environment variable may name any directory: one inside
 * the project (`root`) belongs to the project, and must be trusted.
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

/** The directories around a working directory, as they are now. It serves the searches of one moment. */
export interface SearchContext {
  /** Absolute. */
  readonly cwd: string;
  readonly user: UserDirectories;
  /** The directories of the project, from `cwd` up to its root. */
  readonly directories: readonly string[];
  /** The root of the project. No link may lead out of it. */
  readonly root: string;
  readonly paths: PathCache;
}

export function createSearchContext(cwd: string, environment: Environment): SearchContext {
  const user = userDirectories(environment);
  const directories = listProjectDirectories(cwd);
  const paths = new PathCache([...directories, user.home, user.config]);
  return { cwd, user, directories, root: directories.at(-1) ?? cwd, paths };
}

/**
 * The largest size, in bytes as the directory reports it, of a directory that is listed. Listing a larger one
 * would cost more than looking up each path in it, and would slow down the start.
 */
const MAX_LISTED_BYTES = 4096;

/**
 * Tells which paths exist, where most of them do not. Each of the given directories is listed once, so that a
 * path that is not in it costs no further system call. A cache serves the searches of one moment: it does not
 * notice what is added later.
 */
export class PathCache {
  /** Each ends in a slash. Nested directories come before those around them. */
  readonly #directories: readonly string[];
  /** The lower-case names in each directory, or null where they are not known. */
  readonly #names = new Map<string, ReadonlySet<string> | null>();
  readonly #exists = new Map<string, boolean>();

  constructor(directories: readonly string[]) {
    this.#directories = [...new Set(directories)]
      .map((path) => (path.endsWith('/') ? path : `${path}/`))
      .toSorted((a, b) => b.length - a.length);
  }

  /** Whether a path may exist. For most paths that do not, the answer costs no failing system call. */
  mayExist(path: string): boolean {
    const known = this.#exists.get(path);
    if (known !== undefined) return known;
    const found = this.#isListed(path) && exists(path);
    this.#exists.set(path, found);
    return found;
  }

  #isListed(path: string): boolean {
    const directory = this.#directories.find((each) => path.startsWith(each));
    if (directory === undefined) return true;
    const [name = ''] = path.slice(directory.length).split('/', 1);
    // A file system may treat other letters, or other encodings of a letter, as the same name.
    if (name === '.' || name === '..' || !/^[\x20-\x7e]+$/.test(name)) return true;
    return this.#namesIn(directory)?.has(name.toLowerCase()) ?? true;
  }

  #namesIn(directory: string): ReadonlySet<string> | null {
    const known = this.#names.get(directory);
    if (known !== undefined) return known;
    const names = namesIn(directory);
    this.#names.set(directory, names);
    return names;
  }
}

function namesIn(directory: string): ReadonlySet<string> | null {
  try {
    const stats = statSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) return new Set();
    if (!stats.isDirectory() || stats.size > MAX_LISTED_BYTES) return null;
    return new Set(readdirSync(directory).map((name) => name.toLowerCase()));
  } catch {
    // It must not be listed, but paths in it can perhaps be looked up.
    return null;
  }
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // It exists and cannot be looked at. Opening it gives the reason.
    return true;
  }
}
