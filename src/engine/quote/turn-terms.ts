import { MusterError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { parseRules } from '../../policy/rules/rules.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { RecipientTask } from './recipient.ts';

/** The terms that a slash command sets until the next message of the person. */
interface QuotedTerms {
  /** The fields of its item. */
  readonly fields: Pick<QuotedItem, 'allow' | 'model'>;
  /** One line for each term that cannot be had. */
  readonly problems: readonly string[];
}

/** Finds the model of a slash command, and reads the rules that allow calls in its turn. */
export function readTurnTerms(
  { models }: Pick<EngineDeps, 'models'>,
  { spec, state }: Pick<RecipientTask, 'spec' | 'state'>,
  { name, path, model, turnRules }: SlashCommandDefinition,
): QuotedTerms {
  const source = { kind: 'definition', where: path } as const;
  const allow = turnRules.map((text) => ({ text, source }));
  const { rules, problems } = parseRules({ allow, ask: [], deny: [] });
  const parent = state.modelAfterCommand ?? spec.model;
  const chosen =
    model === undefined
      ? undefined
      : models.forTask({ call: model, definition: [], agent: spec.agent, prompt: '', parent });
  const lines = [
    ...problems.map(({ mistake }) => `/${name} allows less than it says: ${mistake}`),
    ...(chosen instanceof MusterError
      ? [`/${name} gets the model of the conversation and not "${model}": ${chosen.message}`]
      : []),
  ];
  return {
    fields: {
      ...(rules.allow.length === 0 ? {} : { allow: rules.allow }),
      ...(chosen === undefined || chosen instanceof MusterError ? {} : { model: chosen }),
    },
    problems: lines.map(sanitizeLine),
  };
}
