import { join } from 'node:path';
import { MusterError } from '../../../base/errors.ts';
import { truncate } from '../../../base/text.ts';
import { isInside } from '../../../sys/files/paths.ts';
import { parseGlobList, type ListedGlob } from './glob-list.ts';
import { createNameMatcher, type NameMatcher } from './name-matcher.ts';
import { findGroup } from './glob-syntax.ts';
import type { PathFilter } from '../search-types.ts';
import { isLiteralGlob, splitGlob, type SplitGlob } from './split-glob.ts';

const MAX_GLOB_CHARACTERS = 4096;
const MAX_GLOBS = 100;
/** The most patterns to which alternatives with a `/` in them are expanded. */
const MAX_ALTERNATIVES = 256;

/** One glob of a list with the directory in which it begins. */
export interface PlacedGlob extends ListedGlob, SplitGlob {}

/** Throws INVALID_PARAM, with the reason, for a glob that no file could match. `field` names the argument. */
export function requireUsableGlob(glob: string, field: string): void {
  const problem = globProblem(glob);
  if (problem !== undefined) throw new MusterError('INVALID_PARAM', `${field}: ${problem}`);
}

function globProblem(glob: string): string | undefined {
  if (glob.trim() === '') return 'is empty; valid: a glob like *.ts or src/**';
  if (glob.includes('\0')) return 'contains a NUL character, which no file name has';
  if (!glob.isWellFormed()) return 'contains half a character (a lone surrogate)';
  if (glob.length > MAX_GLOB_CHARACTERS) return `is longer than ${MAX_GLOB_CHARACTERS} characters`;
  const count = parseGlobList(glob).filter(({ isFullList }) => !isFullList).length;
  return count > MAX_GLOBS ? `lists ${count} globs; valid: at most ${MAX_GLOBS}` : undefined;
}

/** Parses a list such as `*.ts,!*.test.ts` and finds the directory in which each glob begins. Never throws. */
export function placeGlobs(text: string, directory: string): readonly PlacedGlob[] {
  const placed = parseGlobList(text).map((glob) => placedGlob(glob, directory));
  const bases = new Set(placed.filter((glob) => !glob.isFullList).map(({ base }) => base));
  // The full list read as one glob must not begin in another directory.
  return placed.filter(({ isFullList, base }) => !isFullList || bases.has(base));
}

/** The path that a glob without wildcards names; undefined for a glob with wildcards. */
export function literalPath({ base, glob }: SplitGlob): string | undefined {
  if (glob === '/**') return base;
  return isLiteralGlob(glob) ? join(base, glob) : undefined;
}

/**
 * Creates a filter for paths relative to `directory` from globs that begin in their own directories. Throws
 * INVALID_PARAM for a glob that cannot be used.
 */
export function createPathFilter(globs: readonly PlacedGlob[], directory: string): PathFilter {
  const wanted = globs.filter((glob) => !glob.excludes).map((glob) => filterFor(glob, directory));
  const excluded = globs.filter((glob) => glob.excludes).map((glob) => filterFor(glob, directory));
  return (path) =>
    (wanted.length === 0 || wanted.some((matches) => matches(path))) &&
    !excluded.some((matches) => matches(path));
}

/**
 * Creates a filter from a list of globs for `directory`. A glob without a `/` matches names in every directory, any
 * other one paths from `directory`, whether or not it begins with a `/`.
 */
export function createGlobFilter(list: string, directory = '/'): PathFilter {
  return createPathFilter(placeGlobsWithin(list, directory), directory);
}

/** Parses a list of globs that cannot lead out of `directory`. */
export function placeGlobsWithin(list: string, directory: string): readonly PlacedGlob[] {
  return parseGlobList(list).map((glob) => {
    const isOutside = glob.text.startsWith('/') && !glob.text.startsWith(`${directory}/`);
    return placedGlob(isOutside ? { ...glob, text: `.${glob.text}` } : glob, directory);
  });
}

function placedGlob(glob: ListedGlob, directory: string): PlacedGlob {
  return { ...glob, ...splitGlob(glob.text, directory) };
}

