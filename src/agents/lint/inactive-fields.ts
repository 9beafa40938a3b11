import type { AgentDefinition } from '../../protocol/agent.ts';
import { normalizeFieldName } from '../fields/field-reader.ts';
import { fieldLine, type Lint, type LintContext } from './findings.ts';

/** Fields that change what an agent does in other products and have no effect here, with the consequence and the alternative. */
const CONSEQUENCES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    hooks: 'The hooks do not run; use the prompt or rules instead.',
    'mcp-servers': 'The servers are not started for it, so their tools are not available.',
    isolation: 'It works in the same directory as the other agents.',
    memory:
      'Write a scope (user, project or local) for a directory of notes; no other value is supported.',
    response: 'Its answer is not checked; describe the form in the prompt.',
    handoffs: 'There are no handoffs; say in the description what comes next.',
    'sub-recipes': 'The sub-recipes are not loaded; write each one as a separate agent.',
    retry: 'There are no retries; say in the prompt how to check the work.',
    resources: 'The files are not added to its context; tell it in the prompt to read them.',
    'system-prompt-mode': "Muster's own system prompt always comes before its prompt.",
    'inherit-project-context': 'It gets the same as every other agent.',
    'inherit-skills': 'It gets the same as every other agent.',
    permission: 'Put patterns for single calls into the rules of the configuration.',
  }).map(([name, consequence]) => [normalizeFieldName(name), consequence]),
);

/** A field that is kept and has no effect. */
export interface InactiveField {
  /** As written. */
  readonly field: string;
  /** The consequence, and the alternative. Null when the field does not change what the agent does. */
  readonly consequence: string | null;
}

/** Returns the fields of a definition that are unknown or have no effect yet. */
export function inactiveFields({
  extra,
}: Pick<AgentDefinition, 'extra'>): readonly InactiveField[] {
  return Object.keys(extra).map((field) => ({
    field,
    consequence: CONSEQUENCES.get(normalizeFieldName(field)) ?? null,
  }));
}

/** Reports a warning for each field without which the agent behaves differently, and one note for all others. */
export function lintInactive(agent: AgentDefinition, { text }: LintContext): readonly Lint[] {
  const fields = inactiveFields(agent);
  const others = fields.filter(({ consequence }) => consequence === null).map(({ field }) => field);
  const lints: Lint[] = [];
  for (const { field, consequence: fix } of fields) {
    if (fix === null) continue;
    const message = `\`${field}\` has no effect in Muster yet.`;
    const line = fieldLine(text, [field]);
    lints.push({ code: 'inactive-field', severity: 'warning', message, fix, line });
  }
  const [first] = others;
  if (first === undefined) return lints;
  const message = `Muster does not use ${others.map((field) => `\`${field}\``).join(', ')}.`;
  const line = fieldLine(text, [first]);
  return [...lints, { code: 'unknown-field', severity: 'note', message, fix: null, line }];
}
