import type { JsonObject } from '../../../base/json.ts';
import { isJsonObject } from '../../../base/json.ts';
import type { AgentDefinition, ToolSelection } from '../../../protocol/agent.ts';
import { expandToolWord } from '../../../protocol/tool-aliases.ts';
import type { Field } from '../../front-matter/fields.ts';
import { shownMessage } from './clean-text.ts';
import type { FieldReader } from './field-reader.ts';
import { takeFirst } from './common.ts';
import { mcpToolName } from './mcp-names.ts';
import { bracketed, toolWords } from './tool-words.ts';

const ALL_TOOLS: ToolSelection = { mode: 'all', names: [] };
const NO_TOOLS: ToolSelection = { mode: 'allow', names: [] };

type ToolFields = Pick<AgentDefinition, 'tools' | 'disallowedTools' | 'delegatesTo' | 'unusable'>;

/** Names of the fields that say which tools an agent gets. */
export const TOOL_FIELDS = ['tools', 'allowed-tools', 'disallowed-tools', 'exclude-tools'];

/**
 * `tools` (`A, B`, a list, `*`, opencode's `{tool: false}`, or `{mode, allow, deny}`; absent
 * means all, empty none) and `disallowedTools`. What cannot be read gives no tools and a warning: a
 * limit that a file meant to set must never become none.
 */
export function readToolFields(reader: FieldReader): ToolFields {
  const tools = readTools(reader);
  const field = takeFirst(reader, ['disallowed-tools', 'exclude-tools']);
  if (field === undefined) return { disallowedTools: [], ...tools };
  const denied = deniedTools(reader, field);
  return denied === undefined
    ? { ...unreadable(reader, '`disallowedTools`', field.line), disallowedTools: [] }
    : { ...tools, disallowedTools: denied };
}

type Allowed = Pick<AgentDefinition, 'tools' | 'delegatesTo' | 'unusable'>;

function readTools(reader: FieldReader): Allowed {
  const field = takeFirst(reader, ['tools', 'allowed-tools']);
  if (field === undefined) return { tools: ALL_TOOLS };
  const { value, line } = field;
  if (!isJsonObject(value)) {
    return allowedTools(reader, field) ?? unreadable(reader, '`tools`', line);
  }
  return isSwitches(value)
    ? { tools: readSwitches(reader, value, line) }
    : readToolMap(reader, value, line);
}

/** S3's form. Where `mode` is absent, the list that is there decides. */
function readToolMap(reader: FieldReader, map: JsonObject, line: number | undefined): Allowed {
  const unread = (what: string): Allowed => unreadable(reader, what, line);
  const mode = map['mode'] ?? (map['allow'] === undefined ? 'denylist' : 'allowlist');
  const denied = deniedTools(reader, { value: map['deny'] ?? [], line });
  if (denied === undefined) return unread('`tools.deny`');
  if (mode === 'denylist' || mode === 'deny') {
    return map['deny'] === undefined
      ? unread('`tools.deny`')
      : { tools: { mode: 'deny', names: denied } };
  }
  if (mode !== 'allowlist' && mode !== 'allow') return unread('`tools.mode`');
  const allowed = allowedTools(reader, { value: map['allow'] ?? [], line });
  if (allowed === undefined) return unread('`tools.allow`');
  if (denied.length === 0) return allowed;
  if (allowed.tools.mode === 'all') return { tools: { mode: 'deny', names: denied } };
  const names = allowed.tools.names.filter((name) => !denied.includes(name));
  return { ...allowed, tools: { mode: 'allow', names } };
}

function isSwitches(map: JsonObject): boolean {
  const values = Object.values(map);
  return values.length > 0 && values.every((value) => typeof value === 'boolean');
}

/** opencode's `{write: false}`: a tool that is not named stays, so only `false` says something. */
function readSwitches(
  reader: FieldReader,
  switches: JsonObject,
  line: number | undefined,
): ToolSelection {
  const off = Object.keys(switches).filter((name) => switches[name] === false);
  if (off.length === 0) return ALL_TOOLS;
  const on = Object.keys(switches).filter((name) => name !== '*' && switches[name] === true);
  if (off.includes('*')) return { mode: 'allow', names: knownTools(reader, on, line) };
  return { mode: 'deny', names: withEditSwitch(knownTools(reader, off, line)) };
}

/** In opencode's words `write`, `edit` and `patch` are one switch. */
function withEditSwitch(names: readonly string[]): readonly string[] {
  const changes = ['Write', 'Edit'];
  return names.some((name) => changes.includes(name) || name === 'MultiEdit')
    ? [...new Set([...names, ...changes])]
    : names;
}

