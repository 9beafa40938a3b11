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
import { foldFieldName } from './fields/field-reader.ts';
import { MUSTER_MODES } from './fields/modes.ts';

export interface WrittenAgent {
  /** The whole file. */
  readonly text: string;
  /** Fields of the definition that have no place in it, as they were written there. */
  readonly leftOut: readonly string[];
}

/** Whatever else a file says of itself: nothing acts on these, and a licence must not get lost. */
const KEPT: ReadonlySet<string> = new Set(
  ['author', 'authors', 'category', 'homepage', 'license', 'tags', 'version'].map(foldFieldName),
);

/**
 * A definition as a file of Muster's own format. Read again it is the same definition but for its
 * origin, its problems and the fields left out; a mode keeps what it means, in Muster's words. One that
 * is `unusable` would come back as another: whoever calls refuses it. Loads the YAML library.
 */
export async function writeAgent(agent: AgentDefinition): Promise<WrittenAgent> {
  const kept = Object.entries(agent.extra).filter(
    ([key, value]) => KEPT.has(foldFieldName(key)) && isPlain(value ?? null),
  );
  const fields = { ...fieldsOf(agent), ...Object.fromEntries(kept) };
  const names = new Set(kept.map(([key]) => key));
  return {
    text: `---\n${await toYaml(fields)}---\n\n${bodyOf(agent.prompt)}\n`,
    leftOut: Object.keys(agent.extra).filter((key) => !names.has(key)),
  };
}

/** In the order in which people write them. Undefined ones stand in no file. */
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
    'permission-mode': modeWord(agent.permissionMode, mode),
    'refuses-questions': agent.refusesQuestions,
    'max-turns': limits.maxTurns,
    'max-tokens': limits.maxTokens,
    'max-cost-usd': limits.maxCostUsd,
    'max-tool-bytes': limits.maxToolBytes,
    'wall-seconds': limits.wallSeconds,
    'result-max-tokens': limits.resultMaxTokens,
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

const MODE_WORDS: Readonly<Record<PermissionMode, string>> = {
  plan: 'plan',
  default: 'manual',
  acceptEdits: 'acceptEdits',
  autonomous: 'autonomous',
};

/** The vendor's own word where it means the same here; else Muster's word for what it means. */
function modeWord(word: string | null, mode: PermissionMode | null): string | undefined {
  const wish = word === null ? undefined : MUSTER_MODES.get(word);
  if (word !== null && wish?.mode === mode) return word;
  return mode === null ? undefined : MODE_WORDS[mode];
}

/** Text, numbers and lists of them. */
function isPlain(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every((item: JsonValue) => isPlain(item));
  return value !== null && !isJsonObject(value);
}

/** A file that holds a NUL is taken for a binary one. */
function bodyOf(prompt: string): string {
  return prompt.replaceAll('\0', '').trim();
}

/** One line a field, lists and maps on it; only text of several lines takes more. */
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

/** The most code points of a file name. In any script that is less than file systems allow. */
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
