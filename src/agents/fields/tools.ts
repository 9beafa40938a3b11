import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AgentDefinition, ToolSelection } from '../../protocol/agent.ts';
import { expandToolName } from '../../protocol/tool-aliases.ts';
import { shownMessage, type Field, type SourceLine } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';
import { takeFirstField } from './common.ts';
import {
  splitSpecifier,
  splitToolList,
  readToolDenials,
  readToolGrants,
  type DeniedTools,
  type GrantedTools,
} from './tool-grants.ts';

const ALL_TOOLS: ToolSelection = { mode: 'all', names: [] };
const NO_TOOLS: ToolSelection = { mode: 'allow', names: [] };

type ToolFields = Pick<
  AgentDefinition,
  'tools' | 'limitedTools' | 'disallowedTools' | 'delegatesTo' | 'rules' | 'unusable'
>;

/** The fields that determine the tools of an agent. */
export const TOOL_FIELDS = ['tools', 'allowed-tools', 'disallowed-tools', 'exclude-tools'];

/**
 * Reads `tools` (`A, B`, a list, `*`, opencode's `{tool: false}`, or `{mode, allow, deny}`; absent means all tools,
 * empty means none) and `disallowedTools`. A value that cannot be read gives no tools and a warning, because a
 * limit that a file meant to set must never be lost.
 */
export function readToolFields(reader: FieldReader): ToolFields {
  const tools = readTools(reader);
  const field = takeFirstField(reader, ['disallowed-tools', 'exclude-tools']);
  if (field === undefined) return { disallowedTools: [], ...tools };
  const denied = deniedTools(reader, field);
  if (denied === undefined) {
    return { ...unreadable(reader, '`disallowedTools`', field.line), disallowedTools: [] };
  }
  const rules = [...(tools.rules?.deny ?? []), ...denied.rules];
  return { ...tools, ...denyRules(rules), disallowedTools: denied.names };
}

type Allowed = Omit<ToolFields, 'disallowedTools'>;

function denyRules(deny: readonly string[]): Pick<ToolFields, 'rules'> {
  return deny.length === 0 ? {} : { rules: { ask: [], deny } };
}

function readTools(reader: FieldReader): Allowed {
  const field = takeFirstField(reader, ['tools', 'allowed-tools']);
  if (field === undefined) return { tools: ALL_TOOLS };
  const { value, line } = field;
  if (!isJsonObject(value)) {
    return allowedTools(reader, field) ?? unreadable(reader, '`tools`', line);
  }
  return isSwitches(value) ? readSwitches(reader, value, line) : readToolMap(reader, value, line);
}

/** Reads the form `{mode, allow, deny}`. Without a `mode`, the list that is present decides. */
function readToolMap(reader: FieldReader, map: JsonObject, line: SourceLine): Allowed {
  const unread = (name: string): Allowed => unreadable(reader, name, line);
  const mode = map['mode'] ?? (map['allow'] === undefined ? 'denylist' : 'allowlist');
  const denied = deniedTools(reader, { value: map['deny'] ?? [], line });
  if (denied === undefined) return unread('`tools.deny`');
  if (mode === 'denylist' || mode === 'deny') {
    return map['deny'] === undefined
      ? unread('`tools.deny`')
      : { tools: { mode: 'deny', names: denied.names }, ...denyRules(denied.rules) };
  }
  if (mode !== 'allowlist' && mode !== 'allow') return unread('`tools.mode`');
  const allowed = allowedTools(reader, { value: map['allow'] ?? [], line });
  if (allowed === undefined) return unread('`tools.allow`');
  const rules = denyRules(denied.rules);
  if (denied.names.length === 0) return { ...allowed, ...rules };
  if (allowed.tools.mode === 'all') {
    return { tools: { mode: 'deny', names: denied.names }, ...rules };
  }
  const names = allowed.tools.names.filter((name) => !denied.names.includes(name));
  return { ...allowed, ...rules, tools: { mode: 'allow', names } };
}

function isSwitches(map: JsonObject): boolean {
  const values = Object.values(map);
  return values.length > 0 && values.every((value) => typeof value === 'boolean');
}

