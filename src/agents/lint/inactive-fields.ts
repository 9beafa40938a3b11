import type { AgentDefinition } from '../../protocol/agent.ts';
import { foldFieldName } from '../fields/field-reader.ts';
import { fieldLine } from './field-line.ts';
import type { Lint, LintContext } from './finding.ts';

/** Fields that do nothing here and change what an agent does where they act, and what to do without. */
const BEHAVIOUR: ReadonlyMap<string, string> = new Map(
  Object.entries({
    hooks:
      'What they did before and after calls does not happen; say it in the prompt, or in rules.',
    'mcp-servers': 'These servers are not started for it, and their tools are not there.',
    isolation: 'It works in the same directory as everybody else.',
    memory:
      'Write a scope (user, project, local) for a directory of notes; nothing else is understood.',
    response: 'Its answer is not checked; say the form in the prompt.',
    handoffs: 'It hands nothing over; say in the description what comes next.',
    'sub-recipes': 'They are not loaded; write each as an agent of its own.',
    retry: 'It is not tried again; say in the prompt how to check the work.',
    resources: 'These files are not put into its context; name them in the prompt, to be read.',
    'system-prompt-mode': "Muster's own system prompt stands before its prompt in every case.",
    'inherit-project-context': 'It gets what every agent gets.',
    'inherit-skills': 'It gets what every agent gets.',
    permission: 'Patterns of single calls belong into the rules of the configuration.',
  }).map(([name, consequence]) => [foldFieldName(name), consequence]),
);

/** A field that is kept and does nothing. */
export interface InactiveField {
  /** As written. */
  readonly field: string;
  /** What its doing nothing comes to; null: it says nothing about what the agent does. */
  readonly consequence: string | null;
}

/** What of a definition was understood by nobody, or does nothing yet. */
export function inactiveFields({
  extra,
}: Pick<AgentDefinition, 'extra'>): readonly InactiveField[] {
  return Object.keys(extra).map((field) => ({
    field,
    consequence: BEHAVIOUR.get(foldFieldName(field)) ?? null,
  }));
}

/** A warning for each field whose silence changes the agent, one note for all others. */
export function lintInactive(agent: AgentDefinition, { text }: LintContext): readonly Lint[] {
  const fields = inactiveFields(agent);
  const others = fields.filter(({ consequence }) => consequence === null).map(({ field }) => field);
  const [first] = others;
  return [
    ...fields.flatMap(({ field, consequence }): Lint[] =>
      consequence === null
        ? []
        : [
            {
              code: 'inactive-field',
              severity: 'warning',
              message: `\`${field}\` does nothing in Muster yet.`,
              fix: consequence,
              line: fieldLine(text, [field]),
            },
          ],
    ),
    ...(first === undefined
      ? []
      : [
          {
            code: 'unknown-field',
            severity: 'note' as const,
            message: `Muster does not use ${others.map((field) => `\`${field}\``).join(', ')}.`,
            fix: null,
            line: fieldLine(text, [first]),
          },
        ]),
  ];
}
