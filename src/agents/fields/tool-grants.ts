import type { JsonValue } from '../../base/json.ts';
import type { LimitedTools, ToolLimit } from '../../protocol/agent.ts';
import {
  cleanServerPart,
  cleanToolPart,
  explainServerToolName,
  isServerToolName,
  widenToServer,
} from '../../protocol/server-tool-names.ts';
import { findSpecifierKind } from '../../protocol/specifier-kind.ts';
import {
  findDenyRules,
  expandToolName,
  findGrantedTools,
  type ToolGrant,
} from '../../protocol/tool-aliases.ts';
import type { SourceLine } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';

/** The tools that a list in a file grants. */
export interface GrantedTools {
  /** The canonical names of the tools, without duplicates. */
  readonly names: readonly string[];
  /** The tools that are limited to certain calls. Default: none. */
  readonly limited?: LimitedTools;
}

/** A name in a list that is not the name of a known tool. */
interface UnknownTool {
  readonly unknown: string;
}

/**
 * Reads the tools that a list grants. The list has tool names of any vendor, and `Tool(specifier)` for the calls that
 * such a permission rule covers. A tool that the list also names without a specifier is not limited. Each name that
 * grants nothing is reported.
 */
export function readToolGrants(
  reader: FieldReader,
  entries: readonly string[],
  line: SourceLine,
): GrantedTools {
  const results = [...new Set(entries)].flatMap((entry) => findGrants(reader, entry, line));
  for (const each of results) {
    if (!('unknown' in each)) continue;
    const { unknown } = each;
    const message = `Unknown tool \`${unknown}\`; it is left out${explainWrongName(unknown)}.`;
    reader.warn('unknown-tool', message, line, unknown);
  }
  const grants = results.flatMap((each) => ('unknown' in each ? [] : [each]));
  return mergeToolGrants(reader, grants, line);
}

/**
 * Merges the grants of several names. Reports each name that grants nothing, unless another name grants the same tool.
 */
export function mergeToolGrants(
  reader: FieldReader,
  grants: readonly ToolGrant[],
  line: SourceLine,
): GrantedTools {
  const granted = grants.filter((each) => !('isTooWide' in each));
  const names = [...new Set(granted.map(({ tool }) => tool))];
  const unlimited = new Set(granted.filter((each) => !('limit' in each)).map(({ tool }) => tool));
  for (const each of grants) {
    if (!('isTooWide' in each) || unlimited.has(each.tool)) continue;
    const { word, tool } = each;
    const message = `\`${word}\` is left out: ${tool}, the nearest tool of Muster, does more than that. To grant it, write \`${tool}\`.`;
    reader.warn('too-wide-alias', message, line, word);
  }
  const limits = mergeLimits(
    granted.flatMap((each) => ('limit' in each && !unlimited.has(each.tool) ? [each.limit] : [])),
  );
  if (limits.length === 0) return { names };
  return { names, limited: { limits, unlimited: names.filter((name) => unlimited.has(name)) } };
}

function findGrants(
  reader: FieldReader,
  entry: string,
  line: SourceLine,
): readonly (ToolGrant | UnknownTool)[] {
  const parts = splitKnownNames(reader, entry);
  if (parts !== null) return parts.flatMap((part) => findGrants(reader, part, line));
  const call = splitSpecifier(entry);
  const grants = findUnlimitedGrants(reader, call?.name ?? entry);
  if (grants.length === 0) return [{ unknown: entry }];
  if (call === undefined || ALL_CALLS.has(call.inside.trim())) return grants;
  return grants.flatMap((grant) => {
    const isUnlimited = !('limit' in grant) && !('isTooWide' in grant);
    const takesRules = findSpecifierKind(grant.tool) !== undefined && call.inside.trim() !== '';
    if (isUnlimited && takesRules) {
      const { tool } = grant;
      const rules = splitSpecifiers(call.inside).map((each) => `${tool}(${each})`);
      return [{ tool, limit: { tool, rules } }];
    }
    const message = `\`${entry}\` limits ${grant.tool} in a way that no rule can express; the tool is left out.`;
    reader.warn('tool-pattern', message, line, entry);
    return [];
  });
}

/** The specifiers that every call of a tool matches. */
const ALL_CALLS: ReadonlySet<string> = new Set(['*', ':*']);

