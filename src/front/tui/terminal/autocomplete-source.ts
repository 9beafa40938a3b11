import { ProjectFiles, mentionOf, typedMention } from './project-files.ts';
import type { UiMuster } from '../model/ui-library.ts';
import type { UiState } from '../model/task-tree.ts';
import type { AutocompleteProvider, AutocompleteSuggestions } from '@earendil-works/pi-tui';
import type { Muster } from '../../../api/index.ts';
import { exactLine, terminalText } from '../../../base/terminal-text.ts';
import { oneLine } from '../../../base/text.ts';
import { COMMANDS } from '../update/commands/command-table.ts';

/** What the editor completes to. */
export class WordSource {
  readonly completions: ReturnType<typeof completionsOf>;
  private readonly files: ProjectFiles;

  constructor(muster: UiMuster, ui: UiState, now: () => number) {
    this.files = new ProjectFiles((signal) => muster.listFiles(signal), { now });
    this.completions = completionsOf({
      commands: commandWords,
      argumentsOf: (command) => argumentWords(command, { ui, models: muster.models }),
      files: (typed) => this.files.find(typed),
      agents: () => agentWords(muster.agents),
    });
  }

  stop(): void {
    this.files.stop();
  }
}

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

/** What the editor offers to complete to. */
function commandWords() {
  return Object.entries(COMMANDS).map(([name, { help }]) => ({ word: `/${name}`, help }));
}

/** The commands whose arguments can be completed. */
function argumentWords(
  command: string,
  { ui, models }: { readonly ui: Pick<UiState, 'rows'>; readonly models: Muster['models'] },
) {
  if (command === 'task-status') {
    return [...ui.rows.values()].map(({ id, agent, description }) => ({
      word: id.slice(0, 8),
      help: oneLine(terminalText(`${agent} ${description}`, 'prose')),
    }));
  }
  return command === 'model' ? modelWords(models) : [];
}

/** Tiers, and models that the configuration names. */
function modelWords({ settings }: Muster['models']) {
  const { fast, balanced, powerful } = settings;
  const tiers = Object.entries({ fast, balanced, powerful }).map(([word, model]) => ({
    word,
    help: exactLine(model ?? 'the tier'),
  }));
  const named = [settings.default, settings.flag].flatMap((model) =>
    model === undefined ? [] : [{ word: exactLine(model), help: '' }],
  );
  return [...tiers, ...named];
}

function agentWords({ agents }: Muster['agents']) {
  return agents.map(({ name, description }) => ({
    word: exactLine(`@${name}`),
    help: oneLine(terminalText(description, 'prose')),
  }));
}
