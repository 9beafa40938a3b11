import { join, relative } from 'node:path/posix';
import ignore from 'ignore';
import type { Ignore } from 'ignore';
import { isInside } from '../../base/path-inside.ts';
import type { CallPath } from '../call.ts';
import {
  listSourcePaths,
  listWorkspacePaths,
  type WorkspaceTrees,
} from '../../protocol/workspace-paths.ts';

/** The directories to which patterns can be relative. All are absolute. */
export interface PatternBases {
  /** The workspace roots, the working directory first. */
  readonly roots: readonly string[];
  readonly home: string;
  /**
   * The workspace of the task. A pattern that matches a path in its source matches the same path in the workspace.
   * Default: none.
   */
  readonly workspace?: WorkspaceTrees | undefined;
}

interface Anchor {
  readonly base: string;
  /** A gitignore line, relative to `base`. */
  readonly line: string;
}

/** Explains in a sentence what is wrong with a path pattern. Returns undefined if it is valid. */
export function findPathPatternProblem(pattern: string): string | undefined {
  if (/^[!#]/.test(pattern))
    return `write a path that starts with ${pattern[0]} as \`./${pattern}\`.`;
  if (/^(?:~|\.|\/)?\/*$/.test(pattern)) return 'write `./**` for everything below a directory.';
  if (/^~[^/]/.test(pattern))
    return '`~` must be followed by `/`; write an absolute path as `//path`.';
  if (pattern.split('/').includes('..'))
    return '`..` is not followed; write `//` and the whole path.';
  return undefined;
}

/** Tells whether a pattern of an allow rule matches both the requested path *and* the real path. */
export function patternMatchesPath(pattern: string, path: CallPath, bases: PatternBases): boolean {
  return findAnchors(pattern, bases).some((anchor) =>
    [path.asked, path.real].every((each) =>
      withSource(each, bases).some((name) => matches(anchor, name, { ignoreCase: false })),
    ),
  );
}

/**
 * Tells whether a pattern of a deny or ask rule could match the requested path *or* the real path, or everything in it
 * if it is a directory. Ignores case.
 */
export function patternCouldMatchPath(
  pattern: string,
  path: CallPath,
  bases: PatternBases,
): boolean {
  return [path.asked, path.real]
    .flatMap((each) => withSource(each, bases))
    .some((each) =>
      findPossibleAnchors(pattern, each, bases).some(
        (anchor) =>
          matches(anchor, each, { ignoreCase: true }) ||
          matches(anchor, join(each, ANY_CHILD), { ignoreCase: true }),
      ),
    );
}

/** Returns a path and, if it lies in the workspace, the paths for which it stands. */
function withSource(path: string, { workspace }: PatternBases): readonly string[] {
  return workspace === undefined ? [path] : [path, ...listSourcePaths(path, workspace)];
}

/**
 * Creates a function that tells whether a pattern could match a path below a directory, as `patternCouldMatchPath`
 * does, for many paths. The function takes a path relative to the directory, with a `/` at the end for a directory.
 * The pattern is compiled separately for each returned function, because a compiled pattern caches every tested path.
 *
 * @param directory absolute
 */
export function createPatternMatcher(
  pattern: string,
  directory: string,
  bases: PatternBases,
): (path: string) => boolean {
  const matchers = withSource(directory, bases).flatMap((each) =>
    findPossibleAnchors(pattern, join(each, ANY_CHILD), bases).map(({ base, line }) => ({
      directory: each,
      base,
      rules: ignore({ ignoreCase: true }).add({ pattern: line.normalize() }),
    })),
  );
  return (path) => {
    return matchers.some(({ directory: above, base, rules }) => {
      const full = join(above, path);
      if (!isInside(base, full)) return false;
      const rest = relative(base, full).normalize();
      return rest !== '' && rules.ignores(path.endsWith('/') ? `${rest}/` : rest);
    });
  };
}

/** A name that no pattern contains, so that only patterns for everything in a directory match a path with this name. */
export const ANY_CHILD = '\u0001';

function findAnchors(pattern: string, { roots, home }: PatternBases): readonly Anchor[] {
  if (pattern.startsWith('//')) return [{ base: '/', line: pattern.slice(1) }];
  if (pattern.startsWith('~/')) return [{ base: home, line: pattern.slice(1) }];
  const line = pattern.startsWith('./') ? pattern.slice(1) : pattern;
  return roots.slice(0, 1).map((base) => ({ base, line }));
}

/**
 * Finds the anchors for every possible meaning of a pattern: relative to any root, `/x` as an absolute path, and a bare
 * name anywhere outside the roots.
 */
function findPossibleAnchors(
  pattern: string,
  path: string,
  bases: PatternBases,
): readonly Anchor[] {
  if (/^(?:\/\/|~\/|\.\/)/.test(pattern)) return findAnchors(pattern, bases);
  const inRoots = bases.roots.map((base) => ({ base, line: pattern }));
  const isBare = !pattern.replace(/\/$/, '').includes('/');
  const isAnywhere =
    pattern.startsWith('/') || (isBare && !bases.roots.some((root) => isInside(root, path)));
  return isAnywhere ? [...inRoots, { base: '/', line: pattern }] : inRoots;
}

function matches(anchor: Anchor, path: string, options: { readonly ignoreCase: boolean }): boolean {
  if (!isInside(anchor.base, path)) return false;
  const rest = relative(anchor.base, path);
  if (rest === '') return false;
  // Some file systems also treat the composed and the decomposed form of a letter as the same name.
  return options.ignoreCase
    ? compile(anchor.line.normalize(), options.ignoreCase).ignores(rest.normalize())
    : compile(anchor.line, options.ignoreCase).ignores(rest);
}

const MAX_COMPILED = 1000;
const COMPILED = new Map<string, Ignore>();

/**
 * Returns the compiled pattern from a cache, because compiling would slow decisions down. The size of the cache is
 * limited, because each compiled pattern itself caches the tested paths.
 */
function compile(line: string, ignoreCase: boolean): Ignore {
  const key = `${ignoreCase ? 'i' : 'c'}${line}`;
  const known = COMPILED.get(key);
  if (known !== undefined) return known;
  if (COMPILED.size >= MAX_COMPILED) COMPILED.clear();
  const matcher = ignore({ ignoreCase }).add({ pattern: line });
  COMPILED.set(key, matcher);
  return matcher;
}

/**
 * Lists the absolute paths that a pattern names without a wildcard: a file, or everything in a directory (`x`, `x/`,
 * `x/*`, `x/**`). A pattern has the same meanings as in `patternCouldMatchPath`, but a bare name only names the path
 * directly in each root. Any other pattern with a wildcard names no path.
 */
export function listNamedPaths(pattern: string, bases: PatternBases): readonly string[] {
  return findPossibleAnchors(pattern, bases.roots[0] ?? '/', bases).flatMap(({ base, line }) => {
    const names = line.replace(/(?<!\\) +$/, '').split('/');
    while (/^\**$/.test(names.at(-1) ?? '-')) names.pop();
    // A leading `**` means at any depth, as a bare name does.
    const named = names.filter((name) => name !== '' && name !== '**');
    if (named.some((name) => WILDCARD.test(name))) return [];
    const path = join(base, ...named.map((name) => name.replace(/\\(.)/g, '$1')));
    const { workspace } = bases;
    return workspace === undefined ? [path] : [path].concat(listWorkspacePaths(path, workspace));
  });
}

/** Matches a wildcard character that is not escaped. */
const WILDCARD = /^(?:[^\\]|\\.)*?[*?[]/;

/** Converts a path to a pattern that matches only this path. Patterns have the syntax of gitignore lines. */
export function escapePathPattern(path: string): string {
  return path
    .replace(/[\\*?[\]]/g, '\\$&')
    .replace(/^[!#]/, './$&')
    .replace(/ $/, '\\ ');
}

/** Tells whether the meaning of a pattern depends on the roots. */
export function isRelativePattern(pattern: string): boolean {
  return !/^(?:\/\/|~\/)/.test(pattern);
}

/** Converts a relative pattern to an absolute pattern, whose meaning does not depend on the roots. */
export function makePatternAbsolute(pattern: string, root: string): string {
  const base = `/${root === '/' ? '' : escapePathPattern(root)}/`;
  if (/^\.?\//.test(pattern)) return base + pattern.replace(/^\.?\//, '');
  return pattern.replace(/\/$/, '').includes('/') ? base + pattern : `${base}**/${pattern}`;
}