/** What a pattern names in part is left out: the narrower of the two readings. */
function allowedTools(reader: FieldReader, { value, line }: Field): Allowed | undefined {
  const words = toolWords(value);
  if (words === undefined) return undefined;
  if (words.includes('*')) return { tools: everyTool(reader, words, line) };
  if (words.length > 0 && words.every(isEveryBuiltin)) return { tools: ALL_TOOLS };
  const delegates = words.map(delegatesOf).filter((each) => each !== undefined);
  const whole = words.flatMap((word) => {
    if (delegatesOf(word) !== undefined) return ['Task'];
    if (bracketed(word) === undefined) return [word];
    const message = `\`${word}\` limits a tool to a pattern, which \`tools\` cannot do; the tool is left out.`;
    reader.warn('tool-pattern', message, line);
    return [];
  });
  const names = knownTools(reader, whole, line);
  const tools = { mode: 'allow', names } as const;
  if (names.length === 0) return { tools, ...withoutTools(reader, words, line) };
  // A `Task` beside `Task(a)` names every type.
  const delegatesTo = whole.includes('Task') && !words.includes('Task') ? delegates.flat() : [];
  return delegatesTo.length === 0 ? { tools } : { tools, delegatesTo };
}

/** Kiro's word for all that is not of a server, alone. */
function isEveryBuiltin(word: string): boolean {
  return word === '@builtin';
}

/** The types that `Task(a, b)` names, by any of the tool's names. */
function delegatesOf(word: string): readonly string[] | undefined {
  const call = bracketed(word);
  if (call === undefined || expandToolWord(call.name, '')?.[0] !== 'Task') return undefined;
  return call.inside
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== '*');
}

function withoutTools(
  reader: FieldReader,
  words: readonly string[],
  line: number | undefined,
): Pick<AgentDefinition, 'unusable'> {
  if (words.length === 0) {
    reader.warn('no-tools', 'The list of tools is empty: the agent has none.', line);
    return {};
  }
  const unusable = `None of the tools it asks for can be used (${words.join(', ')}).`;
  reader.warn('no-known-tools', `${unusable} It cannot be started.`, line);
  return { unusable: shownMessage(unusable) };
}

/** What a pattern names in part is denied as a whole: the narrower of the two readings. */
function deniedTools(reader: FieldReader, { value, line }: Field): readonly string[] | undefined {
  const words = toolWords(value);
  if (words === undefined) return undefined;
  const whole = words.map((word) => {
    const pattern = bracketed(word);
    if (pattern === undefined) return word;
    const message = `\`${word}\` denies a pattern, which this field cannot do; the whole tool is denied.`;
    reader.warn('tool-pattern', message, line);
    return pattern.name;
  });
  return knownTools(reader, whole, line);
}

function everyTool(
  reader: FieldReader,
  wished: readonly string[],
  line: number | undefined,
): ToolSelection {
  const beside = wished.filter((word) => word !== '*');
  if (beside.length > 0) {
    const message = `\`*\` stands for the core set; beside it these have no effect: ${beside.join(', ')}.`;
    reader.warn('tools-beside-star', message, line);
  }
  return ALL_TOOLS;
}

function unreadable(reader: FieldReader, what: string, line: number | undefined): Allowed {
  const unusable = `${what} cannot be read, so the agent has no tools. Write \`Read, Grep\`, a list of names, or \`{mode: allowlist, allow: [Read]}\`.`;
  reader.warn('invalid-tools', unusable, line);
  return { tools: NO_TOOLS, unusable };
}

/** Canonical names; each word that nobody knows is told once. */
function knownTools(
  reader: FieldReader,
  words: readonly string[],
  line: number | undefined,
): readonly string[] {
  const names = new Set<string>();
  const unknown = new Set<string>();
  for (const word of words) {
    const found = toolNames(reader, word);
    if (found.length === 0) unknown.add(word);
    for (const name of found) names.add(name);
  }
  for (const word of unknown) {
    reader.warn('unknown-tool', `Unknown tool \`${word}\`; it is left out.`, line);
  }
  return [...names];
}

/** A name that any vendor knows goes before one that only looks like a server's. */
function toolNames(reader: FieldReader, word: string): readonly string[] {
  if (!word.startsWith('mcp__')) {
    const names = expandToolWord(word, reader.vendor);
    if (names !== undefined) return names;
  }
  const name = mcpToolName(word);
  return name === undefined ? [] : [name];
}
