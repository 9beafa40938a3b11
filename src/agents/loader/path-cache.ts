import { readdirSync, statSync } from 'node:fs';

/**
 * Bytes that a directory says it takes. A larger one is not listed: that would cost more than to look at each
 * path in it, and one that holds very many files is not to slow a start down.
 */
const LISTED_BYTES = 4096;

/**
 * Looks at paths, most of which do not exist. What the given directories hold is listed once, so that what is
 * not in them costs no further call; for one search, since what comes later is not seen.
 */
export class Looks {
  /** Each ends in a slash; those further down first. */
  readonly #directories: readonly string[];
  /** Names in small letters; null: not known. */
  readonly #names = new Map<string, ReadonlySet<string> | null>();
  readonly #looked = new Map<string, boolean>();

  constructor(directories: readonly string[]) {
    this.#directories = [...new Set(directories)]
      .map((path) => (path.endsWith('/') ? path : `${path}/`))
      .toSorted((a, b) => b.length - a.length);
  }

  /** Whether there is something to look at. Tells of most that there is not without the cost of an error. */
  mayExist(path: string): boolean {
    const known = this.#looked.get(path);
    if (known !== undefined) return known;
    const found = this.#mayBeListed(path) && exists(path);
    this.#looked.set(path, found);
    return found;
  }

  #mayBeListed(path: string): boolean {
    const directory = this.#directories.find((each) => path.startsWith(each));
    if (directory === undefined) return true;
    const [name = ''] = path.slice(directory.length).split('/', 1);
    // A file system may take other letters, and other ways to write one, for the same name.
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
    if (!stats.isDirectory() || stats.size > LISTED_BYTES) return null;
    return new Set(readdirSync(directory).map((name) => name.toLowerCase()));
  } catch {
    // It may not be listed; what is in it can perhaps be looked at all the same.
    return null;
  }
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // It is there and cannot be looked at; whoever opens it says why.
    return true;
  }
}
