import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { join } from 'node:path/posix';
import { listPaths, type ResolvedCall, type PathRisk } from '../../policy/call.ts';
import { isInside } from '../../base/path-inside.ts';
import { PATH_RISK_TEXTS } from '../../policy/hard-rules.ts';
import {
  createHardRuleCheck,
  createExclusionCheck,
  describeExclusions,
  type SearchedDirectory,
} from '../../policy/excluded-paths.ts';
import type { PathExclusion } from '../../protocol/tool.ts';
import type { AccessBasis, CallFileAccess } from '../task/call-process.ts';
import { findGitControlPaths, isInGitDirectory } from '../../sys/git/control-paths.ts';
import { findRepository, type Repository } from '../../sys/git/repository.ts';
import { pathHasSuspiciousLinks } from '../../sys/files/hard-links.ts';
import { findRoot } from '../../sys/files/paths.ts';

/** The access of a call that opens no files. */
export const NO_FILES: CallFileAccess = {
  basis: null,
  roots: [],
  judged: new Map(),
  excludedPathsBelow: () => null,
};

/**
 * Creates the access to files of a call that is allowed. The call may open exactly the files to which its paths led at
 * the time of the decision.
 */
export function createFileAccess(basis: AccessBasis): CallFileAccess {
  const { call, rights, home, stateDirectories } = basis;
  const paths = listPaths(call.access);
  const withOtherNames = new Set(
    paths.filter(({ risk }) => risk === 'other_names').map(({ real }) => real),
  );
  const judged = paths.map(({ asked, real }) => {
    return [asked, { real, mayHaveOtherNames: withOtherNames.has(real) }] as const;
  });
  return {
    basis,
    roots: listOpenRoots(call, rights.roots),
    judged: new Map(judged),
    ...(call.kind === 'read' ? { exclusionsKey: describeExclusions(call, { rights, home }) } : {}),
    excludedPathsBelow: (directory) => {
      const byRule = createExclusionCheck(call, { rights, home }, directory);
      if (call.kind !== 'edit') return byRule;
      const { roots, workspace } = rights;
      const byHardRule = createHardRuleCheck(directory, { roots, workspace, stateDirectories });
      const byRisk = createRiskCheck(directory, { roots, home });
      return (path) => byRule?.(path) ?? byHardRule(path) ?? byRisk(path);
    },
  };
}

/**
 * Creates a check of the files below a directory that is changed as one. It excludes files with a risk about which a
 * person was not asked when the directory was allowed.
 */
function createRiskCheck({ real }: SearchedDirectory, context: RiskContext): PathExclusion {
  // The paths are cached by directory, since finding them is the most expensive part of the check.
  const known = new Map<string, readonly string[]>();
  const findObeyedPaths = (directory: string): readonly string[] => {
    const paths = known.get(directory) ?? findObeyedByGit(directory, context);
    known.set(directory, paths);
    return paths;
  };
  const allowedRisk = findPathRisk(real, 'write', context).risk;
  return (path) => {
    const { risk } = findPathRisk(join(real, path), 'write', { ...context, findObeyedPaths });
    return risk === undefined || risk === allowedRisk ? undefined : `it ${PATH_RISK_TEXTS[risk]}`;
  };
}

/** Lists the roots, and the directories of files that were allowed outside of the roots. */
function listOpenRoots(call: ResolvedCall, roots: readonly string[]): readonly string[] {
  const outside = listPaths(call.access)
    .map((path) => path.real)
    .filter((path) => !roots.some((root) => isInside(root, path)));
  return [...roots, ...outside.map((path) => (isDirectory(path) ? path : dirname(path)))];
}

/** Returns true if a path is a directory, or a link to one. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // The path is missing or not readable. The tool reports that when it opens the path.
    return false;
  }
}

/** The directories that the risk of a path depends on, absolute and real. */
interface RiskContext {
  readonly roots: readonly string[];
  readonly home: string;
  /** Returns the paths that git obeys in the repositories of a directory. Default: searches the disk at each call. */
  readonly findObeyedPaths?: (directory: string) => readonly string[];
}

/** Finds the risk of reading or writing a path (absolute, real), from the files that are on disk. */
export function findPathRisk(
  real: string,
  use: 'read' | 'write',
  context: RiskContext,
): { readonly risk?: PathRisk } {
  const root = findRoot(real, context.roots);
  if (use === 'write' && root !== undefined) {
    if (isInGitDirectory(real, root)) return { risk: 'git_directory' };
    if (isObeyedByGit(real, context)) return { risk: 'obeyed_by_git' };
  }
  return pathHasSuspiciousLinks(real) ? { risk: 'other_names' } : {};
}

function isObeyedByGit(real: string, context: RiskContext): boolean {
  const find = context.findObeyedPaths ?? ((directory) => findObeyedByGit(directory, context));
  return [dirname(real), ...context.roots].some((directory) =>
    find(directory).some((path) => isInside(path, real)),
  );
}

/** Finds the hook directories and files that git obeys in the repositories of a directory. */
function findObeyedByGit(directory: string, { roots, home }: RiskContext): readonly string[] {
  return findRepositoriesAbove(directory).flatMap((repository) => {
    const { hookDirectories, files } = findGitControlPaths(repository, { homes: [home], roots });
    return hookDirectories.concat(files);
  });
}

/** Finds the repositories of a directory and of all directories above it, since git may be started in any of them. */
function findRepositoriesAbove(directory: string): readonly Repository[] {
  const repository = findRepository(directory);
  if (repository === undefined) return [];
  const above = dirname(repository.top);
  return [repository, ...(above === repository.top ? [] : findRepositoriesAbove(above))];
}
