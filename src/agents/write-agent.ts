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
  /** Fields of the definition that the format does not have, as they were written. */
  readonly leftOut: readonly string[];
}

/** Fields that have no effect and are kept, because a license, for example, must not get lost. */
const KEPT: ReadonlySet<string> = new Set(
  ['author', 'authors', 'category', 'homepage', 'license', 'tags', 'version'].map(
    normalizeFieldName,
  ),
);

/**
 * Writes a definition as a file in Muster's own format. Reading that file gives the same definition, except for its
 * origin, its problems and the fields left out. A mode keeps its meaning, under Muster's name for it. An `unusable`
 * definition would come back as a different one, so the caller must refuse it. Loads the YAML library.
 */
export async function writeAgent(agent: AgentDefinition): Promise<WrittenAgent> {
  const kept = Object.entries(agent.extra).filter(
    ([key, value]) => KEPT.has(normalizeFieldName(key)) && isPlain(value ?? null),
  );
  const fields = { ...fieldsOf(agent), ...Object.fromEntries(kept) };
  const names = new Set(kept.map(([key]) => key));
  return {
    text: `---\n${await toYaml(fields)}---\n\n${bodyOf(agent.prompt)}\n`,
    leftOut: Object.keys(agent.extra).filter((key) => !names.has(key)),
  };
}

/** Returns the fields in the order in which people write them. Undefined fields are not written. */
function fieldsOf(agent: AgentDefinition): JsonObject {
  const { aliases, description, disallowedTools, limits, mode, model, models, tools } = agent;
  return {
    name: agent.name,
    aliases: listOf(aliases),
    description: description === '' ? undefined : description,
    tools: toolsField(tools.mode, listedTools(agent)),
    'disallowed-tools': disallowedTools.length === 0 ? undefined : disallowedTools.join(', '),
    'delegates-to': agent.delegatesTo,
    'ask-rules': listOf(agent.rules?.ask ?? []),
    'deny-rules': listOf(agent.rules?.deny ?? []),
    model: models ?? model,
    effort: agent.effort,
    'permission-mode': modeName(agent.permissionMode, mode),
    'refuses-questions': agent.refusesQuestions,
    'max-turns': limits.maxTurns,
    ...writeLimits(limits),
    background: agent.background,
    unlisted: agent.unlisted,
    cache: agent.cache,
    'context-files': agent.contextFiles,
    'compact-at': agent.compactAt,
    skills: listOf(agent.skills ?? []),
    memory: agent.memory,
    'initial-prompt': agent.initialPrompt,
    parameters: agent.parameters?.map(parameterField),
    'output-schema': agent.outputSchema,
    color: agent.color,
  };
}

function parameterField({ name, description, default: preset }: AgentParameter): JsonObject {
  return { name, description, ...(preset === undefined ? {} : { default: preset }) };
}

function listOf(words: readonly string[]): readonly string[] | undefined {
  return words.length === 0 ? undefined : words;
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

/** Returns the vendor's name for the mode if it means the same in Muster's format, otherwise Muster's name for it. */
function modeName(name: string | null, mode: PermissionMode | null): string | undefined {
  const known = name === null ? undefined : MUSTER_MODES.get(name);
  if (name !== null && known?.mode === mode) return name;
  return mode === null ? undefined : MODE_NAMES[mode];
}

/** Whether a value is a text, a number, or a list of them. */
function isPlain(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every((item: JsonValue) => isPlain(item));
  return value !== null && !isJsonObject(value);
}

/** Removes NUL, because a file with one counts as a binary file. */
function bodyOf(prompt: string): string {
  return prompt.replaceAll('\0', '').trim();
}

/** Writes each field on one line, including lists and maps, except for texts with several lines. */
async function toYaml(fields: JsonObject): Promise<string> {
  const { Document, visit } = await import('yaml');
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  const document: Document = new Document(Object.fromEntries(present), { version: '1.2' });
  const onOneLine = (_: unknown, node: YAMLMap | YAMLSeq): void => {
    node.flow = node !== document.contents;
  };
  visit(document, { Map: onOneLine, Seq: onOneLine });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** The maximum number of code points of a file name. In any script that is less than file systems allow. */
const MAX_FILE_NAME = 60;

/** Returns the name of the file that an agent of this name is written to: `Rust Expert` → `rust-expert.md`. */
export function agentFileName(name: string): string {
  const slug = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-')
    .replaceAll(/^[^\p{L}\p{N}_]+/gu, '');
  const stem = truncate(slug, MAX_FILE_NAME).replaceAll(/[-.]+$/g, '');
  return `${stem === '' ? 'agent' : stem}.md`;
}
