import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { expandToolWord } from '../../../protocol/tool-aliases.ts';
import { CORE_TOOLS } from '../../../protocol/tool-names.ts';
import type { Field } from '../../parsing/fields.ts';
import { shownMessage } from '../../fields/clean-text.ts';
import { patternsOfGlob, patternsOfRegex } from './command-patterns.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { text, word } from '../../fields/common.ts';
import { serverTools } from '../../fields/mcp-names.ts';

/** Rules as they are found, each once. */
interface RuleList {
  readonly ask: Set<string>;
  readonly deny: Set<string>;
  /** Fields that may refuse something and cannot be read. */
  readonly unread: Set<string>;
}

export const SETTINGS = 'toolsSettings.';

/**
 * What `toolsSettings` and `permissions` refuse or ask for, as rules. What they let run unasked is not
 * taken over, and where they name what may, the rest of it asks. Where they cannot be read, what they
 * refuse is not known, and the agent cannot be started.
 */
export function readKiroRules(
  reader: FieldReader,
): Pick<Partial<AgentDefinition>, 'rules' | 'unusable'> {
  const rules: RuleList = { ask: new Set(), deny: new Set(), unread: new Set() };
  for (const [key, field] of reader.untaken()) {
    if (key.startsWith(SETTINGS)) readSetting(reader, { key, field }, rules);
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
    `What ${names.join(', ')} refuses cannot be read; it is a map of settings for each tool, or a list of rules.`,
  );
  reader.warn('invalid-permissions', `${unusable} It cannot be started.`);
  return { unusable };
}

interface Setting {
  /** `toolsSettings.TOOL.SETTING`. */
  readonly key: string;
  readonly field: Field;
}

/** Tools whose rules hold paths. */
const PATH_TOOLS: ReadonlySet<string> = new Set(['Read', 'Edit', 'Grep', 'Glob', 'LS']);

function readSetting(reader: FieldReader, { key, field }: Setting, rules: RuleList): void {
  const cut = key.lastIndexOf('.');
  if (field.value === null) return;
  if (cut < SETTINGS.length) {
    rules.unread.add(key);
    return;
  }
  const tool = ruleTool(key.slice(SETTINGS.length, cut));
  if (tool === undefined) return;
  const told = { reader, rules, field, key };
  switch (key.slice(cut + 1)) {
    case 'deniedPaths':
      return deny(told, tool, PATH_TOOLS.has(tool) ? rulePath : nothing);
    case 'deniedCommands':
      return deny(told, tool, tool === 'Bash' ? patternsOfRegex : nothing);
    case 'blocked':
      return deny(told, tool, nothing);
    case 'denyByDefault':
      if (field.value !== false) deny(told, tool, nothing);
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

/** No specifier can say it. */
function nothing(): undefined {
  return undefined;
}

interface Told {
  readonly reader: FieldReader;
  readonly rules: RuleList;
  readonly field: Field;
  /** What the file calls it. */
  readonly key: string;
}

/** Denies what each entry means, and the whole tool where that cannot be said. */
function deny(
  { reader, rules, field, key }: Told,
  tool: string,
  specifiers: (entry: string) => readonly string[] | undefined,
): void {
  reader.take(key);
  const entries = strings(field.value) ?? [''];
  for (const entry of entries) {
    const found = entry === '' ? undefined : specifiers(entry);
    if (found === undefined) {
      const message = `\`${key}\` refuses what no rule can say; all of ${tool} is denied.`;
      reader.warn('whole-tool-denied', message, field.line);
    }
    for (const rule of rulesFor(tool, found)) rules.deny.add(rule);
  }
}

function rulesFor(tool: string, specifiers: readonly string[] | undefined): readonly string[] {
  return specifiers?.map((specifier) => `${tool}(${specifier})`) ?? [tool];
}

/** A rule about Edit is about every tool that changes files, one about Read about every one that looks. */
function ruleTool(name: string): string | undefined {
  const tools = expandToolWord(name, 'kiro');
  return tools?.includes('Edit') === true ? 'Edit' : tools?.[0];
}

function strings(value: JsonValue): readonly string[] | undefined {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const found = list.map((each) => text(each)).filter((each) => each !== undefined);
  return found.length === list.length ? found : undefined;
}

/** A gitignore pattern as rules have it, at any depth where it is relative; undefined: none can be said. */
function rulePath(pattern: string): readonly string[] | undefined {
  if (/[()\\$]|\p{Cc}|^[!#]|(?:^|\/)\.\.(?:\/|$)/u.test(pattern)) return undefined;
  if (pattern.startsWith('~/')) return [pattern];
  if (pattern.startsWith('~')) return undefined;
  if (pattern.startsWith('/')) return [`/${pattern.replace(/^\/+/, '/')}`];
  const relative = pattern.replace(/^(?:\.\/+)+/, '');
  return /^\.?$/.test(relative) ? undefined : [`//**/${relative}`];
}

/** What a capability is here, and how what it is about is named in a rule. */
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

/** A list of `{capability, effect, match, exclude}`; what `exclude` leaves out is refused with the rest. */
function readPermissions(reader: FieldReader, field: Field, rules: RuleList): void {
  const entries: readonly JsonValue[] = Array.isArray(field.value) ? field.value : [field.value];
  let isWhole = true;
  for (const entry of entries) {
    if (!isJsonObject(entry)) {
      if (entry !== null) rules.unread.add('permissions');
      continue;
    }
    const effect = word(entry['effect']);
    if (effect === 'allow') continue;
    const found = capabilityRules(word(entry['capability']) ?? '', entry['match']);
    if (found === undefined) isWhole = false;
    // A word that is not known may have been meant to refuse.
    const list = effect === 'ask' ? rules.ask : rules.deny;
    for (const rule of found ?? []) list.add(rule);
  }
  if (isWhole) return;
  const message =
    '`permissions` names a capability that is not known here; that part has no effect.';
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

/** `SERVER/TOOL`; a pattern within a name is widened to all. */
function serverPattern(pattern: string): string {
  const [server = '', tool = '*'] = pattern.replace(/^@/, '').split('/');
  if (server === '' || server.includes('*')) return 'mcp__*';
  return serverTools(server, tool.includes('*') ? '*' : tool);
}
