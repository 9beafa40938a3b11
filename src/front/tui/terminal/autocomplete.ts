import type { AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import type { AppState } from '../model/app-state.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { COMMANDS, agentCompletions, type Completion } from '../update/commands/command-table.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';

/**
 * The completions of the editor: slash commands and their arguments at the start of a message, and agents and files
 * after an `@` wherever a word starts.
 */
export class AutocompleteSource {
  readonly provider: AutocompleteProvider;
  private readonly library: UiLibrary;
  private readonly state: () => AppState;
  private readonly files: FileCompletions;

  constructor(
    library: UiLibrary,
    { state, now }: { readonly state: () => AppState; readonly now: () => number },
  ) {
    this.library = library;
    this.state = state;
    this.files = new FileCompletions((signal) => library.listFiles(signal), now);
    this.provider = {
      triggerCharacters: ['@'],
      getSuggestions: (lines, line, column, { signal }) =>
        this.suggest((lines[line] ?? '').slice(0, column), { isFirstLine: line === 0, signal }),
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

  /** Gives up a listing of files that is still going on. */
  stop(): void {
    this.files.stop();
  }

  /** `before` is the text of the line up to the cursor. */
  private async suggest(
    before: string,
    { isFirstLine, signal }: { readonly isFirstLine: boolean; readonly signal: AbortSignal },
  ): Promise<AutocompleteSuggestions | null> {
    if (isFirstLine && /^\/[\w-]*$/.test(before)) {
      const commands = COMMANDS.map(({ name, help }) => ({ text: `/${name}`, help }));
      return matching(commands, before);
    }
    const [, name, argument] = /^\/([\w-]+) (\S*)$/.exec(before) ?? [];
    if (isFirstLine && name !== undefined && argument !== undefined) {
      const command = COMMANDS.find((each) => each.name === name);
      return matching(command?.completions?.(this.state(), this.library) ?? [], argument);
    }
    const mention = typedMention(before);
    if (mention === null) return null;
    const agents = matching(agentCompletions(this.library.agents), mention.prefix)?.items ?? [];
    const paths = await this.files.find(mention.typed);
    if (signal.aborted) return null;
    const files = paths.map((path) => ({ value: mentionOf(path), label: path }));
    const items = [...agents, ...files];
    return items.length === 0 ? null : { items, prefix: mention.prefix };
  }
}

function matching(all: readonly Completion[], prefix: string): AutocompleteSuggestions | null {
  const start = prefix.toLowerCase();
  const items = all
    .filter(({ text }) => text.toLowerCase().startsWith(start))
    .map(({ text, help }) => ({ value: text, label: text, description: help }));
  return items.length === 0 ? null : { items, prefix };
}

/** The directory is listed again after this long. */
const FRESH_MS = 10_000;
/** The number of files that are offered at a time. */
const MAX_OFFERED = 20;

interface Listing {
  readonly at: number;
  readonly paths: Promise<readonly string[]>;
}

/** The files that a message can name. They are listed when they are first asked for. */
export class FileCompletions {
  private readonly list: (signal: AbortSignal) => Promise<readonly string[]>;
  private readonly now: () => number;
  private readonly stopped = new AbortController();
  private listing: Listing | null = null;

  /** `now` returns milliseconds of the monotonic clock. */
  constructor(list: FileCompletions['list'], now: () => number) {
    this.list = list;
    this.now = now;
  }

  /** Never rejects: a directory that can't be listed offers no files. */
  async find(typed: string): Promise<readonly string[]> {
    return matchFiles(await this.paths(), typed);
  }

  stop(): void {
    this.stopped.abort();
  }

  private paths(): Promise<readonly string[]> {
    const { listing } = this;
    if (listing !== null && this.now() - listing.at < FRESH_MS) return listing.paths;
    const paths = this.list(this.stopped.signal).then(
      (found) => found.filter(isPlainText),
      // The directory is gone or can't be read: what is typed is text all the same.
      () => [],
    );
    this.listing = { at: this.now(), paths };
    return paths;
  }
}

/**
 * The paths that match what is typed, the best first: by the start of the file's name or path, then by a part of
 * them, then letter by letter.
 */
export function matchFiles(paths: readonly string[], typed: string): readonly string[] {
  const query = typed.toLowerCase();
  const ranked: { readonly path: string; readonly rank: number }[] = [];
  for (const path of paths) {
    const rank = rankOf(path, query);
    if (rank !== null) ranked.push({ path, rank });
  }
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .slice(0, MAX_OFFERED)
    .map(({ path }) => path);
}

/** A lower rank is a better match; null is none. */
function rankOf(path: string, query: string): number | null {
  if (query === '') return path.split('/').length;
  const lower = path.toLowerCase();
  const name = lower.lastIndexOf('/') + 1;
  if (lower.startsWith(query, name)) return 0;
  if (lower.startsWith(query)) return 1;
  if (lower.includes(query, name)) return 2;
  if (lower.includes(query)) return 3;
  const spread = spreadOf(lower, query);
  return spread === null ? null : 4 + spread;
}

/** The number of letters between those of the query; null if the text does not hold them in this order. */
function spreadOf(text: string, query: string): number | null {
  let at = -1;
  let first = -1;
  for (const letter of query) {
    at = text.indexOf(letter, at + 1);
    if (at === -1) return null;
    if (first === -1) first = at;
  }
  return at - first + 1 - query.length;
}

/** Whether a message can hold a path as it is: it ends no quote and controls no terminal. */
export function isPlainText(path: string): boolean {
  return !path.includes('"') && sanitizeLine(path) === path;
}

/** The way in which a message names a file: `@src/a.ts`, `@"my notes.md"`. */
export function mentionOf(path: string): string {
  return /^[\w./\\:~+,=#%()[\]-]*[\w/\\]$/.test(path) ? `@${path}` : `@"${path}"`;
}

/** The name that is being typed before the cursor, from its `@`; null if there is none. */
export function typedMention(
  before: string,
): { readonly prefix: string; readonly typed: string } | null {
  const [prefix, quoted, plain = ''] = /(?<!\S)@(?:"([^"]*)|([^\s"]*))$/.exec(before) ?? [];
  return prefix === undefined ? null : { prefix, typed: quoted ?? plain };
}
