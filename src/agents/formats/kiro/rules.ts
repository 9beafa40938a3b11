import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { expandToolName } from '../../../protocol/tool-aliases.ts';
import { CORE_TOOLS } from '../../../protocol/tool-names.ts';
import { fieldText, readSingleLine } from '../../fields/common.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { mcpServerTools } from '../../fields/tool-grants.ts';
import { toSafeMessage, type Field } from '../../parsing/fields.ts';
import { patternsOfRegex, patternsOfGlob } from './command-patterns.ts';

/** The rules found so far, without duplicates. */
interface RuleList {
  readonly ask: Set<string>;
  readonly deny: Set<string>;
  /** The names of fields that may deny something, but cannot be read. */
  readonly unreadable: Set<string>;
}

export const TOOL_SETTINGS = 'toolsSettings.';

/**
 * Translates the denials and questions of `toolsSettings` and `permissions` into rules. Permissions to run calls
 * without asking are not translated. If a setting lists allowed calls, all calls of its tool ask. If a field cannot be
 * read, the denials in it are unknown, so the agent cannot be started.
 */
export function readKiroRules(reader: FieldReader): Partial<AgentDefinition> {
  const rules: RuleList = { ask: new Set(), deny: new Set(), unreadable: new Set() };
  for (const [key, field] of reader.untaken()) {
    if (key.startsWith(TOOL_SETTINGS)) readSetting(reader, { key, field }, rules);
  }
  const settings = reader.peek('toolsSettings');
  if (settings !== undefined && settings.value !== null) rules.unreadable.add('toolsSettings');
  const permissions = reader.take('permissions');
  if (permissions !== undefined) readPermissions(reader, permissions, rules);
  const { ask, deny } = rules;
  return {
    ...(ask.size + deny.size === 0 ? {} : { rules: { ask: [...ask], deny: [...deny] } }),
    ...refuseUnreadableRules(reader, [...rules.unreadable]),
  };
}

function refuseUnreadableRules(
  reader: FieldReader,
  names: readonly string[],
): Partial<AgentDefinition> {
  if (names.length === 0) return {};
  const unusable = toSafeMessage(
    `${names.join(', ')} cannot be read, so it is not known what it denies. It must be a map with settings for each tool, or a list of rules.`,
  );
  reader.warn('invalid-permissions', `${unusable} It cannot be started.`);
  return { unusable };
}

interface Setting {
  /** The key: `toolsSettings.TOOL.SETTING`. */
  readonly key: string;
  readonly field: Field;
}

/** The tools whose rules contain paths. */
const PATH_TOOLS: ReadonlySet<string> = new Set(['Read', 'Edit', 'Grep', 'Glob', 'LS']);

function readSetting(reader: FieldReader, { key, field }: Setting, rules: RuleList): void {
  const lastDot = key.lastIndexOf('.');
  if (field.value === null) return;
  if (lastDot < TOOL_SETTINGS.length) {
    rules.unreadable.add(key);
    return;
  }
  const tool = toRuleTool(key.slice(TOOL_SETTINGS.length, lastDot));
  if (tool === undefined) return;
  const denial = { reader, rules, field, key };
  switch (key.slice(lastDot + 1)) {
    case 'deniedPaths':
      return deny(denial, tool, PATH_TOOLS.has(tool) ? toPathSpecifier : noSpecifier);
    case 'deniedCommands':
      return deny(denial, tool, tool === 'Bash' ? patternsOfRegex : noSpecifier);
    case 'blocked':
      return deny(denial, tool, noSpecifier);
    case 'denyByDefault':
      if (field.value !== false) deny(denial, tool, noSpecifier);
      return;
    case 'allowedPaths':
      if (tool === 'Edit') rules.ask.add(tool);
      return;
    case 'allowedCommands':
      rules.ask.add(tool);
      return;
    default:
  }
}

/** Translates an entry of a setting that no specifier can express. */
function noSpecifier(): undefined {
  return undefined;
}

interface DenialContext {
  readonly reader: FieldReader;
  readonly rules: RuleList;
  readonly field: Field;
  /** The name of the setting in the file. */
  readonly key: string;
}

/** Adds deny rules for each entry of a setting. If no rule can express an entry, all calls of the tool are denied. */
function deny(
  { reader, rules, field, key }: DenialContext,
  tool: string,
  specifiers: (entry: string) => readonly string[] | undefined,
): void {
  reader.take(key);
  const entries = readStrings(field.value) ?? [''];
  for (const entry of entries) {
    const found = entry === '' ? undefined : specifiers(entry);
    if (found === undefined) {
      const message = `\`${key}\` denies calls that no rule can express; ${tool} is denied as a whole.`;
      reader.warn('whole-tool-denied', message, field.line);
    }
    for (const rule of createRules(tool, found)) rules.deny.add(rule);
  }
}

