import { formatAcceptance } from '../protocol/acceptance.ts';
import type { RemoteAgent } from '../protocol/remote-agent.ts';
import type { Document, YAMLMap, YAMLSeq } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { truncate } from '../base/text.ts';
import {
  listedTools,
  type AgentDefinition,
  type AgentParameter,
  type ToolSelection,
} from '../protocol/agent.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import { normalizeFieldName } from './fields/field-reader.ts';
import { writeLimits } from './fields/limits.ts';
import { MUSTER_MODES } from './fields/modes.ts';

export interface WrittenAgent {
  /** The full text of the file. */
  readonly text: string;
  /** The names of fields of the definition that the format does not have. */
  readonly leftOut: readonly string[];
}

/** The fields that have no effect but are written, because information such as a license must not be lost. */
const KEPT_FIELDS: ReadonlySet<string> = new Set(
  ['author', 'authors', 'category', 'homepage', 'license', 'tags', 'version'].map(
    normalizeFieldName,
  ),
);

/**
 * Writes a definition as a file in Muster's own format. Reading this file gives the same definition, except for its
 * origin, its problems and the omitted fields. A mode keeps its meaning, under Muster's name. The caller must refuse an
 * `unusable` definition, because reading the file would give a different definition. Loads the YAML library.
 */
export async function writeAgent(agent: AgentDefinition): Promise<WrittenAgent> {
  const keptFields = Object.entries(agent.extra).filter(
    ([key, value]) => KEPT_FIELDS.has(normalizeFieldName(key)) && isPlain(value ?? null),
  );
  const fields = { ...createFields(agent), ...Object.fromEntries(keptFields) };
  const names = new Set(keptFields.map(([key]) => key));
  return {
    text: `---\n${await toYaml(fields)}---\n\n${createBody(agent.prompt)}\n`,
    leftOut: Object.keys(agent.extra).filter((key) => !names.has(key)),
  };
}

/** Returns the fields in the order in which people write them. Undefined fields are not written. */
function createFields(agent: AgentDefinition): JsonObject {
  const { aliases, description, disallowedTools, limits, mode, model, models, tools } = agent;
  return {
    name: agent.name,
    aliases: listOrUndefined(aliases),
    description: description === '' ? undefined : description,
    tools: toolsField(tools.mode, listedTools(agent)),
    'disallowed-tools': disallowedTools.length === 0 ? undefined : disallowedTools.join(', '),
    'delegates-to': agent.delegatesTo,
    'ask-rules': listOrUndefined(agent.rules?.ask ?? []),
    'deny-rules': listOrUndefined(agent.rules?.deny ?? []),
    model: models ?? model,
    effort: agent.effort,
    'permission-mode': chooseModeName(agent.permissionMode, mode),
    'refuses-questions': agent.refusesQuestions,
    'max-turns': limits.maxTurns,
    ...writeLimits(limits),
    background: agent.background,
    unlisted: agent.unlisted,
    cache: agent.cache,
    'context-files': agent.contextFiles,
    'compact-at': agent.compactAt,
    skills: listOrUndefined(agent.skills ?? []),
    memory: agent.memory,
    'mcp-servers': agent.servers,
    hooks: agent.hooks,
    ...writeRemote(agent.remote),
    'initial-prompt': agent.initialPrompt,
    parameters: agent.parameters?.map(parameterField),
    'output-schema': agent.outputSchema,
    accept: agent.accept === undefined ? undefined : formatAcceptance(agent.accept),
    color: agent.color,
  };
}

/** Returns the field that names the program or server of an agent. */
function writeRemote(remote: RemoteAgent | undefined): Readonly<Record<string, JsonValue>> {
  if (remote === undefined) return {};
  const { protocol, ...fields } = remote;
  return { [protocol]: { ...fields } };
}

function parameterField({ name, description, default: preset }: AgentParameter): JsonObject {
  return { name, description, ...(preset === undefined ? {} : { default: preset }) };
}

function listOrUndefined(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : names;
}

function toolsField(mode: ToolSelection['mode'], names: readonly string[]): JsonValue | undefined {
  switch (mode) {
    case 'all':
      return undefined;
    case 'deny':
      return { mode: 'denylist', deny: names };
    case 'allow':
      return names.length === 0 ? [] : names.join(', ');
    default:
      return mode satisfies never;
  }
}

const MODE_NAMES: Readonly<Record<PermissionMode, string>> = {
  plan: 'plan',
  default: 'manual',
  acceptEdits: 'acceptEdits',
  autonomous: 'autonomous',
};

/**
 * Returns the vendor's name for the mode if it has the same meaning in Muster's format, and otherwise Muster's name.
 */
function chooseModeName(name: string | null, mode: PermissionMode | null): string | undefined {
  const known = name === null ? undefined : MUSTER_MODES.get(name);
  if (name !== null && known?.mode === mode) return name;
  return mode === null ? undefined : MODE_NAMES[mode];
}

/** Returns whether a value is a text, a number or a boolean, or a list of these. */
function isPlain(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every((item: JsonValue) => isPlain(item));
  return value !== null && !isJsonObject(value);
}

/**
 * Prepares the prompt for the file. NUL characters are removed, because a file with a NUL character counts as binary.
 */
function createBody(prompt: string): string {
  return prompt.replaceAll('\0', '').trim();
}

/** Writes each field on one line, including lists and maps, except for texts with several lines. */
async function toYaml(fields: JsonObject): Promise<string> {
  const { Document, visit } = await import('yaml');
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  const document: Document = new Document(Object.fromEntries(present), { version: '1.2' });
  const setFlow = (_: unknown, node: YAMLMap | YAMLSeq): void => {
    node.flow = node !== document.contents;
  };
  visit(document, { Map: setFlow, Seq: setFlow });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** The maximum number of code points of a file name. File systems allow more in any script. */
const MAX_FILE_NAME_LENGTH = 60;

/** Returns the name of the file for an agent with this name: `Rust Expert` → `rust-expert.md`. */
export function agentFileName(name: string): string {
  const slug = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-')
    .replaceAll(/^[^\p{L}\p{N}_]+/gu, '');
  const stem = truncate(slug, MAX_FILE_NAME_LENGTH).replaceAll(/[-.]+$/g, '');
  return `${stem === '' ? 'agent' : stem}.md`;
}
