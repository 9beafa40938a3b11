import { pinPattern } from '../policy/path-pattern.ts';
import { parseRule, printRule, type ParsedRule, type RuleText } from '../policy/rules.ts';
import { specifierKind } from '../protocol/specifier-kind.ts';
import type { PermissionRule, RuleSet } from '../protocol/permission.ts';

export interface ClaudeRule {
  /** The rules by which Muster does what it says; none where it cannot, and must not. */
  readonly texts: readonly string[];
  /** What is different from what was written, to follow the rule; null: nothing. */
  readonly remark: string | null;
}

/**
 * A rule of a Claude Code settings file in Muster's terms, never wider than it was meant. What Muster
 * cannot judge is left out of an allow list, and counts for its whole tool in a deny or ask list. One
 * that is no rule at all stays as it stands: that is an error at start, as everywhere.
 *
 * @param directory what a pattern like `/src/**` is relative to
 */
export function convertClaudeRule(
  rule: RuleText,
  list: keyof RuleSet,
  directory: string,
): ClaudeRule {
  const parsed = parseRule(rule);
  if (parsed.ok) return { texts: anchored(parsed.rule, list, directory), remark: null };
  const { narrowing: narrowed, problem } = parsed;
  const { kind } = problem;
  if (kind === 'form') return { texts: [rule.text], remark: null };
  if (list === 'allow') return { texts: [], remark: withoutStop(problem.mistake) };
  return narrowed === undefined
    ? narrowing(rule.text.trim(), parsed)
    : { texts: anchored(narrowed, list, directory), remark: null };
}

/** Claude Code reads `/x` from the directory of the settings; here it is from the workspace. */
function anchored(rule: PermissionRule, list: keyof RuleSet, directory: string): readonly string[] {
  const { tool, specifier, text } = rule;
  const isFromFile =
    specifier !== undefined && specifierKind(tool) === 'path' && /^\/(?!\/)/.test(specifier);
  if (!isFromFile) return [text];
  const pinned = printRule({ tool, specifier: pinPattern(specifier, directory) });
  // Whoever wrote a refusal may have meant it from elsewhere: it holds there, too.
  return list === 'allow' ? [pinned] : [pinned, text];
}

function narrowing(text: string, parsed: Extract<ParsedRule, { ok: false }>): ClaudeRule {
  const whole = parsed.tool ?? mcpServer(text);
  const mistake = withoutStop(parsed.problem.mistake);
  return whole === undefined
    ? { texts: [], remark: mistake }
    : { texts: [whole], remark: `${mistake}, so it counts for all of ${whole}` };
}

/** `mcp__github__get_*`: all tools of the server; a pattern for servers: those of all. */
function mcpServer(text: string): string | undefined {
  if (!text.startsWith('mcp__')) return undefined;
  const server = /^mcp__([\w.-]+?)__/.exec(text)?.[1];
  return server === undefined ? 'mcp__*' : `mcp__${server}__*`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/[.;]$/, '');
}
