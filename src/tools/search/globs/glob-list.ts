import { groupAt, splitOutside } from './glob-syntax.ts';

/** One glob of a list. */
export interface ListedGlob {
  readonly text: string;
  /** It was written with a leading `!`: what it matches is not wanted. */
  readonly excludes: boolean;
  /** It is the list as a whole, read as one name: `a,b.ts` may be a file. */
  readonly isWholeList: boolean;
}

/**
 * Splits what models write for several globs: `a.ts,b.ts`, `*.ts *.tsx`, `["*.ts", "*.tsx"]`, each one
 * perhaps with `!` before it. A list without exclusions is also read as one glob, because names may hold commas
 * and blanks.
 */
export function listedGlobs(text: string): readonly ListedGlob[] {
  const parts = jsonList(text) ?? splitOutside(text, ',;|\n').flatMap(splitAtBlanks);
  const globs = parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(listed);
  const isList = globs.length > 1 && !globs.some(({ excludes }) => excludes);
  return isList ? [...globs, { text, excludes: false, isWholeList: true }] : globs;
}

/** A list as it is shown to whoever wrote it. */
export function shownGlobs(text: string): string {
  return jsonList(text)?.join(', ') ?? text;
}

function jsonList(text: string): readonly string[] | undefined {
  if (!text.trimStart().startsWith('["')) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    const isList = Array.isArray(parsed) && parsed.every((each) => typeof each === 'string');
    return isList ? parsed : undefined;
  } catch {
    // A character class that begins with a quote: it is one glob.
    return undefined;
  }
}

/** `My Notes/*.md` is one glob: only what looks like several globs or file names is split. */
function splitAtBlanks(text: string): readonly string[] {
  const parts = splitOutside(text.trim(), ' \t').filter((part) => part !== '');
  return parts.every((part) => /[*?.[{/]/.test(part)) ? parts : [text];
}

/** `!(a|b)` is a group, not an exclusion. */
function listed(glob: string): ListedGlob {
  const excludes = glob.startsWith('!') && groupAt(glob, 0) === undefined;
  return { text: excludes ? glob.slice(1).trim() : glob, excludes, isWholeList: false };
}
