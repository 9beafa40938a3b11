import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { expandToolName } from '../../../protocol/tool-aliases.ts';
import { CORE_TOOLS } from '../../../protocol/tool-names.ts';
import { fieldText, readSingleLine } from '../../fields/common.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { mcpServerTools } from '../../fields/tool-grants.ts';
import { toSafeMessage, type Field } from '../../parsing/fields.ts';

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

/** The maximum number of characters of an entry. No person writes a longer command. */
const MAX_LENGTH = 500;
/**
 * Matches parts of regular expressions that are not translated: flags, and escapes for characters by number or class.
 */
const UNSUPPORTED = /\(\?[A-Za-z-]+[:)]|\\[QUukpPx]/;
/** The maximum number of patterns for one regular expression. If there are more, they are replaced by `*`. */
const MAX_PATTERNS = 32;

/**
 * Translates an anchored regular expression into specifiers of `Bash(…)` rules that match at least the same commands.
 * Parts without an equivalent become `*`, so that the rules never deny less. Returns undefined if the expression is
 * unsupported or matches any command.
 */
export function patternsOfRegex(regex: string): readonly string[] | undefined {
  if (regex.length > MAX_LENGTH || UNSUPPORTED.test(regex)) return undefined;
  const patterns = splitAlternatives(regex).flatMap((each) => translateSequence(each));
  return cleanPatterns(patterns);
}

/**
 * Translates a glob into specifiers that match at least the same commands. `?` and `[…]`, which match one character,
 * become `*`.
 */
export function patternsOfGlob(glob: string): readonly string[] | undefined {
  if (glob.length > MAX_LENGTH) return undefined;
  return cleanPatterns([glob.replaceAll(/\[[^\]]*\]|\?/g, '*')]);
}

function cleanPatterns(patterns: readonly string[]): readonly string[] | undefined {
  const clean = patterns.map((pattern) =>
    // A rule cannot contain parentheses, backslashes and control characters.
    pattern
      .replaceAll(/[()\\]|\p{Cc}/gu, '*')
      .replaceAll(/\*+/g, '*')
      .replaceAll(/ +/g, ' ')
      .trim(),
  );
  return clean.every((pattern) => /[^\s:*]/.test(pattern)) ? [...new Set(clean)] : undefined;
}

/** Splits a regular expression at each `|` outside brackets. */
function splitAlternatives(regex: string): readonly string[] {
  const found: string[] = [];
  let from = 0;
  for (let at = 0; at < regex.length; at = findTokenEnd(regex, at)) {
    if (regex[at] !== '|') continue;
    found.push(regex.slice(from, at));
    from = at + 1;
  }
  return [...found, regex.slice(from)];
}

function translateSequence(regex: string): readonly string[] {
  let patterns: readonly string[] = [''];
  let at = 0;
  while (at < regex.length) {
    const end = findTokenEnd(regex, at);
    const token = regex.slice(at, end);
    const quantifier = /^(?:[*+?]|\{[\d,]*\})[?+]?/.exec(regex.slice(end, end + 16))?.[0] ?? '';
    const translated = applyQuantifier(translateToken(token), quantifier);
    patterns = patterns.flatMap((before) => translated.map((after) => before + after));
    if (patterns.length > MAX_PATTERNS) return ['*'];
    at = end + quantifier.length;
  }
  return patterns;
}

/** Returns the end of the character, escape sequence, class or group that begins at `start`. */
function findTokenEnd(regex: string, start: number): number {
  switch (regex[start]) {
    case '\\':
      return start + 2;
    case '[':
      return findClassEnd(regex, start);
    case '(': {
      let at = start + 1;
      while (at < regex.length && regex[at] !== ')') at = findTokenEnd(regex, at);
      return at + 1;
    }
    default:
      return start + 1;
  }
}

/** Returns the end of a character class. A closing bracket at the start of the class is a character of the class. */
function findClassEnd(regex: string, start: number): number {
  let at = start + (regex[start + 1] === '^' ? 2 : 1);
  if (regex[at] === ']') at += 1;
  while (at < regex.length && regex[at] !== ']') {
    at = regex[at] === '[' ? findClassEnd(regex, at) : at + (regex[at] === '\\' ? 2 : 1);
  }
  return at + 1;
}

const PLAIN_GROUP = /^\((?:\?:)?([\w .,:=@~%/|-]*)\)$/;

function translateToken(token: string): readonly string[] {
  if (/^(?:\^|\$|\\[AbBzZ]|\(\?<?[=!].*)$/s.test(token)) return [''];
  if (token === '\\s') return [' '];
  const escaped = /^\\([^\w\s])$/.exec(token)?.[1];
  if (escaped !== undefined) return [escaped];
  const group = PLAIN_GROUP.exec(token)?.[1];
  if (group !== undefined) return group.replaceAll('.', '*').split('|');
  return token.length === 1 && token !== '.' ? [token] : ['*'];
}

/**
 * Applies a quantifier to patterns. A repeated or optional part becomes any text. Repeated spaces count as one space.
 */
function applyQuantifier(patterns: readonly string[], quantifier: string): readonly string[] {
  if (quantifier === '' || patterns.every((pattern) => pattern === '')) return patterns;
  const isBlank = patterns.length === 1 && patterns[0] === ' ';
  if (quantifier.startsWith('+')) return isBlank ? patterns : patterns.map((each) => `${each}*`);
  return ['*'];
}