/** Reads opencode's form `{write: false}`. A tool that is not named stays, so only `false` has an effect. */
function readSwitches(reader: FieldReader, switches: JsonObject, line: SourceLine): Allowed {
  const off = Object.keys(switches).filter((name) => switches[name] === false);
  if (off.length === 0) return { tools: ALL_TOOLS };
  const on = Object.keys(switches).filter((name) => name !== '*' && switches[name] === true);
  if (off.includes('*')) return selection(readToolGrants(reader, on, line));
  const { names, rules } = readToolDenials(reader, off, line);
  return { tools: { mode: 'deny', names: withEditSwitch(names) }, ...denyRules(rules) };
}

function selection({ names, limited }: GrantedTools): Allowed {
  const tools = { mode: 'allow', names } as const;
  return limited === undefined ? { tools } : { tools, limitedTools: [limited] };
}

/** In opencode, `write`, `edit` and `patch` are the same switch. */
function withEditSwitch(names: readonly string[]): readonly string[] {
  const changes = ['Write', 'Edit'];
  return names.some((name) => changes.includes(name) || name === 'MultiEdit')
    ? [...new Set([...names, ...changes])]
    : names;
}

/** `Tool(specifier)` grants only the calls that such a rule covers; `Task(a, b)` names whom it may delegate to. */
function allowedTools(reader: FieldReader, { value, line }: Field): Allowed | undefined {
  const words = splitToolList(value);
  if (words === undefined) return undefined;
  if (words.includes('*')) return { tools: everyTool(reader, words, line) };
  if (words.length > 0 && words.every(isEveryBuiltin)) return { tools: ALL_TOOLS };
  const delegates = words.map(delegatesOf).filter((each) => each !== undefined);
  const granting = words.map((word) => (delegatesOf(word) === undefined ? word : 'Task'));
  const allowed = selection(readToolGrants(reader, granting, line));
  const { names } = allowed.tools;
  if (names.length === 0) return { ...allowed, ...withoutTools(reader, words, line) };
  // `Task` next to `Task(a)` allows every type.
  const namesEvery = words.some((word) => splitSpecifier(word) === undefined && isTask(word));
  const delegatesTo = namesEvery ? [] : delegates.flat();
  return delegatesTo.length === 0 ? allowed : { ...allowed, delegatesTo };
}

function isTask(word: string): boolean {
  return expandToolName(word, '')?.[0] === 'Task';
}

/** Kiro's name for all tools that do not belong to a server. */
function isEveryBuiltin(word: string): boolean {
  return word === '@builtin';
}

/** Returns the types in `Task(a, b)`, under any name of the tool. */
function delegatesOf(word: string): readonly string[] | undefined {
  const call = splitSpecifier(word);
  if (call === undefined || !isTask(call.name)) return undefined;
  return call.inside
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== '*');
}

function withoutTools(
  reader: FieldReader,
  words: readonly string[],
  line: SourceLine,
): Pick<AgentDefinition, 'unusable'> {
  if (words.length === 0) {
    reader.warn('no-tools', 'The list of tools is empty: the agent has no tools.', line);
    return {};
  }
  const unusable = `None of the tools that it requests can be used (${words.join(', ')}).`;
  reader.warn('no-known-tools', `${unusable} It cannot be started.`, line);
  return { unusable: shownMessage(unusable) };
}

function deniedTools(reader: FieldReader, { value, line }: Field): DeniedTools | undefined {
  const words = splitToolList(value);
  return words === undefined ? undefined : readToolDenials(reader, words, line);
}

function everyTool(reader: FieldReader, names: readonly string[], line: SourceLine): ToolSelection {
  const others = names.filter((name) => name !== '*');
  if (others.length > 0) {
    const message = `\`*\` means the core set; next to it, these names have no effect: ${others.join(', ')}.`;
    reader.warn('tools-beside-star', message, line);
  }
  return ALL_TOOLS;
}

function unreadable(reader: FieldReader, name: string, line: SourceLine): Allowed {
  const unusable = `${name} cannot be read, so the agent has no tools. Write \`Read, Grep\`, a list of names, or \`{mode: allowlist, allow: [Read]}\`.`;
  reader.warn('invalid-tools', unusable, line);
  return { tools: NO_TOOLS, unusable };
}
