import { lstatSync, type BigIntStats } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { homeDirectory } from '../env.ts';
import { directoryNames } from './path-lookup.ts';
import { listSecretPaths } from './secret-paths.ts';

/** Directories that package managers and git fill with hard links to their own stores. */
const LINKED_DIRECTORIES =
  /\/(?:node_modules|\.pnpm-store|site-packages|\.git\/(?:[^/]+\/)*objects)\//;
/** The number of entries of one secret directory that are checked, and the depth of directories within it. */
const MAX_ENTRIES = 500;
const MAX_DEPTH = 2;
/** The time for which the list of secrets is reused, in milliseconds. */
const SECRETS_LIFETIME_MS = 10_000;

/**
 * Tells whether a file inside the roots may also have a name outside the roots: the file has several names (hard
 * links), and does not lie in a directory of packages or git objects, where hard links are usual. A person is
 * asked before such a file is read or written.
 *
 * pnpm, bun, uv and git create thousands of hard links, too many to ask about. Files in their directories are
 * therefore allowed, unless the file and its directory belong to different users, or the file is a known secret of
 * the home directory or the system.
 */
export function hasSuspiciousLinks(real: string, stats: BigIntStats): boolean {
  if (!stats.isFile() || stats.nlink <= 1n) return false;
  if (!LINKED_DIRECTORIES.test(real)) return true;
  return readStats(dirname(real))?.uid !== stats.uid || knownSecrets().has(identity(stats));
}

/** Makes the same check for a path instead of an open file; false if nothing exists at the path. */
export function pathHasSuspiciousLinks(real: string): boolean {
  const stats = readStats(real);
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
  const home = homeDirectory();
  if (known?.home !== home || now - known.at > SECRETS_LIFETIME_MS) {
    const identities = new Set<string>();
    for (const path of listSecretPaths(home)) {
      for (const each of identitiesBelow(path, 0)) identities.add(each);
    }
    known = { home, at: now, identities };
  }
  return known.identities;
}

function* identitiesBelow(path: string, depth: number): Generator<string> {
  const stats = readStats(path);
  if (stats?.isFile() === true) yield identity(stats);
  if (stats?.isDirectory() !== true || depth > MAX_DEPTH) return;
  const names = directoryNames(path).slice(0, MAX_ENTRIES);
  // A directory that cannot be listed is skipped: this user cannot have created links to its entries either.
  for (const name of names) yield* identitiesBelow(join(path, name), depth + 1);
}

function readStats(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (thrown) {
    // The path cannot be inspected or is not valid, so there is nothing to compare.
    if (systemErrorCode(thrown) !== undefined) return undefined;
    throw thrown;
  }
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
