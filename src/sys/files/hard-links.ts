import { lstatSync, type BigIntStats } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { directoryNames } from './path-lookup.ts';
import { listSecretPaths } from './secret-paths.ts';

/** Directories that package managers and git fill with hard links to their own stores. */
const LINKED_DIRECTORIES =
  /\/(?:node_modules|\.pnpm-store|site-packages|\.git\/(?:[^/]+\/)*objects)\//;
/** The number of entries of one secret directory that are checked, and the depth of directories within it. */
const MAX_ENTRIES = 500;
const MAX_DEPTH = 2;
/** The time for which the list of secrets is reused. */
const KNOWN_MS = 10_000;

/**
 * Tells whether a file that was opened by a path inside the roots may also be a file outside of them: it has
 * another name (a hard link), and no directory of packages or git objects explains that. A person is asked
 * before such a file is read or written.
 *
 * pnpm, bun, uv and git make thousands of hard links, and a question for each would help nobody. Files in their
 * directories are therefore allowed, unless they belong to another user than their directory, or are one of the
 * known secrets of the home directory or the system.
 */
export function hasSuspiciousLinks(real: string, stats: BigIntStats): boolean {
  if (!stats.isFile() || stats.nlink <= 1n) return false;
  if (!LINKED_DIRECTORIES.test(real)) return true;
  return look(dirname(real))?.uid !== stats.uid || knownSecrets().has(identity(stats));
}

/** Does the same check for a path that is not open; false if nothing is there. */
export function pathHasSuspiciousLinks(real: string): boolean {
  const stats = look(real);
  return stats !== undefined && hasSuspiciousLinks(real, stats);
}

interface KnownSecrets {
  readonly home: string;
  readonly at: number;
  readonly identities: ReadonlySet<string>;
}

let known: KnownSecrets | undefined;

function knownSecrets(): ReadonlySet<string> {
  const now = performance.now();
  const home = homedir();
  if (known?.home !== home || now - known.at > KNOWN_MS) {
    const identities = new Set<string>();
    for (const path of listSecretPaths(home)) {
      for (const each of identitiesBelow(path, 0)) identities.add(each);
    }
    known = { home, at: now, identities };
  }
  return known.identities;
}

function* identitiesBelow(path: string, depth: number): Generator<string> {
  const stats = look(path);
  if (stats?.isFile() === true) yield identity(stats);
  if (stats?.isDirectory() !== true || depth > MAX_DEPTH) return;
  const names = directoryNames(path).slice(0, MAX_ENTRIES);
  // Whoever may not list a directory cannot have linked to its entries by name either.
  for (const name of names) yield* identitiesBelow(join(path, name), depth + 1);
}

function look(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (thrown) {
    // It cannot be inspected, or is no path at all: there is nothing to compare.
    if (systemErrorCode(thrown) !== undefined) return undefined;
    throw thrown;
  }
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
