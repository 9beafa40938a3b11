import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import { fieldText, readSingleLine } from '../fields/common.ts';
import type { FieldReader } from '../fields/field-reader.ts';
import {
  findUnlimitedGrants,
  readToolGrants,
  splitSpecifier,
  splitToolList,
} from '../fields/tool-grants.ts';
import { removeControls } from '../parsing/fields.ts';
import { readArgumentNames, readHint } from '../skills/fields.ts';

/** The fields that are read, and those that are only for people. */
const READ_FIELDS = (
  'description argument-hint arguments allowed-tools context agent subtask model effort ' +
  'disable-model-invocation name when_to_use version author license metadata'
).split(' ');
/** Fields that other products document and that have no effect here. */
const INACTIVE_FIELDS = ['hooks', 'paths', 'shell', 'skills', 'disallowed-tools', 'background'];

export const KNOWN_FIELDS = [...READ_FIELDS, ...INACTIVE_FIELDS];

/** The maximum number of characters of a description. Hostile files may have far longer ones. */
const MAX_DESCRIPTION_LENGTH = 2_000;
/** The maximum number of characters of a description that is the beginning of the text. */
const MAX_FALLBACK_LENGTH = 120;

/** The fields of a command that its front matter decides. */
export type CommandFields = Pick<
  SlashCommandDefinition,
  | 'description'
  | 'argumentHint'
  | 'argumentNames'
  | 'shellRules'
  | 'turnRules'
  | 'model'
  | 'context'
  | 'agent'
  | 'withoutEffect'
>;

/** Reads the fields of a command, and collects those that have no effect. */
export function readCommandFields(reader: FieldReader, body: string): CommandFields {
  const description = readDescriptionOrBeginning(reader, body);
  const argumentHint = readHint(reader);
  const argumentNames = readArgumentNames(reader);
  const tools = readAllowedTools(reader);
  const task = readTask(reader);
  const model = readModel(reader, task.fields);
  const effort = readSingleLine(reader.take('effort')?.value);
  const inactive = INACTIVE_FIELDS.filter((name) => reader.take(name) !== undefined);
  for (const name of READ_FIELDS) reader.take(name);
  return {
    description,
    ...(argumentHint === undefined ? {} : { argumentHint }),
    argumentNames,
    ...tools,
    ...task.fields,
    ...model.fields,
    withoutEffect: [
      ...task.withoutEffect,
      ...model.withoutEffect,
      ...(effort === undefined
        ? []
        : [`effort: ${effort} — the command runs with the effort of the conversation.`]),
      ...inactive.map((name) => `${name}: Muster does not use this field of a command.`),
    ],
  };
}

function readDescriptionOrBeginning(reader: FieldReader, body: string): string {
  const written = fieldText(reader.take('description')?.value);
  if (written !== undefined) return truncate(written, MAX_DESCRIPTION_LENGTH);
  const beginning = removeControls(body.slice(0, MAX_DESCRIPTION_LENGTH));
  const line = beginning.split('\n').find((each) => each.replace(/^#+\s*/, '').trim() !== '') ?? '';
  return truncate(collapseWhitespace(line.replace(/^#+\s*/, '')).trim(), MAX_FALLBACK_LENGTH);
}

/** The agent of opencode that does everything, as the agent of the conversation does here. */
const MAIN_AGENT_OF_OPENCODE = 'build';

/**
 * Reads whether the command runs as a task: `context: fork` of Claude Code, or `subtask: true` of opencode. In opencode, the
 * agent that a command names takes over the conversation. The agent of a conversation never changes here, so a task does it.
 */
function readTask(reader: FieldReader) {
  const context = readSingleLine(reader.take('context')?.value);
  const subtask = reader.take('subtask')?.value;
  const named = readSingleLine(reader.take('agent')?.value);
  const isOfOpencode = reader.vendor === 'opencode';
  const isMain = isOfOpencode && named?.toLowerCase() === MAIN_AGENT_OF_OPENCODE;
  const agent = isMain ? undefined : named;
  const isTask =
    context === 'fork' ||
    subtask === true ||
    (isOfOpencode && agent !== undefined && subtask !== false);
  const fields: Pick<CommandFields, 'context' | 'agent'> = isTask
    ? { context: 'fork', ...(agent === undefined ? {} : { agent }) }
    : {};
  const isOdd = !isTask && context !== undefined && context !== 'inline' && context !== 'inherit';
  return {
    fields,
    withoutEffect: [
      ...(isOdd ? [`context: ${context} — only fork has an effect.`] : []),
      ...(isMain
        ? [
            `agent: ${named} — the agent for everything in opencode has no equivalent with this name.`,
          ]
        : []),
      ...(isTask || agent === undefined
        ? []
        : [
            `agent: ${agent} — the agent of the conversation follows the text; with subtask: true or context: fork, a task of this agent does.`,
          ]),
    ],
  };
}

/** Reads the model of the turn. A task has the model of its agent. */
function readModel(reader: FieldReader, { context }: Pick<CommandFields, 'context'>) {
  const model = readSingleLine(reader.take('model')?.value);
  if (model === undefined || model.toLowerCase() === 'inherit')
    return { fields: {}, withoutEffect: [] };
  return context === undefined
    ? { fields: { model }, withoutEffect: [] }
    : { fields: {}, withoutEffect: [`model: ${model} — the task has the model of its agent.`] };
}

const NO_RULES: Pick<CommandFields, 'shellRules' | 'turnRules'> = { shellRules: [], turnRules: [] };

/**
 * Reads `allowed-tools`: the rules for Bash, which allow the shell parts of the command, and those for other tools, which
 * allow calls in its turn.
 */
function readAllowedTools(reader: FieldReader): typeof NO_RULES {
  const field = reader.take('allowed-tools');
  if (field === undefined || field.value === null) return NO_RULES;
  const words = splitToolList(field.value);
  if (words === undefined) {
    reader.warn(
      'invalid-tools',
      '`allowed-tools` cannot be read. Write `Bash(git diff:*)`.',
      field.line,
    );
    return NO_RULES;
  }
  const isShell = (word: string): boolean =>
    findUnlimitedGrants(reader, splitSpecifier(word)?.name ?? word).some(
      ({ tool }) => tool === 'Bash',
    );
  const shell = words.filter(isShell);
  const others = words.filter((word) => !isShell(word));
  const rules = shell.map((word) => {
    const inside = splitSpecifier(word)?.inside.trim() ?? '*';
    return inside === '*' || inside === ':*' ? 'Bash' : `Bash(${inside})`;
  });
  const { names, limited } = readToolGrants(reader, others, field.line);
  const limits = limited?.limits.flatMap((limit) => limit.rules) ?? [];
  return {
    shellRules: [...new Set(rules)],
    turnRules: [...(limited?.unlimited ?? names), ...limits],
  };
}
