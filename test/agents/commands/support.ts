import { expandCommand, type Expansion } from '../../../src/agents/commands/expand.ts';
import type { SlashCommandDefinition } from '../../../src/protocol/slash-command.ts';

/** A command of the user with this text. */
export function commandWith(
  body: string,
  parts: Partial<SlashCommandDefinition> = {},
): SlashCommandDefinition {
  return {
    name: 'review',
    description: 'Reviews.',
    body,
    syntax: 'claude',
    path: '/commands/review.md',
    scope: 'user',
    source: 'claude',
    argumentNames: [],
    shellRules: [],
    turnRules: [],
    withoutEffect: [],
    extra: {},
    problems: [],
    ...parts,
  };
}

/** The parts of an expanded text, each as `kind: text`; the problem if there is one. */
export function expanded(
  body: string,
  args: string,
  parts: Partial<SlashCommandDefinition> = {},
): readonly string[] {
  return shown(expandCommand(commandWith(body, parts), args));
}

function shown(expansion: Expansion): readonly string[] {
  if (!expansion.ok) return [expansion.problem];
  return expansion.parts.map(({ kind, text }) => `${kind}: ${text}`);
}
