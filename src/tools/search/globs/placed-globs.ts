import { join } from 'node:path';
import { MusterError } from '../../../base/errors.ts';
import { truncate } from '../../../base/text.ts';
import { isInside } from '../../../base/path-inside.ts';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import type { PathFilter } from '../search-types.ts';
import { findGroup } from './glob-syntax.ts';
import { createNameMatcher, type NameMatcher } from './name-matcher.ts';
import { type ListedGlob, parseGlobList } from './glob-list.ts';

const MAX_GLOB_CHARACTERS = 4096;
const MAX_GLOBS = 100;
/** The maximum number of patterns to which a glob is expanded because of alternatives that contain a `/`. */
const MAX_ALTERNATIVES = 256;

/** One glob of a list, with the directory in which the glob begins. */
export interface PlacedGlob extends ListedGlob, SplitGlob {}

/**
 * Throws INVALID_PARAM for a glob that no file could match.
 *
 * @param field the name of the argument, for the message
 */
export function requireUsableGlob(glob: string, field: string): void {
  const problem = describeGlobProblem(glob);
  if (problem !== undefined) throw new MusterError('INVALID_PARAM', `${field}: ${problem}`);
}

function describeGlobProblem(glob: string): string | undefined {
  if (glob.trim() === '') return 'is empty; valid: a glob like *.ts or src/**';
  if (glob.includes('\0')) return 'contains a NUL character, which no file name has';
  if (!glob.isWellFormed()) return 'contains half a character (a lone surrogate)';
  if (glob.length > MAX_GLOB_CHARACTERS) return `is longer than ${MAX_GLOB_CHARACTERS} characters`;
  const count = parseGlobList(glob).filter(({ isFullList }) => !isFullList).length;
  return count > MAX_GLOBS ? `lists ${count} globs; valid: at most ${MAX_GLOBS}` : undefined;
}

/** Parses a list such as `*.ts,!*.test.ts` and finds the directory in which each glob begins. Never throws. */
export function placeGlobs(text: string, directory: string): readonly PlacedGlob[] {
  const placed = parseGlobList(text).map((glob) => placeGlob(glob, directory));
  const bases = new Set(placed.filter((glob) => !glob.isFullList).map(({ base }) => base));
  // The list read as one glob is dropped if it would begin in a directory in which no other glob begins.
  return placed.filter(({ isFullList, base }) => !isFullList || bases.has(base));
}

/** Returns the path that a glob without wildcards names, or undefined for a glob with wildcards. */
export function literalPath({ base, glob }: SplitGlob): string | undefined {
  if (glob === '/**') return base;
  return isLiteralGlob(glob) ? join(base, glob) : undefined;
}

/**
 * Creates a filter for paths relative to `directory` from globs that begin in their own directories. Throws
 * INVALID_PARAM for a glob that cannot be used.
 */
export function createPathFilter(globs: readonly PlacedGlob[], directory: string): PathFilter {
  const wanted = globs
    .filter((glob) => !glob.excludes)
    .map((glob) => createFilter(glob, directory));
  const excluded = globs
    .filter((glob) => glob.excludes)
    .map((glob) => createFilter(glob, directory));
  return (path) =>
    (wanted.length === 0 || wanted.some((matches) => matches(path))) &&
    !excluded.some((matches) => matches(path));
}

/**
 * Creates a filter from a list of globs for `directory`. A glob without a `/` matches names in every directory. Any
 * other glob matches paths relative to `directory`, even if the glob begins with a `/`.
 */
export function createGlobFilter(list: string, directory = '/'): PathFilter {
  return createPathFilter(placeGlobsWithin(list, directory), directory);
}

/** Parses a list of globs that cannot lead out of `directory`. */
export function placeGlobsWithin(list: string, directory: string): readonly PlacedGlob[] {
  return parseGlobList(list).map((glob) => {
    const isOutside = glob.text.startsWith('/') && !glob.text.startsWith(`${directory}/`);
    return placeGlob(isOutside ? { ...glob, text: `.${glob.text}` } : glob, directory);
  });
}

function placeGlob(glob: ListedGlob, directory: string): PlacedGlob {
  return { ...glob, ...splitGlob(glob.text, directory) };
}

function createFilter({ base, glob, excludes }: PlacedGlob, directory: string): PathFilter {
  const matchesPath = createPathMatcher(glob);
  // A glob without wildcards, or an exclusion, may name a directory. Then it matches everything in that directory.
  const matchesBelow =
    excludes || isLiteralGlob(glob) ? createPathMatcher(`${glob}/**`) : undefined;
  const matches: PathFilter = matchesBelow
    ? (path) => matchesPath(path) || matchesBelow(path)
    : matchesPath;
  if (base === directory) return matches;
  if (isInside(base, directory)) {
    const lead = directory.slice(base === '/' ? 1 : base.length + 1);
    return (path) => matches(`${lead}/${path}`);
  }
  if (!isInside(directory, base)) return () => false;
  const lead = `${base.slice(directory === '/' ? 1 : directory.length + 1)}/`;
  return (path) => path.startsWith(lead) && matches(path.slice(lead.length));
}

/** A part of a path pattern: a matcher for one name, or `**` for any number of directories. */
type Segment = '**' | NameMatcher;

