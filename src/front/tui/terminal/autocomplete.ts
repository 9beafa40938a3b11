import type { AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import type { AppState } from '../model/app-state.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { COMMANDS } from '../update/commands/command-table.ts';
import { agentCompletions, type Completion } from '../update/commands/completions.ts';
import { mentionOf, FileCompletions, typedMention } from './project-files.ts';

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
