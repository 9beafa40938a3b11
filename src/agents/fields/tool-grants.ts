import type { JsonValue } from '../../base/json.ts';
import type { LimitedTools, ToolLimit } from '../../protocol/agent.ts';
import { findSpecifierKind } from '../../protocol/specifier-kind.ts';
import {
  findDenyRules,
  expandToolName,
  findGrantedTools,
  type ToolGrant,
} from '../../protocol/tool-aliases.ts';
import type { SourceLine } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';

/** The tools that a list grants. */
export interface GrantedTools {
  /** Canonical names, each once. */
  readonly names: readonly string[];
  /** Default: none of them is limited to certain calls. */
  readonly limited?: LimitedTools;
}

interface UnknownTool {
  readonly unknown: string;
}

/**
 * Reads the tools that a list grants: tools under the name of any vendor, and `Tool(specifier)` for the calls
 * that such a rule covers. A tool that the same list also names without a specifier is not limited. Reports each
 * name that grants nothing.
 */
export function readToolGrants(
  reader: FieldReader,
  words: readonly string[],
  line: SourceLine,
): GrantedTools {
  const found = [...new Set(words)].flatMap((word) => grantsOfName(reader, word, line));
  for (const each of found) {
    if (!('unknown' in each)) continue;
    const { unknown } = each;
    reader.warn('unknown-tool', `Unknown tool \`${unknown}\`; it is left out.`, line, unknown);
  }
  const grants = found.flatMap((each) => ('unknown' in each ? [] : [each]));
  return mergeToolGrants(reader, grants, line);
}

/** Merges the grants of several names. Reports names that grant nothing, where no other name grants the tool. */
export function mergeToolGrants(
  reader: FieldReader,
  grants: readonly ToolGrant[],
  line: SourceLine,
): GrantedTools {
  const granted = grants.filter((each) => !('isTooWide' in each));
  const names = [...new Set(granted.map(({ tool }) => tool))];
  const whole = new Set(granted.filter((each) => !('limit' in each)).map(({ tool }) => tool));
  for (const each of grants) {
    if (!('isTooWide' in each) || whole.has(each.tool)) continue;
    const { word, tool } = each;
    const message = `\`${word}\` is left out: ${tool}, the nearest tool of Muster, does more than that. To grant it, write \`${tool}\`.`;
    reader.warn('too-wide-alias', message, line, word);
  }
  const limits = mergedLimits(
    granted.flatMap((each) => ('limit' in each && !whole.has(each.tool) ? [each.limit] : [])),
  );
  if (limits.length === 0) return { names };
  return { names, limited: { limits, unlimited: names.filter((name) => whole.has(name)) } };
}

function grantsOfName(
  reader: FieldReader,
  word: string,
  line: SourceLine,
): readonly (ToolGrant | UnknownTool)[] {
  const parts = knownParts(reader, word);
  if (parts !== null) return parts.flatMap((part) => grantsOfName(reader, part, line));
  const call = splitSpecifier(word);
  const grants = unlimitedGrants(reader, call?.name ?? word);
  if (grants.length === 0) return [{ unknown: word }];
  if (call === undefined || ALL_CALLS.has(call.inside.trim())) return grants;
  return grants.flatMap((grant) => {
    const isWhole = !('limit' in grant) && !('isTooWide' in grant);
    const takesRules = findSpecifierKind(grant.tool) !== undefined && call.inside.trim() !== '';
    if (isWhole && takesRules) {
      const { tool } = grant;
      const rules = specifiersIn(call.inside).map((each) => `${tool}(${each})`);
      return [{ tool, limit: { tool, rules } }];
    }
    const message = `\`${word}\` limits ${grant.tool} in a way that no rule can express; the tool is left out.`;
    reader.warn('tool-pattern', message, line, word);
    return [];
  });
}

/** Specifiers that every call of a tool matches. */
const ALL_CALLS: ReadonlySet<string> = new Set(['*', ':*']);

