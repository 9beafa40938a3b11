import { join, relative } from 'node:path/posix';
import ignore from 'ignore';
import type { Ignore } from 'ignore';
import { isInside, type CallPath } from '../call.ts';

/** The directories to which patterns are relative; all absolute. */
export interface PatternBases {
  /** The workspace roots, the working directory first. */
  readonly roots: readonly string[];
  readonly home: string;
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
  if (/^~[^/]/.test(pattern)) return 'of home directories only `~/` is known.';
  if (pattern.split('/').includes('..'))
    return '`..` is not followed; write `//` and the whole path.';
  return undefined;
}

/** Tells whether a pattern matches both the path that was asked for *and* the path that it leads to. For allow rules. */
export function patternMatchesPath(pattern: string, path: CallPath, bases: PatternBases): boolean {
  return findAnchors(pattern, bases).some((anchor) =>
    [path.asked, path.real].every((each) => matches(anchor, each, { ignoreCase: false })),
  );
}

/**
 * Tells whether a pattern could match the path that was asked for *or* the path that it leads to, or everything in it if it is
 * a directory. Ignores case. For deny and ask rules.
 */
export function patternCouldMatchPath(
  pattern: string,
  path: CallPath,
  bases: PatternBases,
): boolean {
  return [path.asked, path.real].some((each) =>
    findPossibleAnchors(pattern, each, bases).some(
      (anchor) =>
        matches(anchor, each, { ignoreCase: true }) ||
        matches(anchor, join(each, ANY_CHILD), { ignoreCase: true }),
    ),
  );
}

/**
 * Creates a function that tells whether a pattern could match a path below a directory, as `patternCouldMatchPath`
 * does, for many paths. The function takes a path relative to the directory, with a `/` at the end for a directory.
 * The pattern is compiled for this function alone, since a compiled pattern remembers each path that it has seen.
 *
 * @param directory absolute
 */
export function createPatternMatcher(
  pattern: string,
  directory: string,
  bases: PatternBases,
): (path: string) => boolean {
  const probe = join(directory, ANY_CHILD);
  const matchers = findPossibleAnchors(pattern, probe, bases).map(({ base, line }) => ({
    base,
    rules: ignore({ ignoreCase: true }).add({ pattern: line.normalize() }),
  }));
  return (path) => {
    const full = join(directory, path);
    return matchers.some(({ base, rules }) => {
      if (!isInside(base, full)) return false;
      const rest = relative(base, full).normalize();
      return rest !== '' && rules.ignores(path.endsWith('/') ? `${rest}/` : rest);
    });
  };
}

/** A name that no pattern contains, so that only patterns for everything in a directory match it. */
export const ANY_CHILD = '\u0001';

function findAnchors(pattern: string, { roots, home }: PatternBases): readonly Anchor[] {
  if (pattern.startsWith('//')) return [{ base: '/', line: pattern.slice(1) }];
  if (pattern.startsWith('~/')) return [{ base: home, line: pattern.slice(1) }];
  const line = pattern.startsWith('./') ? pattern.slice(1) : pattern;
  return roots.slice(0, 1).map((base) => ({ base, line }));
}

/**
 * Finds the anchors of every meaning that a person may have had in mind: relative to any root, `/x` as an absolute
 * path, and a bare name anywhere outside the roots.
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

/** Compiling takes longer than a decision may, so compiled patterns are cached. Their number is limited, since each remembers the paths that it has seen. */
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
 * `x/*`, `x/**`). It has every meaning that it has in `patternCouldMatchPath`, but a bare name names only the path at
 * the top of each root. Any other pattern with a wildcard names no path.
 */
export function listNamedPaths(pattern: string, bases: PatternBases): readonly string[] {
  return findPossibleAnchors(pattern, bases.roots[0] ?? '/', bases).flatMap(({ base, line }) => {
    const names = line.replace(/(?<!\\) +$/, '').split('/');
    while (/^\**$/.test(names.at(-1) ?? '-')) names.pop();
    // A leading `**` means at any depth, as a bare name does.
    const named = names.filter((name) => name !== '' && name !== '**');
    if (named.some((name) => WILDCARD.test(name))) return [];
    return [join(base, ...named.map((name) => name.replace(/\\(.)/g, '$1')))];
  });
}

/** Matches a wildcard character that is not escaped. */
const WILDCARD = /^(?:[^\\]|\\.)*?[*?[]/;

/** Escapes a path, so that as a pattern it matches this path alone: patterns have the syntax of gitignore lines. */
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

/** Rewrites a relative pattern from the root of the file system, so that it means the same with any roots. */
export function makePatternAbsolute(pattern: string, root: string): string {
  const base = `/${root === '/' ? '' : escapePathPattern(root)}/`;
  if (/^\.?\//.test(pattern)) return base + pattern.replace(/^\.?\//, '');
  return pattern.replace(/\/$/, '').includes('/') ? base + pattern : `${base}**/${pattern}`;
}
