import type { LimitedTools, ToolLimit } from '../../protocol/agent.ts';
import { specifierKind } from '../../protocol/specifier-kind.ts';
import {
  denyingRules,
  expandToolWord,
  grantedTools,
  type ToolGrant,
} from '../../protocol/tool-aliases.ts';
import type { FieldReader } from './field-reader.ts';
import { mcpToolName } from './mcp-names.ts';
import { bracketed } from './tool-words.ts';

/** The grants that the words of a list of tools stand for. */
export interface GrantedTools {
  /** Canonical names, each once. */
  readonly names: readonly string[];
  /** Absent: none of them is limited to certain calls. */
  readonly limited?: LimitedTools;
}

interface UnknownWord {
  readonly unknown: string;
}

/**
 * What a list of tools grants: tools by the name of any vendor, and `Tool(specifier)` for the calls that such a
 * rule covers. A tool that the same list also names without a specifier is not limited. The reader is warned
 * of each word that grants nothing.
 */
export function grantsOf(
  reader: FieldReader,
  words: readonly string[],
  line: number | undefined,
): GrantedTools {
  const found = [...new Set(words)].flatMap((word) => grantsOfWord(reader, word, line));
  for (const each of found) {
    if (!('unknown' in each)) continue;
    const { unknown } = each;
    reader.warn('unknown-tool', `Unknown tool \`${unknown}\`; it is left out.`, line, unknown);
  }
  const grants = found.flatMap((each) => ('unknown' in each ? [] : [each]));
  const { tooWide, ...granted } = joinedGrants(grants);
  for (const { word, tool } of tooWide) {
    reader.warn('too-wide-alias', tooWideMessage(word, tool), line, word);
  }
  return granted;
}

export function tooWideMessage(word: string, tool: string): string {
  return `\`${word}\` is left out: ${tool}, the nearest tool of Muster, does more than that. To grant it, write \`${tool}\`.`;
}

interface JoinedGrants extends GrantedTools {
  /** Words that grant nothing, where no other word grants the tool. */
  readonly tooWide: readonly { readonly word: string; readonly tool: string }[];
}

/** All that several words grant together. */
export function joinedGrants(grants: readonly ToolGrant[]): JoinedGrants {
  const granted = grants.filter((each) => !('isTooWide' in each));
  const names = [...new Set(granted.map(({ tool }) => tool))];
  const whole = new Set(granted.filter((each) => !('limit' in each)).map(({ tool }) => tool));
  const tooWide = grants.flatMap((each) =>
    'isTooWide' in each && !whole.has(each.tool) ? [each] : [],
  );
  const limits = mergedLimits(
    granted.flatMap((each) => ('limit' in each && !whole.has(each.tool) ? [each.limit] : [])),
  );
  return limits.length === 0
    ? { names, tooWide }
    : { names, tooWide, limited: { limits, unlimited: names.filter((name) => whole.has(name)) } };
}

function grantsOfWord(
  reader: FieldReader,
  word: string,
  line: number | undefined,
): readonly (ToolGrant | UnknownWord)[] {
  const parts = knownParts(reader, word);
  if (parts !== null) return parts.flatMap((part) => grantsOfWord(reader, part, line));
  const call = bracketed(word);
  const grants = wholeGrants(reader, call?.name ?? word);
  if (grants.length === 0) return [{ unknown: word }];
  if (call === undefined || ALL_CALLS.has(call.inside.trim())) return grants;
  return grants.flatMap((grant) => {
    const isWhole = !('limit' in grant) && !('isTooWide' in grant);
    const takesRules = specifierKind(grant.tool) !== undefined && call.inside.trim() !== '';
    if (isWhole && takesRules) {
      const { tool } = grant;
      const rules = specifiersIn(call.inside).map((each) => `${tool}(${each})`);
      return [{ tool, limit: { tool, rules } }];
    }
    const message = `\`${word}\` limits ${grant.tool} in a way that no rule can say; the tool is left out.`;
    reader.warn('tool-pattern', message, line, word);
    return [];
  });
}

/** Specifiers that every call of a tool matches. */
const ALL_CALLS: ReadonlySet<string> = new Set(['*', ':*']);

/** The specifiers in the brackets of a tool: several with commas, `git log:*, git diff:*`, are a rule each. */
function specifiersIn(inside: string): readonly string[] {
  if (/["'`{}]/.test(inside)) return [inside.trim()];
  return inside
    .split(/,\s+/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** The tools that blanks separate in a word of a list, if it has several and all of them are known. */
function knownParts(reader: FieldReader, word: string): readonly string[] | null {
  const parts = word.match(/[^\s()]+(?:\([^()]*\))?/g) ?? [];
  if (parts.length < 2 || parts.join(' ') !== word.trim().replaceAll(/\s+/g, ' ')) return null;
  const isKnown = (part: string) => wholeGrants(reader, bracketed(part)?.name ?? part).length > 0;
  return wholeGrants(reader, word).length === 0 && parts.every(isKnown) ? parts : null;
}

/** A name that any vendor knows goes before one that only looks like the name of a server's tool. */
function wholeGrants(reader: FieldReader, word: string): readonly ToolGrant[] {
  if (!word.startsWith('mcp__')) {
    const grants = grantedTools(word, reader.vendor);
    if (grants !== undefined) return grants;
  }
  const tool = mcpToolName(word);
  return tool === undefined ? [] : [{ tool }];
}

/** One limit for each tool: it may do what any of its limits lets it do. */
function mergedLimits(limits: readonly ToolLimit[]): readonly ToolLimit[] {
  const byTool = Map.groupBy(limits, ({ tool }) => tool);
  return [...byTool].map(([tool, several]) => {
    const rules = [...new Set(several.flatMap((each) => each.rules))];
    return several.some(({ newFiles }) => newFiles)
      ? { tool, rules, newFiles: true }
      : { tool, rules };
  });
}

/** The denials that the words of a list of denied tools stand for. */
export interface DeniedTools {
  /** Canonical names, each once. */
  readonly names: readonly string[];
  /** Texts of deny rules, for names that mean less than a tool of Muster does. */
  readonly rules: readonly string[];
}

/**
 * What a list of denied tools denies. `Tool(specifier)` denies the whole tool, which is the narrower reading
 * and what Claude Code documents for `disallowedTools`.
 */
export function denialsOf(
  reader: FieldReader,
  words: readonly string[],
  line: number | undefined,
): DeniedTools {
  const names = new Set<string>();
  const rules = new Set<string>();
  const unknown = new Set<string>();
  for (const word of words) {
    const pattern = bracketed(word);
    if (pattern !== undefined) {
      const message = `\`${word}\` denies a pattern, which this field cannot do; the whole tool is denied.`;
      reader.warn('tool-pattern', message, line);
    }
    const partial = pattern === undefined ? denyingRules(word) : undefined;
    const denied = partial ?? toolNames(reader, pattern?.name ?? word);
    if (denied.length === 0) unknown.add(pattern?.name ?? word);
    for (const each of denied) (partial === undefined ? names : rules).add(each);
  }
  for (const word of unknown) {
    const message = `Unknown tool \`${word}\`; nothing is denied by it.`;
    reader.warn('unknown-denied-tool', message, line, word);
  }
  return { names: [...names], rules: [...rules] };
}

function toolNames(reader: FieldReader, word: string): readonly string[] {
  if (!word.startsWith('mcp__')) {
    const names = expandToolWord(word, reader.vendor);
    if (names !== undefined) return names;
  }
  const name = mcpToolName(word);
  return name === undefined ? [] : [name];
}