function createRules(tool: string, specifiers: readonly string[] | undefined): readonly string[] {
  return specifiers?.map((specifier) => `${tool}(${specifier})`) ?? [tool];
}

/**
 * Returns the tool whose rules apply to a Kiro tool: Edit for every tool that changes files, and Read for every tool
 * that reads files.
 */
function toRuleTool(name: string): string | undefined {
  const tools = expandToolName(name, 'kiro');
  return tools?.includes('Edit') === true ? 'Edit' : tools?.[0];
}

function readStrings(value: JsonValue): readonly string[] | undefined {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const found = list.map((each) => fieldText(each)).filter((each) => each !== undefined);
  return found.length === list.length ? found : undefined;
}

/**
 * Translates a gitignore pattern, which matches at any depth if it is relative. Returns undefined if no rule can
 * express it.
 */
function toPathSpecifier(pattern: string): readonly string[] | undefined {
  if (/[()\\$]|\p{Cc}|^[!#]|(?:^|\/)\.\.(?:\/|$)/u.test(pattern)) return undefined;
  if (pattern.startsWith('~/')) return [pattern];
  if (pattern.startsWith('~')) return undefined;
  if (pattern.startsWith('/')) return [`/${pattern.replace(/^\/+/, '/')}`];
  const relative = pattern.replace(/^(?:\.\/+)+/, '');
  return /^\.?$/.test(relative) ? undefined : [`//**/${relative}`];
}

/** The tools for a capability of Kiro, and the translation of its patterns into specifiers. */
interface Capability {
  readonly tools: readonly string[];
  readonly specifiers?: (pattern: string) => readonly string[] | undefined;
}

const EVERY_TOOL = [...CORE_TOOLS, 'Task'];
const CAPABILITIES: ReadonlyMap<string, Capability> = new Map([
  ['shell', { tools: ['Bash'], specifiers: patternsOfGlob }],
  ['fs_read', { tools: ['Read'], specifiers: toPathSpecifier }],
  ['read', { tools: ['Read'], specifiers: toPathSpecifier }],
  ['fs_write', { tools: ['Edit'], specifiers: toPathSpecifier }],
  ['write', { tools: ['Edit'], specifiers: toPathSpecifier }],
  ['filesystem', { tools: ['Read', 'Edit'], specifiers: toPathSpecifier }],
  ['web', { tools: ['WebFetch', 'WebSearch'] }],
  ['web_fetch', { tools: ['WebFetch'] }],
  ['web_search', { tools: ['WebSearch'] }],
  ['subagent', { tools: ['Task'] }],
  ['builtin', { tools: EVERY_TOOL }],
  ['all', { tools: [...EVERY_TOOL, 'mcp__*'] }],
]);

/**
 * Reads a list of `{capability, effect, match, exclude}`. `exclude` is ignored, so that the calls it excludes are
 * denied, too.
 */
function readPermissions(reader: FieldReader, field: Field, rules: RuleList): void {
  const entries: readonly JsonValue[] = Array.isArray(field.value) ? field.value : [field.value];
  let isKnown = true;
  for (const entry of entries) {
    if (!isJsonObject(entry)) {
      if (entry !== null) rules.unreadable.add('permissions');
      continue;
    }
    const effect = readSingleLine(entry['effect']);
    if (effect === 'allow') continue;
    const found = translateCapability(readSingleLine(entry['capability']) ?? '', entry['match']);
    if (found === undefined) isKnown = false;
    // An unknown effect may have been meant as a denial.
    const list = effect === 'ask' ? rules.ask : rules.deny;
    for (const rule of found ?? []) list.add(rule);
  }
  if (isKnown) return;
  const message = '`permissions` has an unknown capability; that entry has no effect.';
  reader.warn('unknown-capability', message, field.line);
}

function translateCapability(name: string, match?: JsonValue): readonly string[] | undefined {
  const patterns = match === undefined || match === null ? undefined : readStrings(match);
  if (name === 'mcp') return patterns?.map(toServerRule) ?? ['mcp__*'];
  const capability = CAPABILITIES.get(name);
  if (capability === undefined) return undefined;
  const { tools, specifiers } = capability;
  const rulesOfTool = (tool: string): readonly string[] =>
    patterns?.flatMap((pattern) => createRules(tool, specifiers?.(pattern))) ?? [tool];
  return tools.flatMap(rulesOfTool);
}

/** Translates `SERVER/TOOL`. A name with a pattern becomes a pattern for all names. */
function toServerRule(pattern: string): string {
  const [server = '', tool = '*'] = pattern.replace(/^@/, '').split('/');
  if (server === '' || server.includes('*')) return 'mcp__*';
  return mcpServerTools(server, tool.includes('*') ? '*' : tool);
}
