import { join } from 'node:path';
import { MusterError } from '../../../base/errors.ts';
import { truncate } from '../../../base/text.ts';
import { isInside } from '../../../sys/paths.ts';
import { listedGlobs, type ListedGlob } from './glob-list.ts';
import { nameMatcher, type NameMatcher } from './name-matcher.ts';
import { groupAt } from './glob-syntax.ts';
import type { PathFilter } from '../search-types.ts';
import { isLiteralGlob, splitGlob, type SplitGlob } from './split-glob.ts';

const MAX_GLOB_CHARACTERS = 4096;
const MAX_GLOBS = 100;
/** Patterns that the alternatives with a `/` in them may come to. */
const MAX_ALTERNATIVES = 256;

/** One glob of a list, in its place. */
export interface PlacedGlob extends ListedGlob, SplitGlob {}

/** Throws INVALID_PARAM for a glob that no file could match, and says why. `field` names the argument. */
export function requireUsableGlob(glob: string, field: string): void {
  const problem = globProblem(glob);
  if (problem !== undefined) throw new MusterError('INVALID_PARAM', `${field}: ${problem}`);
}

function globProblem(glob: string): string | undefined {
  if (glob.trim() === '') return 'is empty; valid: a glob like *.ts or src/**';
  if (glob.includes('\0')) return 'contains a NUL character, which no file name has';
  if (!glob.isWellFormed()) return 'contains half a character (a lone surrogate)';
  if (glob.length > MAX_GLOB_CHARACTERS) return `is longer than ${MAX_GLOB_CHARACTERS} characters`;
  const count = listedGlobs(glob).filter(({ isWholeList }) => !isWholeList).length;
  return count > MAX_GLOBS ? `lists ${count} globs; valid: at most ${MAX_GLOBS}` : undefined;
}

/** The globs of a list such as `*.ts,!*.test.ts`, with the directory that each one searches. Never throws. */
export function placeGlobs(text: string, directory: string): readonly PlacedGlob[] {
  const placed = listedGlobs(text).map((glob) => placedGlob(glob, directory));
  const bases = new Set(placed.filter((glob) => !glob.isWholeList).map(({ base }) => base));
  // The list as one name must not lead anywhere else.
  return placed.filter(({ isWholeList, base }) => !isWholeList || bases.has(base));
}

/** The path that a glob without wildcards names; undefined: it has some. */
export function namedPath({ base, glob }: SplitGlob): string | undefined {
  if (glob === '/**') return base;
  return isLiteralGlob(glob) ? join(base, glob) : undefined;
}

/**
 * Whether a path, relative to `directory`, is meant by a list of globs that stand in their places.
 * Throws INVALID_PARAM for a glob that cannot be used.
 */
export function placedFilter(globs: readonly PlacedGlob[], directory: string): PathFilter {
  const wanted = globs.filter((glob) => !glob.excludes).map((glob) => inPlace(glob, directory));
  const excluded = globs.filter((glob) => glob.excludes).map((glob) => inPlace(glob, directory));
  return (path) =>
    (wanted.length === 0 || wanted.some((matches) => matches(path))) &&
    !excluded.some((matches) => matches(path));
}

/**
 * The same for a list of globs about `directory` itself. Without a `/` a glob is about names in every directory,
 * otherwise about the path from `directory`, whether or not it begins with a `/`.
 */
export function globFilter(list: string, directory = '/'): PathFilter {
  return placedFilter(globsWithin(list, directory), directory);
}

/** The globs of a list, in a directory that they cannot leave. */
export function globsWithin(list: string, directory: string): readonly PlacedGlob[] {
  return listedGlobs(list).map((glob) => {
    const isElsewhere = glob.text.startsWith('/') && !glob.text.startsWith(`${directory}/`);
    return placedGlob(isElsewhere ? { ...glob, text: `.${glob.text}` } : glob, directory);
  });
}

function placedGlob(glob: ListedGlob, directory: string): PlacedGlob {
  return { ...glob, ...splitGlob(glob.text, directory) };
}

function inPlace({ base, glob, excludes }: PlacedGlob, directory: string): PathFilter {
  const itself = pathMatcher(glob);
  // What has no wildcard, and what is excluded, may also be a directory: then all that is in it is meant.
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

/** Any number of directories, or a matcher for one name. */
type Segment = '**' | NameMatcher;

/**
 * Matches a path with `/`: `*`, `?`, `[a-z]`, `{a,b}` and groups such as `+(a|b)` within one name, `**` over
 * directories; hidden names match, too. Brackets and braces also match as the
 * text that they are.
 */
function pathMatcher(glob: string): PathFilter {
  const whole = glob.startsWith('/') ? glob.slice(1) : `**/${glob}`;
  const matchers = acrossNames(whole).map((each) => segmentsMatcher(segmentsOf(each)));
  const [first] = matchers;
  return first !== undefined && matchers.length === 1
    ? first
    : (path) => matchers.some((matches) => matches(path));
}

function segmentsOf(glob: string): readonly Segment[] {
  const names = glob.split('/').filter((name) => name !== '' && name !== '.');
  const segments = names.map((name): Segment => (/^\*{2,}$/.test(name) ? '**' : nameMatcher(name)));
  // What ends in ** means what is in a directory, not the directory.
  return segments.at(-1) === '**' ? [...segments, () => true] : segments;
}

/** Goes back to the last `**` only, which is enough, so that it takes at most the product of both lengths. */
function segmentsMatcher(segments: readonly Segment[]): PathFilter {
  const last = segments.at(-1);
  if (last === undefined || last === '**') return () => false;
  const isAboutName = segments.length === 2 && segments[0] === '**';
  return (path) => {
    if (!last(path.slice(path.lastIndexOf('/') + 1))) return false;
    return isAboutName || matchNames(segments, path.split('/'));
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

/** Writes out the groups with a `/` in them: `{src/a,lib}/*.ts` is two patterns. */
function acrossNames(glob: string): readonly string[] {
  const done: string[] = [];
  const pending = [glob];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const variants = firstAcross(next);
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

function firstAcross(glob: string): readonly string[] | undefined {
  for (let at = 0; at < glob.length; at += 1) {
    const group = groupAt(glob, at);
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
