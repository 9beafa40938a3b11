import { readAcceptanceField } from '../../fields/acceptance.ts';
import { basename } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition, AgentParameter } from '../../../protocol/agent.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import {
  readOutputSchemaField,
  readField,
  takeBoolean,
  takeNarrowingFlag,
  fieldText,
  textList,
  readSingleLine,
} from '../../fields/common.ts';

import { OWN_LIMITS } from '../../fields/limits.ts';
import { MUSTER_MODES } from '../../fields/modes.ts';
import { HOOKS_FIELD, readHooksField } from '../../fields/hooks.ts';
import { readRemoteFields, REMOTE_FIELDS } from '../../fields/remote.ts';
import { readServerNames, SERVERS_FIELD } from '../../fields/server-names.ts';
import {
  nameFromPath,
  readMarkdownAgent,
  type AgentDialect,
  type SharedFields,
} from '../../fields/read-agent.ts';
import { readAgentObject } from '../../fields/read-agent-object.ts';
import type { FileDefinitions, FormatReader } from '../../loader/format.ts';

/** The fields that only Muster's own format has. */
const OWN_FIELDS = (
  'delegates-to refuses-questions ask-rules deny-rules unlisted cache context-files ' +
  'compact-at parameters output-schema accept models'
).split(' ');

function readOwnFields(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition> {
  const refuses = takeNarrowingFlag(reader, 'refuses-questions', 'invalid-flag');
  return {
    ...readServerNames(reader, shared),
    ...readHooksField(reader),
    ...readDelegatesTo(reader, shared),
    ...(refuses || shared.refusesQuestions === true ? { refusesQuestions: true } : {}),
    ...readRules(reader),
    ...(takeBoolean(reader, 'unlisted') === true ? { unlisted: true } : {}),
    ...readCache(reader),
    ...(takeBoolean(reader, 'context-files') === false ? { contextFiles: false } : {}),
    ...readCompactAt(reader),
    ...readParameters(reader),
    ...readOutputSchemaField(reader, reader.take('output-schema')),
    ...readAcceptanceField(reader),
    ...readRemoteFields(reader, shared),
    ...readModelLadder(reader),
  };
}

/** Reads `models: [fast, powerful]`, which means the same as a list in `model`. */
function readModelLadder(reader: FieldReader): Pick<AgentDefinition, 'model' | 'models'> {
  const message = '`models` must be a list of models; it is ignored.';
  const read = (value: JsonValue) => (Array.isArray(value) ? textList(value) : undefined);
  const models = readField(reader, ['models'], read, ['invalid-models', message]) ?? [];
  const [model] = models;
  return model === undefined ? {} : { model, models };
}

function readCache(reader: FieldReader): Pick<AgentDefinition, 'cache'> {
  const cache = takeBoolean(reader, 'cache');
  return cache === undefined ? {} : { cache };
}

/** Reads `compact-at: 0.7`, `70%` or a number of tokens, `24000`. */
function readCompactAt(reader: FieldReader): Pick<AgentDefinition, 'compactAt'> {
  const message = `\`compact-at\` must be a share (0.7, 70%) or at least ${MIN_COMPACT_TOKENS} tokens; it is ignored.`;
  const compactAt = readField(reader, ['compact-at'], parseCompactAt, [
    'invalid-compact-at',
    message,
  ]);
  return compactAt === undefined ? {} : { compactAt };
}

function parseCompactAt(value: JsonValue): number | undefined {
  const text = readSingleLine(value) ?? '';
  const number = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text);
  const isShare = number > 0 && number <= 1;
  const isTokens = !text.endsWith('%') && number >= MIN_COMPACT_TOKENS;
  return isShare || (isTokens && Number.isSafeInteger(number)) ? number : undefined;
}

/** The minimum number of tokens. A smaller context would be compacted again and again. */
const MIN_COMPACT_TOKENS = 1_000;

/**
 * Reads `delegates-to: a, b`, the agents to which the agent may delegate. An empty list means none. If `tools` also
 * limits them, as in `Task(a, c)`, only the agents in both lists are allowed.
 */
function readDelegatesTo(
  reader: FieldReader,
  { delegatesTo }: SharedFields,
): Pick<AgentDefinition, 'delegatesTo'> {
  const field = reader.take('delegates-to');
  if (field === undefined || field.value === null) return {};
  const names = textList(field.value);
  if (delegatesTo === undefined) return { delegatesTo: names };
  const allowedNames = new Set(delegatesTo.map((name) => name.toLowerCase()));
  return { delegatesTo: names.filter((name) => allowedNames.has(name.toLowerCase())) };
}

/** Reads the rules that narrow the agent's rights: `deny-rules: [Bash(git push:*)]` and `ask-rules`. */
function readRules(reader: FieldReader): Pick<AgentDefinition, 'rules'> {
  const [ask, deny] = [readRuleTexts(reader, 'ask-rules'), readRuleTexts(reader, 'deny-rules')];
  return ask.length + deny.length === 0 ? {} : { rules: { ask, deny } };
}

/**
 * Reads a list of rules, or one rule as a text. The text is not split, because a rule may contain commas. Other values
 * are reported.
 */
