import { sanitizeForTerminal, sanitizeLine } from '../../../../base/terminal-text.ts';
import { collapseWhitespace } from '../../../../base/text.ts';
import type { AppState } from '../../model/app-state.ts';
import type { TreeTask } from '../../model/task-row.ts';
import type { LibraryInfo } from '../../model/ui-library.ts';

/** A text that the editor offers as a completion: `/help`, `@Explore`. */
export interface Completion {
  readonly text: string;
  readonly help: string;
}

export function taskCompletions({ tree }: AppState): readonly Completion[] {
  return toCompletions([...tree.rows.values()]);
}

/** Lists the tasks that have workspaces. */
export function workspaceCompletions({ tree }: AppState): readonly Completion[] {
  return toCompletions([...tree.rows.values()].filter(({ workspace }) => workspace !== null));
}

function toCompletions(rows: readonly TreeTask[]): readonly Completion[] {
  return rows.map(({ id, agent, description }) => ({
    text: id.slice(0, 8),
    help: collapseWhitespace(sanitizeForTerminal(`${agent} ${description}`, 'prose')),
  }));
}

export function shellCompletions({ tree }: AppState): readonly Completion[] {
  return [...tree.shells.values()].map(({ id, command }) => ({
    text: id.slice(0, 8),
    help: collapseWhitespace(sanitizeForTerminal(command, 'prose')),
  }));
}

/** Returns the tiers, and the models that the configuration names. */
export function modelCompletions({ models }: Pick<LibraryInfo, 'models'>): readonly Completion[] {
  const { fast, balanced, powerful, default: standard, flag } = models.settings;
  const tiers = Object.entries({ fast, balanced, powerful }).map(([text, model]) => ({
    text,
    help: sanitizeLine(model ?? 'the tier'),
  }));
  const named = [standard, flag].flatMap((model) =>
    model === undefined ? [] : [{ text: sanitizeLine(model), help: '' }],
  );
  return [...tiers, ...named];
}

export function agentCompletions({ agents }: LibraryInfo['agents']): readonly Completion[] {
  return agents.map(({ name, description }) => ({
    text: sanitizeLine(`@${name}`),
    help: collapseWhitespace(sanitizeForTerminal(description, 'prose')),
  }));
}
