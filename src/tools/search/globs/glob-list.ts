import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { parseJsonLine } from '../../../base/jsonl.ts';
import type { Tool } from '../../../protocol/tool.ts';
import { findGroup, splitOutsideBrackets } from './glob-syntax.ts';

/** One glob of a list. */
export interface ListedGlob {
  readonly text: string;
  /** Whether the glob has a leading `!`, so that the files that it matches are excluded. */
  readonly excludes: boolean;
  /** Whether this is the full list read as one glob, because `a,b.ts` may be the name of a file. */
  readonly isFullList: boolean;
}

/**
 * Splits the forms in which models write several globs: `a.ts,b.ts`, `*.ts *.tsx` and `["*.ts", "*.tsx"]`. Each glob
 * may have a `!` in front. A list without exclusions is also read as one glob, because names may contain commas and
 * spaces.
 */
export function parseGlobList(text: string): readonly ListedGlob[] {
  const parts = parseJsonList(text) ?? splitOutsideBrackets(text, ',;|\n').flatMap(splitAtBlanks);
  const globs = parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(toListedGlob);
  const isList = globs.length > 1 && !globs.some(({ excludes }) => excludes);
  return isList ? [...globs, { text, excludes: false, isFullList: true }] : globs;
}

/** Formats a list for a message. */
export function formatGlobList(text: string): string {
  return parseJsonList(text)?.join(', ') ?? text;
}

function parseJsonList(text: string): readonly string[] | undefined {
  if (!text.trimStart().startsWith('["')) return undefined;
  // Text that is not JSON is one glob: a character class that begins with a quote.
  const parsed = parseJsonLine(text);
  const isList = Array.isArray(parsed) && parsed.every((each) => typeof each === 'string');
  return isList ? parsed : undefined;
}

/** Splits a text at blanks if every part looks like a glob or a file name. `My Notes/*.md` stays one glob. */
function splitAtBlanks(text: string): readonly string[] {
  const parts = splitOutsideBrackets(text.trim(), ' \t').filter((part) => part !== '');
  return parts.every((part) => /[*?.[{/]/.test(part)) ? parts : [text];
}

/** Separates the `!` of an exclusion from its glob. `!(a|b)` is a group, not an exclusion. */
function toListedGlob(glob: string): ListedGlob {
  const excludes = glob.startsWith('!') && findGroup(glob, 0) === undefined;
  return { text: excludes ? glob.slice(1).trim() : glob, excludes, isFullList: false };
}

/**
 * Returns a tool whose parser also accepts a list of globs in the named arguments, and joins each list to one string.
 */
export function acceptGlobLists<I>(tool: Tool<I>, names: readonly string[]): Tool<I> {
  return {
    ...tool,
    parse: (input) => tool.parse(isJsonObject(input) ? joinLists(input, names) : input),
  };
}

function joinLists(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      names.includes(name) ? joinList(value) : value,
    ]),
  );
}

/** Joins a list to a string that `parseGlobList` splits again. */
function joinList(value: JsonValue | undefined): JsonValue | undefined {
  const isList = Array.isArray(value) && value.length > 0;
  return isList && value.every((each) => typeof each === 'string') ? JSON.stringify(value) : value;
}