function readRuleTexts(reader: FieldReader, name: string): readonly string[] {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return [];
  const items = toList(field.value);
  const rules = items.map((item) => fieldText(item)).filter((rule) => rule !== undefined);
  if (rules.length < items.length) {
    const message = `\`${name}\` must be a list of rules, as in \`[Bash(git push:*)]\`; items that are not texts have no effect.`;
    reader.warn('invalid-rules', message, field.line);
  }
  return rules;
}

/** Reads `parameters: [{name, description, default}]`, the placeholders `{{ name }}` of the prompt. */
function readParameters(reader: FieldReader): Pick<AgentDefinition, 'parameters'> {
  const field = reader.take('parameters');
  if (field === undefined || field.value === null) return {};
  const items = toList(field.value);
  const parameters = items.map(readParameter).filter((each) => each !== undefined);
  if (parameters.length < items.length) {
    const message = '`parameters` must be a list of `{name, description, default}`.';
    reader.warn('invalid-parameters', message, field.line);
  }
  return parameters.length === 0 ? {} : { parameters };
}

function readParameter(value: JsonValue): AgentParameter | undefined {
  if (!isJsonObject(value)) return undefined;
  const name = fieldText(value['name']);
  const preset = value['default'];
  if (name === undefined) return undefined;
  return {
    name,
    description: fieldText(value['description']) ?? '',
    ...(typeof preset === 'string' ? { default: preset } : {}),
  };
}

function toList(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value];
}

const MUSTER: AgentDialect = {
  vendor: 'muster',
  modes: MUSTER_MODES,
  limits: OWN_LIMITS,
  inactive: [SERVERS_FIELD],
  own: {
    names: [...OWN_FIELDS, ...REMOTE_FIELDS, SERVERS_FIELD, HOOKS_FIELD],
    read: readOwnFields,
  },
};

/**
 * Reads the agents that a program gives as objects with the fields of Muster's own files. `ownTools`: the names of the
 * program's tools, which the agents may name.
 */
export function readProgramAgents(
  agents: JsonObject,
  ownTools: ReadonlySet<string>,
): FileDefinitions {
  const source = { where: 'agents', dialect: MUSTER };
  const read = Object.entries(agents).map(([name, value]) => {
    if (!isJsonObject(value)) return readAgentObject(name, value ?? null, source);
    const granted = takeOwnTools(value, 'tools', ownTools);
    const denied = takeOwnTools(granted.entry, 'disallowedTools', ownTools);
    const { items, problems } = readAgentObject(name, denied.entry, source);
    return { items: items.map((agent) => addOwnTools(agent, granted, denied)), problems };
  });
  return {
    items: read.flatMap(({ items }) => items),
    problems: read.flatMap(({ problems }) => problems),
  };
}

/** The names of a program's tools in a list of an agent, and the agent without them. */
interface TakenTools {
  readonly names: readonly string[];
  readonly entry: JsonObject;
}

function takeOwnTools(
  entry: JsonObject,
  field: 'tools' | 'disallowedTools',
  ownTools: ReadonlySet<string>,
): TakenTools {
  const list = entry[field];
  if (!Array.isArray(list)) return { names: [], entry };
  const names = list.map(String).filter((name) => ownTools.has(name));
  if (names.length === 0) return { names, entry };
  return {
    names,
    entry: { ...entry, [field]: list.filter((each) => !names.includes(String(each))) },
  };
}

function addOwnTools(
  agent: AgentDefinition,
  granted: TakenTools,
  denied: TakenTools,
): AgentDefinition {
  return {
    ...agent,
    tools: { ...agent.tools, names: [...agent.tools.names, ...granted.names] },
    disallowedTools: [...agent.disallowedTools, ...denied.names],
    // Without the program's tools, the list may have been empty.
    problems: agent.problems.filter(
      ({ code }) => code !== 'no-tools' || granted.names.length === 0,
    ),
  };
}

/** Reads Muster's own `*.md` agents, including the built-in ones. */
export const musterReader: FormatReader = { read: (file) => readMarkdownAgent(file, MUSTER) };

/** Reads the `.gen/agents/*.md` files of GenCode, which have the same fields and values. */
export const genReader: FormatReader = {
  read: (file) => readMarkdownAgent(file, { ...MUSTER, vendor: 'gen' }),
};

/** Reads the `NAME/SUBAGENT.md` files of Pegasus, which have the same fields and values, too. */
export const subagentReader: FormatReader = {
  async read(file): Promise<FileDefinitions> {
    const { items, problems } = await readMarkdownAgent(file, { ...MUSTER, vendor: 'subagent' });
    return { items: items.map(checkDirectoryName), problems };
  },
};

function checkDirectoryName(agent: AgentDefinition): AgentDefinition {
  const { path } = agent.origin;
  const directoryName = nameFromPath(path);
  if (agent.name === directoryName || basename(path) !== 'SUBAGENT.md') return agent;
  const message = `Its name is \`${agent.name}\`, and the name of its folder is \`${directoryName}\`; its own name counts.`;
  const problem = { code: 'name-differs-from-folder', message, path };
  return { ...agent, problems: [...agent.problems, problem] };
}
