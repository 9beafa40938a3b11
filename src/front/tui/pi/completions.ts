import type { AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';

/** Something that can be completed: `/help`, `@Explore`. */
export interface Completion {
  readonly word: string;
  readonly help: string;
}

/** Words with a slash at the beginning of a message, and names with an at sign wherever a word begins. */
export function completionsOf(source: {
  readonly commands: () => readonly Completion[];
  readonly agents: () => readonly Completion[];
}): AutocompleteProvider {
  return {
    triggerCharacters: ['@'],
    async getSuggestions(lines, line, column) {
      const before = (lines[line] ?? '').slice(0, column);
      if (line === 0 && /^\/[\w-]*$/.test(before)) return fitting(source.commands(), before);
      const [name] = /(?<![^\s])@[\w-]*$/.exec(before) ?? [];
      return name === undefined ? null : fitting(source.agents(), name);
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
