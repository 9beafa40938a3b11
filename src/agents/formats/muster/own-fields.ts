import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition, AgentParameter } from '../../../protocol/agent.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { readOutputSchema } from '../../fields/output-schema.ts';
import { readBoolean, takeFlag, text, textList, word } from '../../fields/common.ts';

/** Muster's own fields, for what other vendors say by modes, permissions, templates or among the tools. */
export const OWN_FIELDS = [
  'delegates-to',
  'refuses-questions',
  'ask-rules',
  'deny-rules',
  'unlisted',
  'cache',
  'context-files',
  'compact-at',
  'parameters',
  'output-schema',
];

type Shared = Pick<AgentDefinition, 'delegatesTo' | 'refusesQuestions'>;

export function readOwnFields(reader: FieldReader, shared: Shared): Partial<AgentDefinition> {
  return {
    ...readDelegatesTo(reader, shared),
    ...readRefusal(reader, shared),
    ...readRules(reader),
    ...(takeFlag(reader, 'unlisted') === true ? { unlisted: true } : {}),
    ...readCache(reader),
    ...(takeFlag(reader, 'context-files') === false ? { contextFiles: false } : {}),
    ...readCompactAt(reader),
    ...readParameters(reader),
    ...readOutputSchema(reader, reader.take('output-schema')),
  };
}

function readCache(reader: FieldReader): Pick<AgentDefinition, 'cache'> {
  const cache = takeFlag(reader, 'cache');
  return cache === undefined ? {} : { cache };
}

/** `compact-at: 0.7`, `70%` or tokens, `24000`. */
function readCompactAt(reader: FieldReader): Pick<AgentDefinition, 'compactAt'> {
  const field = reader.take('compact-at');
  if (field === undefined || field.value === null) return {};
  const said = word(field.value) ?? '';
  const compactAt = said.endsWith('%') ? Number(said.slice(0, -1)) / 100 : Number(said);
  const isShare = compactAt > 0 && compactAt <= 1;
  const isTokens = !said.endsWith('%') && compactAt >= LEAST_COMPACT_TOKENS;
  if (isShare || (isTokens && Number.isSafeInteger(compactAt))) return { compactAt };
  const message = `\`compact-at\` must be a share (0.7, 70%) or at least ${LEAST_COMPACT_TOKENS} tokens; it is ignored.`;
  reader.warn('invalid-compact-at', message, field.line);
  return {};
}

/** A smaller context than this would be compacted for ever. */
const LEAST_COMPACT_TOKENS = 1_000;

/**
 * The agents that it may delegate to (`delegates-to: a, b`, none where the list is empty): of those that
 * `Task(a, c)` names, too, those that stand in both.
 */
function readDelegatesTo(
  reader: FieldReader,
  { delegatesTo }: Shared,
): Pick<AgentDefinition, 'delegatesTo'> {
  const field = reader.take('delegates-to');
  if (field === undefined || field.value === null) return {};
  const names = textList(field.value);
  if (delegatesTo === undefined) return { delegatesTo: names };
  const both = new Set(delegatesTo.map((name) => name.toLowerCase()));
  return { delegatesTo: names.filter((name) => both.has(name.toLowerCase())) };
}

/** Whether what would be asked of a person is refused. Whatever is no clear `false` counts as true. */
function readRefusal(
  reader: FieldReader,
  { refusesQuestions = false }: Shared,
): Pick<AgentDefinition, 'refusesQuestions'> {
  const field = reader.take('refuses-questions');
  const said = field === undefined || field.value === null ? false : readBoolean(field.value);
  if (said === undefined) {
    const message = '`refuses-questions` must be true or false; it counts as true.';
    reader.warn('invalid-flag', message, field?.line);
  }
  return refusesQuestions || said !== false ? { refusesQuestions: true } : {};
}

/** Rules that narrow its rights: `deny-rules: [Bash(git push:*)]`, `ask-rules`. */
function readRules(reader: FieldReader): Pick<AgentDefinition, 'rules'> {
  const [ask, deny] = [ruleTexts(reader, 'ask-rules'), ruleTexts(reader, 'deny-rules')];
  return ask.length + deny.length === 0 ? {} : { rules: { ask, deny } };
}

/** A rule may hold commas, so text alone is one rule. What is no text is told. */
function ruleTexts(reader: FieldReader, name: string): readonly string[] {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return [];
  const items = listOf(field.value);
  const rules = items.map((item) => text(item)).filter((rule) => rule !== undefined);
  if (rules.length < items.length) {
    const message = `\`${name}\` must be a list of rules, as in \`[Bash(git push:*)]\`; what is no text has no effect.`;
    reader.warn('invalid-rules', message, field.line);
  }
  return rules;
}

/** `parameters: [{name, description, default}]`: what the prompt leaves open as `{{ name }}`. */
function readParameters(reader: FieldReader): Pick<AgentDefinition, 'parameters'> {
  const field = reader.take('parameters');
  if (field === undefined || field.value === null) return {};
  const items = listOf(field.value);
  const parameters = items.map(parameter).filter((each) => each !== undefined);
  if (parameters.length < items.length) {
    const message = '`parameters` must be a list of `{name, description, default}`.';
    reader.warn('invalid-parameters', message, field.line);
  }
  return parameters.length === 0 ? {} : { parameters };
}

function parameter(value: JsonValue): AgentParameter | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = text(value['name']);
  const preset = value['default'];
  if (name === undefined) return undefined;
  return {
    name,
    description: text(value['description']) ?? '',
    ...(typeof preset === 'string' ? { default: preset } : {}),
  };
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value];
}
