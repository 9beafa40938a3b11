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

const LIMITS = { maxEntries: 50_000, maxMs: 150 };

/** The rules about files that a task may not read without a question. Paths are absolute and real. */
export interface ReadRules {
  /** True if a rule is about single paths. Otherwise no names have to be looked at. */
  readonly any: boolean;
  /** Returns true if a deny or ask rule may be about this path. */
  refuses(path: string): boolean;
  /** Returns true if a link leads to a file that may be read. */
  opens(link: string): boolean;
}

export function readRules({ rules, roots }: Rights, home: string): ReadRules {
  const narrowing = listReadRestrictions(rules);
  const refuses = (path: string): boolean =>
    couldRestrictRead(narrowing, { asked: path, real: path, insideRoots: true }, { roots, home });
  return {
    any: narrowing.length > 0,
    refuses,
    opens(link) {
      const { real, inside } = resolveInRoots(link, roots);
      return inside && !isSecretPath(real) && !refuses(real);
    },
  };
}

/**
 * Returns why a command that reads everything below a path is not proved: something there may not be read without a
 * question. Returns undefined if there is nothing of that kind.
 */
export async function protectedBelow(
  path: string,
  below: ReadDepth,
  rules: ReadRules,
): Promise<string | undefined> {
  switch (below) {
    case 'itself':
      return undefined;
    case 'names':
      return rules.any
        ? await walk(path, ({ path: entry }) => rules.refuses(entry), LIST_INSTEAD)
        : undefined;
    case 'contents':
      return await walk(path, (entry) => isHidden(entry, rules), SEARCH_INSTEAD);
    case 'followed':
      return await walk(
        path,
        (entry) => isHidden(entry, rules) || (entry.isLink && isDirectory(entry.path)),
        SEARCH_INSTEAD,
      );
    case 'tracked':
      return await hiddenInRepository(path, rules);
  }
}

const SEARCH_INSTEAD = 'name a smaller directory, or use Grep, which leaves such files out';
const LIST_INSTEAD = 'name a smaller directory, or use Glob';

function isHidden({ path, isLink }: SubtreeEntry, rules: ReadRules): boolean {
  return isSecretPath(path) || (rules.any && rules.refuses(path)) || (isLink && !rules.opens(path));
}

async function walk(
  directory: string,
  test: (entry: SubtreeEntry) => boolean,
  instead: string,
): Promise<string | undefined> {
  const found = await findInSubtree(directory, test, LIMITS);
  switch (found.end) {
    case 'none':
      return undefined;
    case 'found':
      return `below it lies ${JSON.stringify(found.path)}, which is not read unasked; ${instead}`;
    case 'limit':
      return `too much lies below ${JSON.stringify(directory)} to look at it all; ${instead}`;
  }
}

/** Finds protected files in a repository, whose content git shows also for files that are secret by their names. */
async function hiddenInRepository(path: string, rules: ReadRules): Promise<string | undefined> {
  const repository = findRepository(path);
  // Outside of a repository git compares all files and directories that it is given.
  if (repository === undefined) return await protectedBelow(path, 'contents', rules);
  const tracked = readTrackedFiles(repository);
  if (tracked === null) return 'it is not known which files the repository keeps; name files';
  const found = tracked.names
    .map((name) => join(repository.top, name))
    .find(
      (file) =>
        file !== path &&
        isInside(path, file) &&
        (isSecretPath(file) || (rules.any && rules.refuses(file))),
    );
  return found === undefined
    ? undefined
    : `the repository keeps ${JSON.stringify(found)}, which is not read unasked; name the files or directories that you want behind \`--\``;
}
