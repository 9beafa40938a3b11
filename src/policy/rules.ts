import { suggestNames } from '../base/name-suggestions.ts';
import { TOOL_NAMES } from '../protocol/tool-names.ts';
import { canonicalToolName, findNarrowerMeaning } from '../protocol/tool-aliases.ts';
import type { PermissionRule, RuleSet, RuleSource } from '../protocol/permission.ts';
import { escapeSpecifier, readSpecifier } from './specifier-text.ts';
import { specifierProblem } from './specifiers.ts';

/** A rule as it was written, and where. */
export interface RuleText {
  readonly text: string;
  readonly source: RuleSource;
}

/** A rule that cannot be read: an error at start. `message` names the place, the rule and the mistake. */
export interface RuleProblem extends RuleText {
  readonly message: string;
  /** The mistake alone, as a sentence. */
  readonly mistake: string;
  /**
   * Whether the text is no rule at all, its tool is unknown, its tool takes no such specifier, or the name of
   * its tool means less than the tool of Muster does.
   */
  readonly kind: 'form' | 'tool' | 'specifier' | 'alias';
}

export type ParsedRule =
  | { readonly ok: true; readonly rule: PermissionRule }
  | {
      readonly ok: false;
      readonly problem: RuleProblem;
      /** Set when at least that much was understood. */
      readonly tool?: string;
      /** The meaning if it denies or asks, which may be wider than what was written. */
      readonly narrowing?: PermissionRule;
    };

type UnreadRule = Extract<ParsedRule, { readonly ok: false }>;

const TOOL_NAME = /^[A-Za-z_][\w./-]*\*?/;
const MCP_NAME = /^mcp__(?:\*|[\w.-]+(?:__\*)?)$/;
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * `Tool` or `Tool(specifier)`. In a specifier brackets may be nested; one without its partner is
 * written `\(` or `\)`, and backslashes directly before a bracket or the end are doubled. The tool may
 * have any vendor's name; a name that means less than the tool is a problem where the rule cannot say so, for
 * an allow rule would grant more than was written. Anything left over is a problem.
 *
 * @param knownTools names to know besides Muster's own
 */
export function parseRule(
  { text, source }: RuleText,
  knownTools: readonly string[] = [],
): ParsedRule {
  const trimmed = text.trim();
  const fail = (kind: RuleProblem['kind'], mistake: string, tool?: string): UnreadRule => {
    const message = `${source.where}: rule ${JSON.stringify(text)}: ${mistake}`;
    const problem = { text, source, message, mistake, kind };
    return { ok: false, problem, ...(tool === undefined ? {} : { tool }) };
  };
  const name = TOOL_NAME.exec(trimmed)?.[0];
  if (name === undefined) {
    return fail('form', 'it must start with a tool name, as in `Bash(npm test)`.');
  }
  const tool = ruleTool(name, knownTools);
  if (tool === undefined) return fail('tool', noSuchTool(name, knownTools));
  const rest = trimmed.slice(name.length);
  const narrower = knownTools.includes(name) ? undefined : findNarrowerMeaning(name);
  const made = (specifier?: string): ParsedRule => {
    const rule = { text: trimmed, tool, ...(specifier === undefined ? {} : { specifier }), source };
    if (narrower === undefined) return { ok: true, rule };
    return {
      ...fail(
        'alias',
        `${name} does less than ${tool}; write ${tool}, and in brackets what it may do.`,
        tool,
      ),
      narrowing: rule,
    };
  };
  if (rest === '') {
    return narrower?.specifier === undefined
      ? made()
      : { ok: true, rule: { text: trimmed, tool, specifier: narrower.specifier, source } };
  }
  if (CONTROL.test(rest)) {
    return fail('form', 'it holds a line break or a control character.', tool);
  }
  const specifier = readSpecifier(rest);
  if (specifier === undefined) {
    const mistake = 'after the tool name only `(specifier)` may stand, its brackets balanced.';
    return fail('form', mistake, tool);
  }
  const mistake = specifierProblem(tool, specifier);
  if (mistake !== undefined) return fail('specifier', mistake, tool);
  return made(specifier);
}

function noSuchTool(name: string, knownTools: readonly string[]): string {
  const nearest = nearestTool(name, knownTools);
  const mistake = `there is no tool ${JSON.stringify(name)}`;
  return nearest === undefined ? `${mistake}.` : `${mistake}; did you mean ${nearest}?`;
}

/** The tool that a name may mean: `Bsh` and `bash_tool` are near Bash. Which tools a server has, nobody knows. */
function nearestTool(name: string, knownTools: readonly string[]): string | undefined {
  if (name.startsWith('mcp__')) return undefined;
  const [nearest] = suggestNames(name, [...TOOL_NAMES, ...knownTools]);
  return (
    nearest ??
    name
      .split(/[_.-]/)
      .map(canonicalToolName)
      .find((tool) => tool !== undefined)
  );
}

function ruleTool(name: string, knownTools: readonly string[]): string | undefined {
  if (name.startsWith('mcp__')) return MCP_NAME.test(name) ? name : undefined;
  return knownTools.includes(name) ? name : canonicalToolName(name);
}

/** A rule in its one canonical spelling; `parseRule` reads it back as the same tool and specifier. */
export function printRule(rule: Pick<PermissionRule, 'tool' | 'specifier'>): string {
  return rule.specifier === undefined
    ? rule.tool
    : `${rule.tool}(${escapeSpecifier(rule.specifier)})`;
}

/**
 * The three lists of one place. A rule with a mistake never widens: in `allow` it is left out; in
 * `deny` and `ask` it counts for its whole tool, where the tool could be made out. Each one is a
 * problem, with which nothing should start.
 */
export function parseRules(
  lists: Readonly<Record<keyof RuleSet, readonly RuleText[]>>,
  knownTools: readonly string[] = [],
): { readonly rules: RuleSet; readonly problems: readonly RuleProblem[] } {
  const problems: RuleProblem[] = [];
  const read = (texts: readonly RuleText[], purpose: 'widen' | 'narrow'): PermissionRule[] =>
    texts.flatMap((each) => {
      const parsed = parseRule(each, knownTools);
      if (parsed.ok) return [parsed.rule];
      if (purpose === 'narrow' && parsed.narrowing !== undefined) return [parsed.narrowing];
      problems.push(parsed.problem);
      if (purpose === 'widen' || parsed.tool === undefined) return [];
      return [{ text: each.text, tool: parsed.tool, source: each.source }];
    });
  const rules = {
    allow: read(lists.allow, 'widen'),
    ask: read(lists.ask, 'narrow'),
    deny: read(lists.deny, 'narrow'),
  };
  return { rules, problems };
}

/** A rule with its place, for reasons: `Bash(rm:*)` (--deny). */
export function citeRule(rule: PermissionRule): string {
  return `\`${rule.text}\` (${rule.source.where})`;
}