/**
 * Creates a matcher for paths. `*`, `?`, `[a-z]`, `{a,b}` and groups such as `+(a|b)` match within one name, `**`
 * matches directories. Hidden names match, too. Brackets and braces also match themselves.
 */
function createPathMatcher(glob: string): PathFilter {
  const rooted = glob.startsWith('/') ? glob.slice(1) : `**/${glob}`;
  const matchers = expandSlashGroups(rooted).map((each) =>
    createSegmentsMatcher(parseSegments(each)),
  );
  const [first] = matchers;
  return first !== undefined && matchers.length === 1
    ? first
    : (path) => matchers.some((matches) => matches(path));
}

function parseSegments(glob: string): readonly Segment[] {
  const names = glob.split('/').filter((name) => name !== '' && name !== '.');
  const segments = names.map((name): Segment =>
    /^\*{2,}$/.test(name) ? '**' : createNameMatcher(name),
  );
  // A final ** matches the content of a directory, not the directory itself.
  return segments.at(-1) === '**' ? [...segments, () => true] : segments;
}

/**
 * Creates a matcher for the segments of a path. It backtracks only to the last `**`, which is sufficient. So the time
 * is at most proportional to the product of both lengths.
 */
function createSegmentsMatcher(segments: readonly Segment[]): PathFilter {
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
  let backtrack: { segment: number; name: number } | undefined;
  while (name < names.length) {
    const wanted = segments[segment];
    if (wanted === '**') {
      segment += 1;
      backtrack = { segment, name };
    } else if (wanted?.(names[name] ?? '') === true) {
      segment += 1;
      name += 1;
    } else if (backtrack === undefined) {
      return false;
    } else {
      backtrack.name += 1;
      ({ segment, name } = backtrack);
    }
  }
  return segment === segments.length;
}

/** Expands the groups that contain a `/`: `{src/a,lib}/*.ts` becomes two patterns. */
function expandSlashGroups(glob: string): readonly string[] {
  const done: string[] = [];
  const pending = [glob];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const variants = expandFirstSlashGroup(next);
    if (variants === undefined) done.push(next);
    else pending.push(...variants);
    if (done.length + pending.length > MAX_ALTERNATIVES) {
      const message = `glob: has more than ${MAX_ALTERNATIVES} alternatives with a / in them; use several calls`;
      throw new MusterError('INVALID_PARAM', message);
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
        const message = `glob: ${written} has a / inside, which only {a,b}, @(a|b) and ?(a) may have`;
        throw new MusterError('INVALID_PARAM', message);
      }
      const all = mark === '?' ? ['', ...alternatives] : alternatives;
      return all.map((each) => glob.slice(0, at) + each + glob.slice(end));
    }
  }
  return undefined;
}

/** A glob and the directory in which it begins. */
interface SplitGlob {
  /** The absolute path of the directory that contains everything the glob can match. */
  readonly base: string;
  /**
   * The rest of the glob. With a leading `/`, it matches paths relative to `base`. Otherwise it matches names in any
   * directory below `base`.
   */
  readonly glob: string;
}

/**
 * Last names that show that a path is a directory. A glob that ends with such a name matches everything in the
 * directory.
 */
const DIRECTORY_NAMES: ReadonlySet<string> = new Set(['', '.', '..', '~']);

/**
 * Separates the leading names without wildcards from a glob. `src/ui/*.ts` becomes `/*.ts` in `src/ui`, and `src/`
 * becomes everything in `src`. Globs may be absolute or begin with `../`, because the permission rules decide whether
 * their base may be read.
 */
export function splitGlob(glob: string, directory: string): SplitGlob {
  const text = convertBackslashes(glob.trim());
  const names = text.split('/');
  const wildcard = findFirstWildcard(text);
  const isDirectory = DIRECTORY_NAMES.has(names.at(-1) ?? '');
  if (names.length === 1 && !isDirectory) return { base: directory, glob: text };
  const fixedCount =
    wildcard === -1 ? names.length - 1 : text.slice(0, wildcard).split('/').length - 1;
  const fixed = names.slice(0, wildcard === -1 && isDirectory ? names.length : fixedCount);
  const rest = names.slice(fixed.length).filter((name) => name !== '' && name !== '.');
  const leading = fixed.join('/');
  const defaultBase = text.startsWith('/') ? '/' : '.';
  return {
    base: toAbsolutePath(leading === '' ? defaultBase : leading, directory),
    glob: `/${[...rest, ...(isDirectory ? ['**'] : [])].join('/')}`,
  };
}

/** Returns whether a glob has no wildcards. */
export function isLiteralGlob(glob: string): boolean {
  return findFirstWildcard(glob) === -1;
}

/** Finds the first wildcard, group or escape. Returns -1 if there is none. */
function findFirstWildcard(glob: string): number {
  for (let at = 0; at < glob.length; at += 1) {
    if ('*?[]{}\\'.includes(glob[at] ?? '') || findGroup(glob, at) !== undefined) return at;
  }
  return -1;
}

/** Replaces the separators of a Windows path such as `src\ui\*.ts`. A backslash before a bracket is an escape. */
function convertBackslashes(glob: string): string {
  return !glob.includes('/') && /\\[\w.*$ -]/.test(glob) ? glob.replaceAll('\\', '/') : glob;
}
