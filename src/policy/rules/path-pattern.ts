import { join, relative } from 'node:path/posix';
import ignore from 'ignore';
import type { Ignore } from 'ignore';
import { isInside } from '../call.ts';
import type { CallPath } from '../call.ts';

/** What relative patterns are relative to. All absolute. */
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

/** What is wrong with a path pattern, as a sentence; undefined when it is right. */
export function findPathPatternProblem(pattern: string): string | undefined {
  if (/^[!#]/.test(pattern))
    return `write a path that starts with ${pattern[0]} as \`./${pattern}\`.`;
  if (/^(?:~|\.|\/)?\/*$/.test(pattern)) return 'write `./**` for everything below a directory.';
  if (/^~[^/]/.test(pattern)) return 'of home directories only `~/` is known.';
  if (pattern.split('/').includes('..'))
    return '`..` is not followed; write `//` and the whole path.';
  return undefined;
}

/** Whether a pattern surely means this path: as asked *and* as it really is. For rules that allow. */
export function patternMatchesPath(pattern: string, path: CallPath, place: PatternBases): boolean {
  return anchors(pattern, place).some((anchor) =>
    [path.asked, path.real].every((each) => matches(anchor, each, { ignoreCase: false })),
  );
}

/**
 * Whether a pattern could mean this path or, were it a directory, all that lies in it; as asked *or* as
 * it really is, case ignored. For rules that refuse or ask.
 */
export function patternCouldMatchPath(
  pattern: string,
  path: CallPath,
  place: PatternBases,
): boolean {
  return [path.asked, path.real].some((each) =>
    wideAnchors(pattern, each, place).some(
      (anchor) =>
        matches(anchor, each, { ignoreCase: true }) ||
        matches(anchor, join(each, ANY_CHILD), { ignoreCase: true }),
    ),
  );
}

/**
 * Whether a pattern could mean a path below a directory (absolute), given relative to it, a directory's
 * with `/` at its end; as `pathCouldMatch`, for many paths. Compiled for these alone, and forgotten with
 * them: the matcher keeps each path that it has seen.
 */
export function createPatternMatcher(
  pattern: string,
  directory: string,
  place: PatternBases,
): (path: string) => boolean {
  const probe = join(directory, ANY_CHILD);
  const matchers = wideAnchors(pattern, probe, place).map(({ base, line }) => ({
    base,
    rules: ignore({ ignoreCase: true }).add({ pattern: line.normalize() }),
  }));
  return (path) => {
    const whole = join(directory, path);
    return matchers.some(({ base, rules }) => {
      if (!isInside(base, whole)) return false;
      const rest = relative(base, whole).normalize();
      return rest !== '' && rules.ignores(path.endsWith('/') ? `${rest}/` : rest);
    });
  };
}

/** A name that no pattern spells out, so that only one for everything in a directory matches it. */
export const ANY_CHILD = '\u0001';

function anchors(pattern: string, { roots, home }: PatternBases): readonly Anchor[] {
  if (pattern.startsWith('//')) return [{ base: '/', line: pattern.slice(1) }];
  if (pattern.startsWith('~/')) return [{ base: home, line: pattern.slice(1) }];
  const line = pattern.startsWith('./') ? pattern.slice(1) : pattern;
  return roots.slice(0, 1).map((base) => ({ base, line }));
}

/**
 * With every other reading that a person may have had in mind: relative to any root, `/x` as an
 * absolute path, and a bare name anywhere outside the roots.
 */
function wideAnchors(pattern: string, path: string, place: PatternBases): readonly Anchor[] {
  if (/^(?:\/\/|~\/|\.\/)/.test(pattern)) return anchors(pattern, place);
  const inRoots = place.roots.map((base) => ({ base, line: pattern }));
  const isBare = !pattern.replace(/\/$/, '').includes('/');
  const anywhere =
    pattern.startsWith('/') || (isBare && !place.roots.some((root) => isInside(root, path)));
  return anywhere ? [...inRoots, { base: '/', line: pattern }] : inRoots;
}

function matches(anchor: Anchor, path: string, options: { readonly ignoreCase: boolean }): boolean {
  if (!isInside(anchor.base, path)) return false;
  const rest = relative(anchor.base, path);
  if (rest === '') return false;
  // Some file systems take the composed and the decomposed form of a letter for one name, too.
  return options.ignoreCase
    ? compiled(anchor.line.normalize(), options.ignoreCase).ignores(rest.normalize())
    : compiled(anchor.line, options.ignoreCase).ignores(rest);
}

const MAX_COMPILED = 1000;
const COMPILED = new Map<string, Ignore>();

/** Compiling takes longer than a decision may; the matcher keeps what it has seen, so it is bounded. */
function compiled(line: string, ignoreCase: boolean): Ignore {
  const key = `${ignoreCase ? 'i' : 'c'}${line}`;
  const known = COMPILED.get(key);
  if (known !== undefined) return known;
  if (COMPILED.size >= MAX_COMPILED) COMPILED.clear();
  const made = ignore({ ignoreCase }).add({ pattern: line });
  COMPILED.set(key, made);
  return made;
}

/**
 * The places that a pattern names without a wildcard, absolute; a file or all that lies in a directory
 * (`x`, `x/`, `x/*`, `x/**`). With every reading of `pathCouldMatch`, but that of a bare name only the
 * one at the top of each root is a place. None for any other pattern with a wildcard.
 */
export function listNamedPaths(pattern: string, place: PatternBases): readonly string[] {
  return wideAnchors(pattern, place.roots[0] ?? '/', place).flatMap(({ base, line }) => {
    const names = line.replace(/(?<!\\) +$/, '').split('/');
    while (/^\**$/.test(names.at(-1) ?? '-')) names.pop();
    // In front of the rest it means at any depth, as a bare name does.
    const named = names.filter((name) => name !== '' && name !== '**');
    if (named.some((name) => WILDCARD.test(name))) return [];
    return [join(base, ...named.map((name) => name.replace(/\\(.)/g, '$1')))];
  });
}

/** A character that stands for others, not escaped. */
const WILDCARD = /^(?:[^\\]|\\.)*?[*?[]/;

/** A path as a pattern that means it alone: characters that say something in a gitignore line escaped. */
export function escapePathPattern(path: string): string {
  return path
    .replace(/[\\*?[\]]/g, '\\$&')
    .replace(/^[!#]/, './$&')
    .replace(/ $/, '\\ ');
}

/** Whether what a pattern means depends on the roots. */
export function isRelativePattern(pattern: string): boolean {
  return !/^(?:\/\/|~\/)/.test(pattern);
}

/** A relative pattern written out from the root of the file system: the same in any roots. */
export function makePatternAbsolute(pattern: string, root: string): string {
  const base = `/${root === '/' ? '' : escapePathPattern(root)}/`;
  if (/^\.?\//.test(pattern)) return base + pattern.replace(/^\.?\//, '');
  return pattern.replace(/\/$/, '').includes('/') ? base + pattern : `${base}**/${pattern}`;
}
