import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { AgentDefinition, ToolSelection } from '../../protocol/agent.ts';
import { isServerToolName } from '../../protocol/server-tool-names.ts';
import { expandToolName } from '../../protocol/tool-aliases.ts';
import { toSafeMessage, type Field, type SourceLine } from '../parsing/fields.ts';
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
 * Reads `tools` and `disallowedTools`. The value of `tools` is `A, B`, a list, `*`, opencode's `{tool: false}`, or
 * `{mode, allow, deny}`. An absent field means all tools, and an empty value means none. If a value cannot be read, the
 * agent gets no tools and a warning, so that a limit in a file is never ignored.
 */
export function readToolFields(reader: FieldReader): ToolFields {
  const tools = readTools(reader);
  const field = takeFirstField(reader, ['disallowed-tools', 'exclude-tools']);
  if (field === undefined) return { disallowedTools: [], ...tools };
  const denied = readDeniedTools(reader, field);
  if (denied === undefined) {
    return { ...refuseUnreadable(reader, '`disallowedTools`', field.line), disallowedTools: [] };
  }
  const rules = [...(tools.rules?.deny ?? []), ...denied.rules];
  return { ...tools, ...createDenyRules(rules), disallowedTools: denied.names };
}

type AllowedFields = Omit<ToolFields, 'disallowedTools'>;

function createDenyRules(deny: readonly string[]): Pick<ToolFields, 'rules'> {
  return deny.length === 0 ? {} : { rules: { ask: [], deny } };
}

function readTools(reader: FieldReader): AllowedFields {
  const field = takeFirstField(reader, ['tools', 'allowed-tools']);
  if (field === undefined) return { tools: ALL_TOOLS };
  const { value, line } = field;
  if (!isJsonObject(value)) {
    return readAllowedTools(reader, field) ?? refuseUnreadable(reader, '`tools`', line);
  }
  return isSwitchMap(value) ? readSwitches(reader, value, line) : readToolMap(reader, value, line);
}

/** Reads the form `{mode, allow, deny}`. Without a `mode`, the list that is present decides. */
function readToolMap(reader: FieldReader, map: JsonObject, line: SourceLine): AllowedFields {
  const refuse = (name: string): AllowedFields => refuseUnreadable(reader, name, line);
  const mode = map['mode'] ?? (map['allow'] === undefined ? 'denylist' : 'allowlist');
  const denied = readDeniedTools(reader, { value: map['deny'] ?? [], line });
  if (denied === undefined) return refuse('`tools.deny`');
  if (mode === 'denylist' || mode === 'deny') {
    return map['deny'] === undefined
      ? refuse('`tools.deny`')
      : { tools: { mode: 'deny', names: denied.names }, ...createDenyRules(denied.rules) };
  }
  if (mode !== 'allowlist' && mode !== 'allow') return refuse('`tools.mode`');
  const allowed = readAllowedTools(reader, { value: map['allow'] ?? [], line });
  if (allowed === undefined) return refuse('`tools.allow`');
  // A pattern for tools of servers may cover a part of what an allowed pattern covers.
  const patterns = denied.names.filter(isServerToolName);
  const rules = createDenyRules(
    allowed.tools.mode === 'allow' ? [...denied.rules, ...patterns] : denied.rules,
  );
  if (denied.names.length === 0) return { ...allowed, ...rules };
  if (allowed.tools.mode === 'all') {
    return { tools: { mode: 'deny', names: denied.names }, ...rules };
  }
  const names = allowed.tools.names.filter((name) => !denied.names.includes(name));
  return { ...allowed, ...rules, tools: { mode: 'allow', names } };
}

function isSwitchMap(map: JsonObject): boolean {
  const values = Object.values(map);
  return values.length > 0 && values.every((value) => typeof value === 'boolean');
}

/**
 * Reads opencode's form `{write: false}`. A tool that is not named stays available, so only the value false has an
 * effect.
 */
function readSwitches(reader: FieldReader, switches: JsonObject, line: SourceLine): AllowedFields {
  const off = Object.keys(switches).filter((name) => switches[name] === false);
  if (off.length === 0) return { tools: ALL_TOOLS };
  const on = Object.keys(switches).filter((name) => name !== '*' && switches[name] === true);
  if (off.includes('*')) return createSelection(readToolGrants(reader, on, line));
  const { names, rules } = readToolDenials(reader, off, line);
  return { tools: { mode: 'deny', names: expandEditSwitch(names) }, ...createDenyRules(rules) };
}

