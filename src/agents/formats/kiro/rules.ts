import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { expandToolWord } from '../../../protocol/tool-aliases.ts';
import { CORE_TOOLS } from '../../../protocol/tool-names.ts';
import type { Field } from '../../parsing/fields.ts';
import { shownMessage } from '../../fields/clean-text.ts';
import { patternsOfGlob, patternsOfRegex } from './command-patterns.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { fieldText, singleLineOf } from '../../fields/common.ts';
import { mcpServerTools } from '../../fields/mcp-names.ts';

/** The rules found so far, without duplicates. */
interface RuleList {
  readonly ask: Set<string>;
  readonly deny: Set<string>;
  /** Fields that may deny something and cannot be read. */
  readonly unread: Set<string>;
}

export const TOOL_SETTINGS = 'toolsSettings.';

/**
 * Translates what `toolsSettings` and `permissions` deny or ask about into rules. Calls that they allow without
 * asking are not taken over, and where they list allowed calls, the others ask. If they cannot be read, it is not
 * known what they deny, and the agent cannot be started.
 */
export function readKiroRules(
  reader: FieldReader,
): Pick<Partial<AgentDefinition>, 'rules' | 'unusable'> {
  const rules: RuleList = { ask: new Set(), deny: new Set(), unread: new Set() };
  for (const [key, field] of reader.untaken()) {
    if (key.startsWith(TOOL_SETTINGS)) readSetting(reader, { key, field }, rules);
  }
  const settings = reader.peek('toolsSettings');
  if (settings !== undefined && settings.value !== null) rules.unread.add('toolsSettings');
  const permissions = reader.take('permissions');
  if (permissions !== undefined) readPermissions(reader, permissions, rules);
  const { ask, deny } = rules;
  return {
    ...(ask.size + deny.size === 0 ? {} : { rules: { ask: [...ask], deny: [...deny] } }),
    ...unreadable(reader, [...rules.unread]),
  };
}

function unreadable(
  reader: FieldReader,
  names: readonly string[],
): Pick<Partial<AgentDefinition>, 'unusable'> {
  if (names.length === 0) return {};
  const unusable = shownMessage(
    `${names.join(', ')} cannot be read, so it is not known what it denies. It must be a map with settings for each tool, or a list of rules.`,
  );
  reader.warn('invalid-permissions', `${unusable} It cannot be started.`);
  return { unusable };
}

interface Setting {
  /** `toolsSettings.TOOL.SETTING`. */
  readonly key: string;
  readonly field: Field;
}

/** The tools whose rules contain paths. */
const PATH_TOOLS: ReadonlySet<string> = new Set(['Read', 'Edit', 'Grep', 'Glob', 'LS']);

