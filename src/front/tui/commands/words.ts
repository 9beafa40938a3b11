import type { Muster } from '../../../api/index.ts';
import { exactLine, terminalText } from '../../../base/terminal-text.ts';
import { oneLine } from '../../../base/text.ts';
import type { UiState } from '../view/ui-state.ts';
import { COMMANDS } from './command-table.ts';

/** What the editor offers to complete to. */
export function commandWords() {
  return Object.entries(COMMANDS).map(([name, { help }]) => ({ word: `/${name}`, help }));
}

/** The commands whose arguments can be completed. */
export function argumentWords(
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

export function agentWords({ agents }: Muster['agents']) {
  return agents.map(({ name, description }) => ({
    word: exactLine(`@${name}`),
    help: oneLine(terminalText(description, 'prose')),
  }));
}