function createSelection({ names, limited }: GrantedTools): AllowedFields {
  const tools = { mode: 'allow', names } as const;
  return limited === undefined ? { tools } : { tools, limitedTools: [limited] };
}

/**
 * Adds Write and Edit to a list with one of the tools that change files, because in opencode `write`, `edit` and
 * `patch` are the same switch.
 */
function expandEditSwitch(names: readonly string[]): readonly string[] {
  const editTools = ['Write', 'Edit'];
  return names.some((name) => editTools.includes(name) || name === 'MultiEdit')
    ? [...new Set([...names, ...editTools])]
    : names;
}

/**
 * Reads a list of allowed tools. `Tool(specifier)` grants only the calls that such a permission rule covers, and
 * `Task(a, b)` names the agents to which the agent may delegate. Returns undefined if the value is not a list.
 */
function readAllowedTools(reader: FieldReader, { value, line }: Field): AllowedFields | undefined {
  const toolNames = splitToolList(value);
  if (toolNames === undefined) return undefined;
  if (toolNames.includes('*')) return { tools: selectEveryTool(reader, toolNames, line) };
  if (toolNames.length > 0 && toolNames.every(meansEveryBuiltin)) return { tools: ALL_TOOLS };
  const delegates = toolNames.map(parseDelegates).filter((each) => each !== undefined);
  const grantingNames = toolNames.map((toolName) =>
    parseDelegates(toolName) === undefined ? toolName : 'Task',
  );
  const allowed = createSelection(readToolGrants(reader, grantingNames, line));
  const { names } = allowed.tools;
  if (names.length === 0) return { ...allowed, ...reportNoTools(reader, toolNames, line) };
  // `Task` in addition to `Task(a)` allows every agent.
  const allowsEveryAgent = toolNames.some(
    (toolName) => splitSpecifier(toolName) === undefined && isTask(toolName),
  );
  const delegatesTo = allowsEveryAgent ? [] : delegates.flat();
  return delegatesTo.length === 0 ? allowed : { ...allowed, delegatesTo };
}

function isTask(toolName: string): boolean {
  return expandToolName(toolName, '')?.[0] === 'Task';
}

/** Returns whether a name is Kiro's name for all tools that do not belong to an MCP server. */
function meansEveryBuiltin(toolName: string): boolean {
  return toolName === '@builtin';
}

/** Returns the agents in `Task(a, b)`, under any name of the Task tool. Returns undefined for other tools. */
function parseDelegates(toolName: string): readonly string[] | undefined {
  const call = splitSpecifier(toolName);
  if (call === undefined || !isTask(call.name)) return undefined;
  return call.inside
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '' && each !== '*');
}

function reportNoTools(
  reader: FieldReader,
  toolNames: readonly string[],
  line: SourceLine,
): Pick<AgentDefinition, 'unusable'> {
  if (toolNames.length === 0) {
    reader.warn('no-tools', 'The list of tools is empty: the agent has no tools.', line);
    return {};
  }
  const unusable = `None of the tools that it requests can be used (${toolNames.join(', ')}).`;
  reader.warn('no-known-tools', `${unusable} It cannot be started.`, line);
  return { unusable: toSafeMessage(unusable) };
}

function readDeniedTools(reader: FieldReader, { value, line }: Field): DeniedTools | undefined {
  const toolNames = splitToolList(value);
  return toolNames === undefined ? undefined : readToolDenials(reader, toolNames, line);
}

function selectEveryTool(
  reader: FieldReader,
  names: readonly string[],
  line: SourceLine,
): ToolSelection {
  const others = names.filter((name) => name !== '*');
  if (others.length > 0) {
    const message = `\`*\` means the core set; next to it, these names have no effect: ${others.join(', ')}.`;
    reader.warn('tools-beside-star', message, line);
  }
  return ALL_TOOLS;
}

function refuseUnreadable(reader: FieldReader, name: string, line: SourceLine): AllowedFields {
  const unusable = `${name} cannot be read, so the agent has no tools. Write \`Read, Grep\`, a list of names, or \`{mode: allowlist, allow: [Read]}\`.`;
  reader.warn('invalid-tools', unusable, line);
  return { tools: NO_TOOLS, unusable };
}
