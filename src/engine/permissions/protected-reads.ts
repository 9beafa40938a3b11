import { join } from 'node:path';
import { isDirectory } from './file-access.ts';
import { isInside } from '../../base/path-inside.ts';
import { couldRestrictRead, listReadRestrictions } from '../../policy/rules/match-rules.ts';
import type { ReadDepth } from '../../policy/shell/read-only/proof.ts';
import type { Rights } from '../../protocol/permission.ts';
import { findInSubtree, type SubtreeEntry } from '../../sys/files/subtree-scan.ts';
import { readTrackedFiles } from '../../sys/git/tracked-files.ts';
import { findRepository } from '../../sys/git/repository.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';

/** The limits of a scan. A directory that exceeds them counts as not proved. */
const SCAN_LIMITS = { maxEntries: 50_000, maxMs: 150 };

/** The deny and ask rules about reading files. Paths are absolute and real. */
export interface ReadRules {
  /** True if there are such rules. Otherwise the names of files need not be checked. */
  readonly hasAny: boolean;
  /** Returns true if a deny or ask rule may be about this path. */
  mayConcern(path: string): boolean;
  /** Returns true if a link leads to a file that may be read without asking a person. */
  allowsLink(link: string): boolean;
}

/** Selects the rules about reading from the rules of a task. `home` is absolute and real. */
export function createReadRules({ rules, roots, workspace }: Rights, home: string): ReadRules {
  const bases = { roots, home, workspace };
  const readRules = listReadRestrictions(rules);
  const mayConcern = (path: string): boolean =>
    couldRestrictRead(readRules, { asked: path, real: path, insideRoots: true }, bases);
  return {
    hasAny: readRules.length > 0,
    mayConcern,
    allowsLink(link) {
      const { real, inside } = resolveInRoots(link, roots);
      return inside && !isSecretPath(real) && !mayConcern(real);
    },
  };
}

/**
 * Returns why a command that reads below a path is not proved: a file there may not be read without asking a person.
 * Returns undefined if there is no such file.
 */
export async function findProtectedBelow(
  path: string,
  depth: ReadDepth,
  rules: ReadRules,
): Promise<string | undefined> {
  switch (depth) {
    case 'itself':
      return undefined;
    case 'names':
      return rules.hasAny
        ? await search(path, ({ path: entry }) => rules.mayConcern(entry), LIST_INSTEAD)
        : undefined;
    case 'contents':
      return await search(path, (entry) => isProtected(entry, rules), SEARCH_INSTEAD);
    case 'followed':
      return await search(
        path,
        (entry) => isProtected(entry, rules) || (entry.isLink && isDirectory(entry.path)),
        SEARCH_INSTEAD,
      );
    case 'tracked':
      return await findProtectedTracked(path, rules);
  }
}

const SEARCH_INSTEAD = 'name a smaller directory, or use Grep, which leaves such files out';
const LIST_INSTEAD = 'name a smaller directory, or use Glob';

/** Returns true if a file or link may not be read without asking a person. */
function isProtected({ path, isLink }: SubtreeEntry, rules: ReadRules): boolean {
  return (
    isSecretPath(path) ||
    (rules.hasAny && rules.mayConcern(path)) ||
    (isLink && !rules.allowsLink(path))
  );
}

/**
 * Returns the reason if an entry below a directory passes the test, or if there are too many entries; else undefined.
 */
async function search(
  directory: string,
  test: (entry: SubtreeEntry) => boolean,
  instead: string,
): Promise<string | undefined> {
  const found = await findInSubtree(directory, test, SCAN_LIMITS);
  switch (found.end) {
    case 'none':
      return undefined;
    case 'found':
      return `below it is ${JSON.stringify(found.path)}, which may not be read without asking; ${instead}`;
    case 'limit':
      return `there are too many files below ${JSON.stringify(directory)} to check them all; ${instead}`;
  }
}

/** Returns why a git command is not proved: it shows the content of all tracked files, and one of them is protected. */
async function findProtectedTracked(path: string, rules: ReadRules): Promise<string | undefined> {
  const repository = findRepository(path);
  // Outside of a repository, git compares all files below the directories in its arguments.
  if (repository === undefined) return await findProtectedBelow(path, 'contents', rules);
  const tracked = readTrackedFiles(repository);
  if (tracked === null) return "the files of the repository can't be listed; name single files";
  const found = tracked.names
    .map((name) => join(repository.top, name))
    .find(
      (file) =>
        file !== path &&
        isInside(path, file) &&
        (isSecretPath(file) || (rules.hasAny && rules.mayConcern(file))),
    );
  return found === undefined
    ? undefined
    : `the repository contains ${JSON.stringify(found)}, which may not be read without asking; name the files or directories that you want after \`--\``;
}
