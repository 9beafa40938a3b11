import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { join } from 'node:path/posix';
import { listPaths, type ResolvedCall, type PathRisk } from '../../policy/call.ts';
import { isInside } from '../../base/path-inside.ts';
import { PATH_RISK_TEXTS } from '../../policy/hard-rules.ts';
import {
  createHardRuleCheck,
  createExclusionCheck,
  type SearchedDirectory,
} from '../../policy/excluded-paths.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { FileAccess, PathExclusion } from '../../protocol/tool.ts';
import { findGitControlPaths, isInGitDirectory } from '../../sys/git/control-paths.ts';
import { findRepository, type Repository } from '../../sys/git/repository.ts';
import { pathHasSuspiciousLinks } from '../../sys/files/hard-links.ts';
import { findRoot } from '../../sys/files/paths.ts';

/** The access of a call that opens no files. */
export const NO_FILES: FileAccess = {
  roots: [],
  judged: new Map(),
  excludedPathsBelow: () => null,
};

interface ReachFacts {
  readonly rights: Rights;
  readonly home: string;
  readonly stateDirectories: readonly string[];
}

/** Returns the access to files of a call that is allowed: exactly where its paths led when it was decided about. */
export function fileAccess(
  call: ResolvedCall,
  { rights, home, stateDirectories }: ReachFacts,
): FileAccess {
  const paths = listPaths(call.access);
  const linked = new Set(
    paths.filter(({ risk }) => risk === 'other_names').map(({ real }) => real),
  );
  const judged = paths.map(({ asked, real }) => {
    return [asked, { real, mayHaveOtherNames: linked.has(real) }] as const;
  });
  return {
    roots: openRoots(call, rights.roots),
    judged: new Map(judged),
    excludedPathsBelow: (directory) => {
      const ruled = createExclusionCheck(call, { rights, home }, directory);
      if (call.kind !== 'edit') return ruled;
      const guarded = createHardRuleCheck(directory, { roots: rights.roots, stateDirectories });
      const risky = createRiskCheck(directory, { roots: rights.roots, home });
      return (path) => ruled?.(path) ?? guarded(path) ?? risky(path);
    },
  };
}

/** Creates a check of the files below a directory that is changed as a whole, about which a person would be asked. */
function createRiskCheck({ real }: SearchedDirectory, place: FilePlace): PathExclusion {
  // Cached by directory, since this lookup is the most expensive part of the check.
  const known = new Map<string, readonly string[]>();
  const obeyed = (directory: string): readonly string[] => {
    const paths = known.get(directory) ?? obeyedFrom(directory, place);
    known.set(directory, paths);
    return paths;
  };
  const answered = findPathRisk(real, 'write', place).risk;
  return (path) => {
    const { risk } = findPathRisk(join(real, path), 'write', { ...place, obeyed });
    return risk === undefined || risk === answered ? undefined : `it ${PATH_RISK_TEXTS[risk]}`;
  };
}

/** Returns the roots, and the directories of files that were allowed outside of them. */
function openRoots(call: ResolvedCall, roots: readonly string[]): readonly string[] {
  const beyond = listPaths(call.access)
    .map((path) => path.real)
    .filter((path) => !roots.some((root) => isInside(root, path)));
  return [...roots, ...beyond.map((path) => (isDirectory(path) ? path : dirname(path)))];
}

/** Returns true if a path is a directory, or a link to one. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The path is missing or not readable, which is reported when it is opened.
    return false;
  }
}

/** The directories that the risk of a path depends on, absolute and real. */
interface FilePlace {
  readonly roots: readonly string[];
  readonly home: string;
  /** Returns the paths that git obeys in the repositories of a directory. Default: they are looked up. */
  readonly obeyed?: (directory: string) => readonly string[];
}

/** Finds the risk of reading or writing a path (absolute, real) from what is on the disk. */
export function findPathRisk(
  real: string,
  use: 'read' | 'write',
  place: FilePlace,
): { readonly risk?: PathRisk } {
  const root = findRoot(real, place.roots);
  if (use === 'write' && root !== undefined) {
    if (isInGitDirectory(real, root)) return { risk: 'git_directory' };
    if (isObeyedByGit(real, place)) return { risk: 'obeyed_by_git' };
  }
  return pathHasSuspiciousLinks(real) ? { risk: 'other_names' } : {};
}

function isObeyedByGit(real: string, place: FilePlace): boolean {
  const obeyed = place.obeyed ?? ((directory) => obeyedFrom(directory, place));
  return [dirname(real), ...place.roots].some((directory) =>
    obeyed(directory).some((path) => isInside(path, real)),
  );
}

/** Returns the hook directories and files that git obeys in the repositories around a directory. */
function obeyedFrom(directory: string, { roots, home }: FilePlace): readonly string[] {
  return repositoriesAbove(directory).flatMap((repository) => {
    const { hookDirectories, files } = findGitControlPaths(repository, { homes: [home], roots });
    return hookDirectories.concat(files);
  });
}

/** Returns the repositories of a directory and of all directories above it, since git may be started in any of them. */
function repositoriesAbove(directory: string): readonly Repository[] {
  const repository = findRepository(directory);
  if (repository === undefined) return [];
  const above = dirname(repository.top);
  return [repository, ...(above === repository.top ? [] : repositoriesAbove(above))];
}