/** Splits the text in parentheses into specifiers, which may be separated by commas: `git log:*, git diff:*`. */
function splitSpecifiers(inside: string): readonly string[] {
  if (/["'`{}]/.test(inside)) return [inside.trim()];
  return inside
    .split(/,\s+/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/**
 * Splits an item of a list that names several tools separated by spaces. Returns null if there is only one name, or if
 * not all names are known.
 */
function splitKnownNames(reader: FieldReader, entry: string): readonly string[] | null {
  const parts = entry.match(/[^\s()]+(?:\([^()]*\))?/g) ?? [];
  if (parts.length < 2 || parts.join(' ') !== entry.trim().replaceAll(/\s+/g, ' ')) return null;
  const isKnown = (part: string) =>
    findUnlimitedGrants(reader, splitSpecifier(part)?.name ?? part).length > 0;
  return findUnlimitedGrants(reader, entry).length === 0 && parts.every(isKnown) ? parts : null;
}

/**
 * Returns the grants of a name without a specifier. The meaning that a vendor documents for a name has precedence over
 * its meaning as the name of an MCP server's tool.
 */
export function findUnlimitedGrants(reader: FieldReader, entry: string): readonly ToolGrant[] {
  if (!isServerToolName(entry)) {
    const grants = findGrantedTools(entry, reader.vendor);
    if (grants !== undefined) return grants;
  }
  const tool = toMcpToolName(entry);
  return tool === undefined ? [] : [{ tool }];
}

/** Merges the limits of each tool. A call may run if at least one of the limits allows it. */
function mergeLimits(limits: readonly ToolLimit[]): readonly ToolLimit[] {
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
  /** The canonical names of the tools, without duplicates. */
  readonly names: readonly string[];
  /** The texts of deny rules, for names that mean only a part of a tool in Muster. */
  readonly rules: readonly string[];
}

/**
 * Reads the tools that a list denies. `Tool(specifier)` denies all calls of the tool. This is the safer meaning, and
 * the meaning that Claude Code documents for `disallowedTools`.
 */
export function readToolDenials(
  reader: FieldReader,
  entries: readonly string[],
  line: SourceLine,
): DeniedTools {
  const names = new Set<string>();
  const rules = new Set<string>();
  const unknown = new Set<string>();
  for (const entry of entries) {
    const pattern = splitSpecifier(entry);
    if (pattern !== undefined) {
      const message = `\`${entry}\` denies a pattern, which this field does not support; the whole tool is denied.`;
      reader.warn('tool-pattern', message, line);
    }
    const partial = pattern === undefined ? findDenyRules(entry) : undefined;
    const denied = partial ?? toolNames(reader, pattern?.name ?? entry);
    if (denied.length === 0) unknown.add(pattern?.name ?? entry);
    for (const each of denied) (partial === undefined ? names : rules).add(each);
  }
  for (const entry of unknown) {
    const pattern = isServerToolName(entry) ? widenToServer(entry) : null;
    if (pattern !== null) names.add(pattern);
    const effect = pattern === null ? 'it denies nothing' : `\`${pattern}\` is denied instead`;
    const message = `Unknown tool \`${entry}\`; ${effect}${explainWrongName(entry)}.`;
    reader.warn('unknown-denied-tool', message, line, entry);
  }
  return { names: [...names], rules: [...rules] };
}

/** Returns what is wrong with the name of a server's tool, for the end of a sentence. Empty for any other name. */
function explainWrongName(name: string): string {
  const mistake = isServerToolName(name) ? explainServerToolName(name) : undefined;
  return mistake === undefined ? '' : `: ${mistake}`;
}

function toolNames(reader: FieldReader, entry: string): readonly string[] {
  if (!isServerToolName(entry)) {
    const names = expandToolName(entry, reader.vendor);
    if (names !== undefined) return names;
  }
  const name = toMcpToolName(entry);
  return name === undefined ? [] : [name];
}

/** Matches `Tool(specifier)`. */
const TOOL_WITH_SPECIFIER = /^([\w/.-]+)\s*\((.*)\)$/s;

/** Splits a comma-separated string or a list into the names of tools. Returns undefined for any other value. */
export function splitToolList(value: JsonValue): readonly string[] | undefined {
  if (value === null) return [];
  if (typeof value === 'string') return splitWords(value);
  if (!Array.isArray(value)) return undefined;
  const entries: string[] = [];
  for (const item of value) {
    if (typeof item !== 'string') return undefined;
    entries.push(...splitWords(item));
  }
  return entries;
}

/** Splits `Task(a, b)` into the name and the text in parentheses. Returns undefined if there are no parentheses. */
export function splitSpecifier(
  entry: string,
): { readonly name: string; readonly inside: string } | undefined {
  const [, name, inside] = entry.includes('(') ? (TOOL_WITH_SPECIFIER.exec(entry) ?? []) : [];
  return name === undefined || inside === undefined ? undefined : { name, inside };
}

/** Splits a text at commas and line ends outside parentheses. `Task(a, b), Read` has two parts. */
function splitWords(text: string): readonly string[] {
  const list = text.trim().replace(/^\[([\s\S]*)\]$/, '$1');
  const entries = list.includes('(') ? splitOutsideBrackets(list) : list.split(/[,\n]/);
  return entries.map(cleanToolWord).filter((each) => each !== '');
}

function splitOutsideBrackets(list: string): readonly string[] {
  const entries: string[] = [];
  let depth = 0;
  let entry = '';
  let isEscaped = false;
  for (const char of list) {
    if (!isEscaped && char === '(') depth += 1;
    if (!isEscaped && char === ')') depth = Math.max(0, depth - 1);
    isEscaped = !isEscaped && char === '\\';
    if (depth === 0 && (char === ',' || char === '\n')) {
      entries.push(entry);
      entry = '';
    } else {
      entry += char;
    }
  }
  entries.push(entry);
  return entries;
}

/** Removes the dash and the quotation marks of a list item, which remain if broken YAML is read line by line. */
export function cleanToolWord(entry: string): string {
  const bare = entry.trim();
  // Most names begin with a letter, so nothing needs to be removed.
  if (!/^[-"']/.test(bare)) return bare;
  return bare
    .replace(/^- +/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}

/** Matches `SERVER/TOOL` and `SERVER/*`. */
const SLASHED = /^([\w.-]+)\/([\w-]+|\*)$/;
/** Matches Kiro's `@SERVER` and `@SERVER/TOOL`. */
const AT_SERVER = /^@([\w.-]+)(?:\/([\w-]+|\*))?$/;
/** Matches Gemini CLI's `mcp_*`, `mcp_SERVER_*` and `mcp_SERVER_TOOL`. Its server names do not contain `_`. */
const UNDERSCORED = /^mcp_(?!_)(?:(\*)|([^_\s]+)_([\w*-]+))$/;
/** The prefixes (before the slash) of VS Code's own tools. */
const EDITOR_TOOL_PREFIXES = new Set(
  'agent browser edit execute read runCommands runNotebooks runTasks search todo vscode web'.split(
    ' ',
  ),
);

/**
 * Converts any vendor's name for one tool or all tools of an MCP server to Muster's name. Returns undefined for a name
 * that is neither.
 */
function toMcpToolName(entry: string): string | undefined {
  if (isServerToolName(entry))
    return explainServerToolName(entry) === undefined ? entry : undefined;
  const underscored = UNDERSCORED.exec(entry);
  if (underscored !== null) {
    const [, every, server, tool] = underscored;
    return every === undefined ? mcpServerTools(server ?? '', tool) : 'mcp__*';
  }
  const at = AT_SERVER.exec(entry);
  if (at !== null) return mcpServerTools(at[1] ?? '', at[2]);
  const [, server, tool] = SLASHED.exec(entry) ?? [];
  if (server === undefined || EDITOR_TOOL_PREFIXES.has(server)) return undefined;
  // A prefix with a dot names a VS Code extension, whose tools exist only in that editor.
  if (server.includes('.') && tool !== '*') return undefined;
  return mcpServerTools(server, tool);
}

/**
 * Returns Muster's name for one tool or all tools of an MCP server. Characters that a name cannot contain become `_`.
 */
export function mcpServerTools(server: string, tool = '*'): string {
  return `mcp__${cleanServerPart(server)}__${tool.includes('*') ? tool : cleanToolPart(tool)}`;
}
