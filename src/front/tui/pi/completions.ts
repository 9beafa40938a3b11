import type { AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import { mentionOf, typedMention } from '../files/mention-word.ts';

/** Something that can be completed: `/help`, `@Explore`. */
export interface Completion {
  readonly word: string;
  readonly help: string;
}

export interface CompletionSource {
  readonly commands: () => readonly Completion[];
  /** What can stand behind a command: `task-status`. */
  readonly argumentsOf: (command: string) => readonly Completion[];
  readonly agents: () => readonly Completion[];
  /** Paths that fit what is typed, the best first. */
  readonly files: (typed: string) => Promise<readonly string[]>;
}

/** Words with a slash at the beginning of a message, and agents and files with an at sign wherever a word begins. */
export function completionsOf(source: CompletionSource): AutocompleteProvider {
  return {
    triggerCharacters: ['@'],
    async getSuggestions(lines, line, column, { signal }) {
      const before = (lines[line] ?? '').slice(0, column);
      if (line === 0 && /^\/[\w-]*$/.test(before)) return fitting(source.commands(), before);
      const [, command, argument] = /^\/([\w-]+) (\S*)$/.exec(before) ?? [];
      if (line === 0 && command !== undefined && argument !== undefined) {
        return fitting(source.argumentsOf(command), argument);
      }
      const mention = typedMention(before);
      if (mention === null) return null;
      const agents = fitting(source.agents(), mention.prefix)?.items ?? [];
      const files = await source.files(mention.typed);
      if (signal.aborted) return null;
      const named = files.map((path) => ({ value: mentionOf(path), label: path }));
      const items = [...agents, ...named];
      return items.length === 0 ? null : { items, prefix: mention.prefix };
    },
    applyCompletion(lines, cursorLine, column, item, prefix) {
      const line = lines[cursorLine] ?? '';
      const start = column - prefix.length;
      const text = `${line.slice(0, start)}${item.value} ${line.slice(column)}`;
      return {
        lines: lines.with(cursorLine, text),
        cursorLine,
        cursorCol: start + item.value.length + 1,
      };
    },
    shouldTriggerFileCompletion: () => false,
  };
}

function fitting(all: readonly Completion[], prefix: string): AutocompleteSuggestions | null {
  const low = prefix.toLowerCase();
  const items = all
    .filter(({ word }) => word.toLowerCase().startsWith(low))
    .map(({ word, help }) => ({ value: word, label: word, description: help }));
  return items.length === 0 ? null : { items, prefix };
}
