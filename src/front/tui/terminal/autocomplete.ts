import type { AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import type { AppState } from '../model/app-state.ts';
import { filterByText, searchedText } from '../model/fuzzy-match.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { COMMANDS } from '../update/commands/command-table.ts';
import { agentCompletions, type Completion } from '../update/commands/completions.ts';
import { offeredCommands } from '../update/commands/offered-commands.ts';
import { promptCommands } from '../update/commands/server-prompts.ts';
import { formatMention, isPlainText, matchFiles } from './mention-text.ts';
import { ServerCompletions } from './server-completions.ts';

/** The time after which the files of the directory are listed again. */
const LISTING_LIFETIME_MS = 10_000;

interface AutocompleteOptions {
  readonly state: () => AppState;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Aborts a listing of files that has not ended. */
  readonly signal: AbortSignal;
}

/**
 * Creates the completions of the editor: slash commands and prompts of MCP servers and their arguments at the start of a
 * message, and agents, files and resources of MCP servers after an `@` at the start of a word.
 */
export function createAutocomplete(
  library: UiLibrary,
  { state, now, signal: stopped }: AutocompleteOptions,
): AutocompleteProvider {
  const { serverContent } = library;
  const servers =
    serverContent === null ? null : new ServerCompletions(serverContent, { now, signal: stopped });
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
      if (line === 0 && before.startsWith('/')) await library.refreshSlashCommands();
      if (line === 0 && /^\/[\w-]+:[\w:.-]*$/.test(before)) {
        const found = matching(listTyped(library), before, { isByName: true });
        // The slash is left out of the text that is replaced, so that Enter completes the name and does not send it.
        const items = found?.items.map(({ value, description = '' }) => {
          return { value: value.slice(1), label: value, description };
        });
        return items === undefined ? null : unlessComplete({ items, prefix: before.slice(1) });
      }
      if (line === 0 && /^\/[\w-]*$/.test(before)) {
        const commands = [
          ...COMMANDS.map(({ name, help }) => ({ text: `/${name}`, help })),
          ...listTyped(library),
        ];
        // Enter runs the chosen command, so a command is found by its name only, and not by its description.
        return matching(commands, before, { isByName: true });
      }
      const [, name, argument] = /^\/([\w-]+) (\S*)$/.exec(before) ?? [];
      if (line === 0 && name !== undefined && argument !== undefined) {
        const command = COMMANDS.find((each) => each.name === name);
        return unlessComplete(matching(command?.completions?.(state(), library) ?? [], argument));
      }
      if (line === 0 && servers !== null && /^\/[\w-]+:\S+\s/.test(before)) {
        const found = await servers.completeArgument(before, signal);
        if (found !== null) return signal.aborted ? null : unlessComplete(found);
      }
      const mention = typedMention(before);
      if (mention === null) return null;
      // A description that contains the letters of a file must not put an agent in the place of the file.
      const found = matching(agentCompletions(library.agents), mention.prefix, { isByName: true });
      const [named, others] = partition(found?.items ?? [], ({ value }) =>
        value.toLowerCase().startsWith(mention.prefix.toLowerCase()),
      );
      const [listed, resources] = await Promise.all([
        listFiles(),
        servers?.completeResource(mention.typed, signal) ?? [],
      ]);
      const paths = matchFiles(listed, mention.typed);
      if (signal.aborted) return null;
      const files = paths.map((path) => ({ value: formatMention(path), label: path }));
      const items = [...named, ...files, ...resources, ...others];
      return items.length === 0 ? null : unlessComplete({ items, prefix: mention.prefix });
    },
    applyCompletion(lines, cursorLine, column, item, prefix) {
      const line = lines[cursorLine] ?? '';
      const start = column - prefix.length;
      const completed = servers?.isPartial(item) === true ? item.value : `${item.value} `;
      const text = `${line.slice(0, start)}${completed}${line.slice(column)}`;
      const cursorCol = start + completed.length;
      return { lines: lines.with(cursorLine, text), cursorLine, cursorCol };
    },
    shouldTriggerFileCompletion: () => false,
  };
}

/** Lists the slash commands from files, the skills, and the prompts of MCP servers as far as they are recorded. */
function listTyped(library: UiLibrary): readonly Completion[] {
  return [...offeredCommands(library), ...promptCommands(library)].map(
    ({ name, argument = '', help }) => ({
      text: `/${name}`,
      help: `${argument} ${help}`.trimStart(),
    }),
  );
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

/** Finds the mention that is being typed before the cursor; null if there is none. `prefix` begins with the `@`. */
export function typedMention(
  before: string,
): { readonly prefix: string; readonly typed: string } | null {
  const [prefix, quoted, plain = ''] = /(?<!\S)@(?:"([^"]*)|([^\s"]*))$/.exec(before) ?? [];
  return prefix === undefined ? null : { prefix, typed: quoted ?? plain };
}