/** Returns the specifiers in parentheses. Each of several with commas between them, `git log:*, git diff:*`, is a rule. */
function specifiersIn(inside: string): readonly string[] {
  if (/["'`{}]/.test(inside)) return [inside.trim()];
  return inside
    .split(/,\s+/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** Returns the tools in one item of a list that are separated by spaces, if there are several and all of them are known. */
function knownParts(reader: FieldReader, word: string): readonly string[] | null {
  const parts = word.match(/[^\s()]+(?:\([^()]*\))?/g) ?? [];
  if (parts.length < 2 || parts.join(' ') !== word.trim().replaceAll(/\s+/g, ' ')) return null;
  const isKnown = (part: string) =>
    unlimitedGrants(reader, splitSpecifier(part)?.name ?? part).length > 0;
  return unlimitedGrants(reader, word).length === 0 && parts.every(isKnown) ? parts : null;
}

/** Returns what a name without a limit grants. A name that a vendor knows has precedence over one that only looks like the name of a server's tool. */
export function unlimitedGrants(reader: FieldReader, word: string): readonly ToolGrant[] {
  if (!word.startsWith('mcp__')) {
    const grants = findGrantedTools(word, reader.vendor);
    if (grants !== undefined) return grants;
  }
  const tool = mcpToolName(word);
  return tool === undefined ? [] : [{ tool }];
}

/** Merges the limits of each tool: a call may run if any of them allows it. */
function mergedLimits(limits: readonly ToolLimit[]): readonly ToolLimit[] {
  const byTool = Map.groupBy(limits, ({ tool }) => tool);
  return [...byTool].map(([tool, several]) => {
    const rules = [...new Set(several.flatMap((each) => each.rules))];
    return several.some(({ newFiles }) => newFiles)
      ? { tool, rules, newFiles: true }
      : { tool, rules };
  });
}

/** The tools and calls that a list denies. */
export interface DeniedTools {
  /** Canonical names, each once. */
  readonly names: readonly string[];
  /** The texts of deny rules, for names that mean only a part of a tool of Muster. */
  readonly rules: readonly string[];
}

/**
 * Reads the tools that a list denies. `Tool(specifier)` denies the whole tool, which is the narrower meaning and
 * the one that Claude Code documents for `disallowedTools`.
 */
export function readToolDenials(
  reader: FieldReader,
  words: readonly string[],
  line: SourceLine,
): DeniedTools {
  const names = new Set<string>();
  const rules = new Set<string>();
  const unknown = new Set<string>();
  for (const word of words) {
    const pattern = splitSpecifier(word);
    if (pattern !== undefined) {
      const message = `\`${word}\` denies a pattern, which this field does not support; the whole tool is denied.`;
      reader.warn('tool-pattern', message, line);
    }
    const partial = pattern === undefined ? findDenyRules(word) : undefined;
    const denied = partial ?? toolNames(reader, pattern?.name ?? word);
    if (denied.length === 0) unknown.add(pattern?.name ?? word);
    for (const each of denied) (partial === undefined ? names : rules).add(each);
  }
  for (const word of unknown) {
    const message = `Unknown tool \`${word}\`; it denies nothing.`;
    reader.warn('unknown-denied-tool', message, line, word);
  }
  return { names: [...names], rules: [...rules] };
}

function toolNames(reader: FieldReader, word: string): readonly string[] {
  if (!word.startsWith('mcp__')) {
    const names = expandToolName(word, reader.vendor);
    if (names !== undefined) return names;
  }
  const name = mcpToolName(word);
  return name === undefined ? [] : [name];
}

/** `Tool(arguments)`. */
const PATTERN = /^([\w/.-]+)\s*\((.*)\)$/s;

/** Splits a comma-separated string or a list into the names of tools. Undefined: it is neither. */
export function splitToolList(value: JsonValue): readonly string[] | undefined {
  if (value === null) return [];
  if (typeof value === 'string') return splitWords(value);
  if (!Array.isArray(value)) return undefined;
  const words: string[] = [];
  for (const item of value) {
    if (typeof item !== 'string') return undefined;
    words.push(...splitWords(item));
  }
  return words;
}

/** Splits `Task(a, b)` into the name and the text in parentheses. Undefined: it has no parentheses. */
export function splitSpecifier(
  word: string,
): { readonly name: string; readonly inside: string } | undefined {
  const [, name, inside] = word.includes('(') ? (PATTERN.exec(word) ?? []) : [];
  return name === undefined || inside === undefined ? undefined : { name, inside };
}

/** Splits at commas and line ends outside parentheses: `Task(a, b), Read` has two parts. */
function splitWords(text: string): readonly string[] {
  const list = text.trim().replace(/^\[([\s\S]*)\]$/, '$1');
  const words = list.includes('(') ? splitOutsideBrackets(list) : list.split(/[,\n]/);
  return words.map(cleanToolWord).filter((each) => each !== '');
}

function splitOutsideBrackets(list: string): readonly string[] {
  const words: string[] = [];
  let depth = 0;
  let word = '';
  let isEscaped = false;
  for (const char of list) {
    if (!isEscaped && char === '(') depth += 1;
    if (!isEscaped && char === ')') depth = Math.max(0, depth - 1);
    isEscaped = !isEscaped && char === '\\';
    if (depth === 0 && (char === ',' || char === '\n')) {
      words.push(word);
      word = '';
    } else {
      word += char;
    }
  }
  words.push(word);
  return words;
}

/** Removes the dash and the quotation marks of a list item, which remain when YAML is read line by line. */
export function cleanToolWord(word: string): string {
  const bare = word.trim();
  // Most names begin with a letter, and need nothing removed.
  if (!/^[-"']/.test(bare)) return bare;
  return bare
    .replace(/^- +/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}

/** `mcp__SERVER__TOOL`; all tools of a server are `mcp__SERVER` or `mcp__SERVER__*`. */
const MCP_NAME = /^mcp__[\w.*-]+$/;
/** `SERVER/TOOL` and `SERVER/*`. */
const SLASHED = /^([\w.-]+)\/([\w-]+|\*)$/;
/** `@SERVER` and `@SERVER/TOOL`, as Kiro writes them. */
const AT_SERVER = /^@([\w.-]+)(?:\/([\w-]+|\*))?$/;
/** `mcp_*`, `mcp_SERVER_*` and `mcp_SERVER_TOOL`, as Gemini CLI writes them. Names of servers there have no `_`. */
const UNDERSCORED = /^mcp_(?!_)(?:(\*)|([^_\s]+)_([\w*-]+))$/;
/** The part before the slash in the names of VS Code's own tools. */
const EDITOR_SETS = new Set(
  'agent browser edit execute read runCommands runNotebooks runTasks search todo vscode web'.split(
    ' ',
  ),
);

/**
 * Returns Muster's name for a tool of an MCP server, or for all tools of a server, from any vendor's name.
 * Undefined: it names neither.
 */
function mcpToolName(word: string): string | undefined {
  if (word.startsWith('mcp__')) return MCP_NAME.test(word) ? word : undefined;
  const underscored = UNDERSCORED.exec(word);
  if (underscored !== null) {
    const [, every, server, tool] = underscored;
    return every === undefined ? `mcp__${server}__${tool}` : 'mcp__*';
  }
  const at = AT_SERVER.exec(word);
  if (at !== null) return `mcp__${at[1]}__${at[2] ?? '*'}`;
  const [, server, tool] = SLASHED.exec(word) ?? [];
  if (server === undefined || EDITOR_SETS.has(server)) return undefined;
  // A name with a dot before the tool is that of a VS Code extension, whose tools exist only in that editor.
  if (server.includes('.') && tool !== '*') return undefined;
  return `mcp__${server}__${tool}`;
}

/** Returns Muster's name for one or all tools of a server. Characters that a name cannot have become `_`. */
export function mcpServerTools(server: string, tool = '*'): string {
  const clean = (name: string): string => name.trim().replaceAll(/[^\w.-]+/g, '_');
  return `mcp__${clean(server)}__${tool === '*' ? tool : clean(tool)}`;
}