function readSetting(reader: FieldReader, { key, field }: Setting, rules: RuleList): void {
  const cut = key.lastIndexOf('.');
  if (field.value === null) return;
  if (cut < TOOL_SETTINGS.length) {
    rules.unread.add(key);
    return;
  }
  const tool = ruleTool(key.slice(TOOL_SETTINGS.length, cut));
  if (tool === undefined) return;
  const denial = { reader, rules, field, key };
  switch (key.slice(cut + 1)) {
    case 'deniedPaths':
      return deny(denial, tool, PATH_TOOLS.has(tool) ? rulePath : nothing);
    case 'deniedCommands':
      return deny(denial, tool, tool === 'Bash' ? patternsOfRegex : nothing);
    case 'blocked':
      return deny(denial, tool, nothing);
    case 'denyByDefault':
      if (field.value !== false) deny(denial, tool, nothing);
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

/** For settings that no specifier can express. */
function nothing(): undefined {
  return undefined;
}

interface DenialContext {
  readonly reader: FieldReader;
  readonly rules: RuleList;
  readonly field: Field;
  /** The name of the setting in the file. */
  readonly key: string;
}

/** Denies what each entry means, or the whole tool where no rule can express it. */
function deny(
  { reader, rules, field, key }: DenialContext,
  tool: string,
  specifiers: (entry: string) => readonly string[] | undefined,
): void {
  reader.take(key);
  const entries = strings(field.value) ?? [''];
  for (const entry of entries) {
    const found = entry === '' ? undefined : specifiers(entry);
    if (found === undefined) {
      const message = `\`${key}\` denies calls that no rule can express; ${tool} is denied as a whole.`;
      reader.warn('whole-tool-denied', message, field.line);
    }
    for (const rule of rulesFor(tool, found)) rules.deny.add(rule);
  }
}

function rulesFor(tool: string, specifiers: readonly string[] | undefined): readonly string[] {
  return specifiers?.map((specifier) => `${tool}(${specifier})`) ?? [tool];
}

/** Returns the tool for rules: Edit stands for every tool that changes files, and Read for every tool that reads them. */
function ruleTool(name: string): string | undefined {
  const tools = expandToolWord(name, 'kiro');
  return tools?.includes('Edit') === true ? 'Edit' : tools?.[0];
}

function strings(value: JsonValue): readonly string[] | undefined {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const found = list.map((each) => fieldText(each)).filter((each) => each !== undefined);
  return found.length === list.length ? found : undefined;
}

/** Translates a gitignore pattern, which matches at any depth if it is relative. Undefined: no rule can express it. */
function rulePath(pattern: string): readonly string[] | undefined {
  if (/[()\\$]|\p{Cc}|^[!#]|(?:^|\/)\.\.(?:\/|$)/u.test(pattern)) return undefined;
  if (pattern.startsWith('~/')) return [pattern];
  if (pattern.startsWith('~')) return undefined;
  if (pattern.startsWith('/')) return [`/${pattern.replace(/^\/+/, '/')}`];
  const relative = pattern.replace(/^(?:\.\/+)+/, '');
  return /^\.?$/.test(relative) ? undefined : [`//**/${relative}`];
}

/** The tools for a capability, and the translation of its patterns into specifiers. */
interface Capability {
  readonly tools: readonly string[];
  readonly specifiers?: (pattern: string) => readonly string[] | undefined;
}

const EVERY_TOOL = [...CORE_TOOLS, 'Task'];
const CAPABILITIES: ReadonlyMap<string, Capability> = new Map([
  ['shell', { tools: ['Bash'], specifiers: patternsOfGlob }],
  ['fs_read', { tools: ['Read'], specifiers: rulePath }],
  ['read', { tools: ['Read'], specifiers: rulePath }],
  ['fs_write', { tools: ['Edit'], specifiers: rulePath }],
  ['write', { tools: ['Edit'], specifiers: rulePath }],
  ['filesystem', { tools: ['Read', 'Edit'], specifiers: rulePath }],
  ['web', { tools: ['WebFetch', 'WebSearch'] }],
  ['web_fetch', { tools: ['WebFetch'] }],
  ['web_search', { tools: ['WebSearch'] }],
  ['subagent', { tools: ['Task'] }],
  ['builtin', { tools: EVERY_TOOL }],
  ['all', { tools: [...EVERY_TOOL, 'mcp__*'] }],
]);

/** Reads a list of `{capability, effect, match, exclude}`. What `exclude` leaves out is denied with the rest. */
function readPermissions(reader: FieldReader, field: Field, rules: RuleList): void {
  const entries: readonly JsonValue[] = Array.isArray(field.value) ? field.value : [field.value];
  let isKnown = true;
  for (const entry of entries) {
    if (!isJsonObject(entry)) {
      if (entry !== null) rules.unread.add('permissions');
      continue;
    }
    const effect = singleLineOf(entry['effect']);
    if (effect === 'allow') continue;
    const found = capabilityRules(singleLineOf(entry['capability']) ?? '', entry['match']);
    if (found === undefined) isKnown = false;
    // An unknown effect may have been meant as a denial.
    const list = effect === 'ask' ? rules.ask : rules.deny;
    for (const rule of found ?? []) list.add(rule);
  }
  if (isKnown) return;
  const message = '`permissions` has an unknown capability; that entry has no effect.';
  reader.warn('unknown-capability', message, field.line);
}

function capabilityRules(
  name: string,
  match: JsonValue | undefined,
): readonly string[] | undefined {
  const patterns = match === undefined || match === null ? undefined : strings(match);
  if (name === 'mcp') return patterns?.map(serverPattern) ?? ['mcp__*'];
  const capability = CAPABILITIES.get(name);
  if (capability === undefined) return undefined;
  const { tools, specifiers } = capability;
  const of = (tool: string): readonly string[] =>
    patterns?.flatMap((pattern) => rulesFor(tool, specifiers?.(pattern))) ?? [tool];
  return tools.flatMap(of);
}

/** Translates `SERVER/TOOL`. A pattern inside a name is widened to all. */
function serverPattern(pattern: string): string {
  const [server = '', tool = '*'] = pattern.replace(/^@/, '').split('/');
  if (server === '' || server.includes('*')) return 'mcp__*';
  return mcpServerTools(server, tool.includes('*') ? '*' : tool);
}
