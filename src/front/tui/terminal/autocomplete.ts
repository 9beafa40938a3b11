import type { AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import type { AppState } from '../model/app-state.ts';
import { filterByText, searchedText } from '../model/fuzzy-match.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { COMMANDS } from '../update/commands/command-table.ts';
import { agentCompletions, type Completion } from '../update/commands/completions.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';

/** The time after which the files of the directory are listed again. */
const LISTING_LIFETIME_MS = 10_000;
/** The maximum number of files that are offered at a time. Each letter that is typed narrows them down. */
const MAX_OFFERED = 1_000;

interface AutocompleteOptions {
  readonly state: () => AppState;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Aborts a listing of files that has not ended. */
  readonly signal: AbortSignal;
}

/**
 * Creates the completions of the editor: slash commands and their arguments at the start of a message, and agents and
 * files after an `@` at the start of a word.
 */
export function createAutocomplete(
  library: UiLibrary,
  { state, now, signal: stopped }: AutocompleteOptions,
): AutocompleteProvider {
  let listing: { readonly at: number; readonly paths: Promise<readonly string[]> } | null = null;
  const listFiles = (): Promise<readonly string[]> => {
    if (listing !== null && now() - listing.at < LISTING_LIFETIME_MS) return listing.paths;
    const paths = library.listFiles(stopped).then(
      (found) => found.filter(isPlainText),
      // If the directory is gone or can't be read, no files are offered.
      () => [],
    );
    listing = { at: now(), paths };
    return paths;
  };
  return {
    triggerCharacters: ['@'],
    async getSuggestions(lines, line, column, { signal }) {
      // The editor holds the filter of a list or the words of a search.
      if (state().writing.kind !== 'message') return null;
      const before = (lines[line] ?? '').slice(0, column);
      if (line === 0 && /^\/[\w-]*$/.test(before)) {
        const commands = COMMANDS.map(({ name, help }) => ({ text: `/${name}`, help }));
        // Enter runs the chosen command, so a command is found by its name only, and not by its description.
        return matching(commands, before, { isByName: true });
      }
      const [, name, argument] = /^\/([\w-]+) (\S*)$/.exec(before) ?? [];
      if (line === 0 && name !== undefined && argument !== undefined) {
        const command = COMMANDS.find((each) => each.name === name);
        return unlessComplete(matching(command?.completions?.(state(), library) ?? [], argument));
      }
      const mention = typedMention(before);
      if (mention === null) return null;
      // A description that contains the letters of a file must not put an agent in the place of the file.
      const found = matching(agentCompletions(library.agents), mention.prefix, { isByName: true });
      const [named, others] = partition(found?.items ?? [], ({ value }) =>
        value.toLowerCase().startsWith(mention.prefix.toLowerCase()),
      );
      const paths = matchFiles(await listFiles(), mention.typed);
      if (signal.aborted) return null;
      const files = paths.map((path) => ({ value: formatMention(path), label: path }));
      const items = [...named, ...files, ...others];
      return items.length === 0 ? null : unlessComplete({ items, prefix: mention.prefix });
    },
    applyCompletion(lines, cursorLine, column, item, prefix) {
      const line = lines[cursorLine] ?? '';
      const start = column - prefix.length;
      const text = `${line.slice(0, start)}${item.value} ${line.slice(column)}`;
      const cursorCol = start + item.value.length + 1;
      return { lines: lines.with(cursorLine, text), cursorLine, cursorCol };
    },
    shouldTriggerFileCompletion: () => false,
  };
}

/** Returns no completions if the first one is typed already, so that Enter sends the text at once. */
function unlessComplete(found: AutocompleteSuggestions | null): AutocompleteSuggestions | null {
  return found?.items[0]?.value === found?.prefix ? null : found;
}

/** Splits items into those that meet a condition, and the others. */
function partition<Item>(
  items: readonly Item[],
  meets: (item: Item) => boolean,
): readonly [readonly Item[], readonly Item[]] {
  return [items.filter(meets), items.filter((item) => !meets(item))];
}

function matching(
  all: readonly Completion[],
  prefix: string,
  { isByName = false }: { readonly isByName?: boolean } = {},
): AutocompleteSuggestions | null {
  const typed = prefix.replace(/^[/@]/, '');
  const items = filterByText(all, typed, ({ text, help }) =>
    searchedText(text.replace(/^[/@]/, ''), isByName ? '' : help),
  ).map(({ text, help }) => ({ value: text, label: text, description: help }));
  return items.length === 0 ? null : { items, prefix };
}

/**
 * Returns the paths that match the typed text, the best match first: those whose file name or path starts with the
 * text, then those that contain it, then those that contain its letters in this order.
 */
export function matchFiles(paths: readonly string[], typed: string): readonly string[] {
  const query = typed.toLowerCase();
  return paths
    .map((path) => ({ path, rank: rankPath(path, query) }))
    .filter(({ rank }) => rank !== Infinity)
    .toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .slice(0, MAX_OFFERED)
    .map(({ path }) => path);
}

/** Returns the rank of a path. A lower rank is a better match; the rank is infinite if the path does not match. */
function rankPath(path: string, query: string): number {
  if (query === '') return path.split('/').length;
  const lower = path.toLowerCase();
  const name = lower.lastIndexOf('/') + 1;
  if (lower.startsWith(query, name)) return 0;
  if (lower.startsWith(query)) return 1;
  if (lower.includes(query, name)) return 2;
  if (lower.includes(query)) return 3;
  return 4 + countLettersBetween(lower, query);
}

/** Counts the letters between those of the query; infinite if the text does not contain the letters in this order. */
function countLettersBetween(text: string, query: string): number {
  let at = -1;
  let first = -1;
  for (const letter of query) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return Infinity;
    if (first === -1) first = at;
  }
  return at - first + 1 - query.length;
}

/** Whether a message can contain a path unchanged: the path ends no quote and controls no terminal. */
export function isPlainText(path: string): boolean {
  return !path.includes('"') && sanitizeLine(path) === path;
}

/** Formats the mention of a file in a message: `@src/a.ts`, `@"my notes.md"`. */
export function formatMention(path: string): string {
  return /^[\w./\\:~+,=#%()[\]-]*[\w/\\]$/.test(path) ? `@${path}` : `@"${path}"`;
}

/** Finds the mention that is being typed before the cursor; null if there is none. `prefix` begins with the `@`. */
export function typedMention(
  before: string,
): { readonly prefix: string; readonly typed: string } | null {
  const [prefix, quoted, plain = ''] = /(?<!\S)@(?:"([^"]*)|([^\s"]*))$/.exec(before) ?? [];
  return prefix === undefined ? null : { prefix, typed: quoted ?? plain };
}