function filterFor({ base, glob, excludes }: PlacedGlob, directory: string): PathFilter {
  const itself = pathMatcher(glob);
  // A glob without wildcards, and an exclusion, may name a directory: then they match everything in it.
  const below = excludes || isLiteralGlob(glob) ? pathMatcher(`${glob}/**`) : undefined;
  const matches: PathFilter = below ? (path) => itself(path) || below(path) : itself;
  if (base === directory) return matches;
  if (isInside(base, directory)) {
    const lead = directory.slice(base === '/' ? 1 : base.length + 1);
    return (path) => matches(`${lead}/${path}`);
  }
  if (!isInside(directory, base)) return () => false;
  const lead = `${base.slice(directory === '/' ? 1 : directory.length + 1)}/`;
  return (path) => path.startsWith(lead) && matches(path.slice(lead.length));
}

/** A matcher for one name, or `**` for any number of directories. */
type Segment = '**' | NameMatcher;

/**
 * Creates a matcher for paths. `*`, `?`, `[a-z]`, `{a,b}` and groups such as `+(a|b)` match within one name, `**`
 * matches directories. Hidden names match, too. Brackets and braces also match themselves.
 */
function pathMatcher(glob: string): PathFilter {
  const rooted = glob.startsWith('/') ? glob.slice(1) : `**/${glob}`;
  const matchers = expandSlashGroups(rooted).map((each) => segmentsMatcher(segmentsOf(each)));
  const [first] = matchers;
  return first !== undefined && matchers.length === 1
    ? first
    : (path) => matchers.some((matches) => matches(path));
}

function segmentsOf(glob: string): readonly Segment[] {
  const names = glob.split('/').filter((name) => name !== '' && name !== '.');
  const segments = names.map((name): Segment =>
    /^\*{2,}$/.test(name) ? '**' : createNameMatcher(name),
  );
  // A final ** matches the content of a directory, not the directory itself.
  return segments.at(-1) === '**' ? [...segments, () => true] : segments;
}

/** Backtracks only to the last `**`, which is enough, so that the time is at most the product of both lengths. */
function segmentsMatcher(segments: readonly Segment[]): PathFilter {
  const last = segments.at(-1);
  if (last === undefined || last === '**') return () => false;
  const matchesNameOnly = segments.length === 2 && segments[0] === '**';
  return (path) => {
    if (!last(path.slice(path.lastIndexOf('/') + 1))) return false;
    return matchesNameOnly || matchNames(segments, path.split('/'));
  };
}

function matchNames(segments: readonly Segment[], names: readonly string[]): boolean {
  let segment = 0;
  let name = 0;
  let back: { segment: number; name: number } | undefined;
  while (name < names.length) {
    const wanted = segments[segment];
    if (wanted === '**') {
      segment += 1;
      back = { segment, name };
    } else if (wanted?.(names[name] ?? '') === true) {
      segment += 1;
      name += 1;
    } else if (back === undefined) {
      return false;
    } else {
      back.name += 1;
      ({ segment, name } = back);
    }
  }
  return segment === segments.length;
}

/** Expands the groups with a `/` in them: `{src/a,lib}/*.ts` becomes two patterns. */
function expandSlashGroups(glob: string): readonly string[] {
  const done: string[] = [];
  const pending = [glob];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const variants = expandFirstSlashGroup(next);
    if (variants === undefined) done.push(next);
    else pending.push(...variants);
    if (done.length + pending.length > MAX_ALTERNATIVES) {
      throw new MusterError(
        'INVALID_PARAM',
        `glob: has more than ${MAX_ALTERNATIVES} alternatives with a / in them; use several calls`,
      );
    }
  }
  return done;
}

function expandFirstSlashGroup(glob: string): readonly string[] | undefined {
  for (let at = 0; at < glob.length; at += 1) {
    const group = findGroup(glob, at);
    if (glob[at] === '\\') at += 1;
    else if (group !== undefined && !group.inside.includes('/')) at = group.end - 1;
    else if (group !== undefined) {
      const { mark, alternatives, end } = group;
      if (mark !== '@' && mark !== '?') {
        const written = truncate(glob.slice(at, end), 60);
        throw new MusterError(
          'INVALID_PARAM',
          `glob: ${written} has a / inside, which only {a,b}, @(a|b) and ?(a) may have`,
        );
      }
      const all = mark === '?' ? ['', ...alternatives] : alternatives;
      return all.map((each) => glob.slice(0, at) + each + glob.slice(end));
    }
  }
  return undefined;
}
