import { lstatSync, readdirSync, type BigIntStats } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { listSecretPaths } from './secret-paths.ts';

/** What package managers and git fill with hard links to their own stores. */
const LINKED_DIRECTORIES =
  /\/(?:node_modules|\.pnpm-store|site-packages|\.git\/(?:[^/]+\/)*objects)\//;
/** Entries of one secret directory that are looked at, and directories within it. */
const MAX_ENTRIES = 500;
const MAX_DEPTH = 2;
/** How long the secrets that were found are taken to be all. */
const KNOWN_MS = 10_000;

/**
 * Whether a file that was opened by a path inside the roots may as well be one outside of them: it has
 * another name (a hard link), and no directory of packages or git objects explains that. Such a file is
 * asked of a person, for reading and for writing.
 *
 * pnpm, bun, uv and git make hard links by the thousand, and asking for each would be no use to anybody:
 * what lies in their directories is free, unless it belongs to another user than its directory does, or
 * is one of the known secrets of the home directory or the system.
 */
export function hasSuspiciousLinks(real: string, stats: BigIntStats): boolean {
  if (!stats.isFile() || stats.nlink <= 1n) return false;
  if (!LINKED_DIRECTORIES.test(real)) return true;
  return ownerOf(dirname(real)) !== stats.uid || knownSecrets().has(identity(stats));
}

/** The same for a path that is not opened yet; false for what is not there. */
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
  for (const name of entriesOf(path)) yield* identitiesBelow(join(path, name), depth + 1);
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory).slice(0, MAX_ENTRIES);
  } catch (thrown) {
    // Whoever may not list it could not have linked to what is in it by name either.
    if (systemErrorCode(thrown) !== undefined) return [];
    throw thrown;
  }
}

function ownerOf(directory: string): bigint | undefined {
  return look(directory)?.uid;
}

function look(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (thrown) {
    // Not to be looked at, or no path at all: there is nothing to compare with.
    if (systemErrorCode(thrown) !== undefined) return undefined;
    throw thrown;
  }
}

function identity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
