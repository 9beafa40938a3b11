import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import { canonicalToolName, findNarrowerMeaning } from '../../protocol/tool-aliases.ts';
import type { PermissionRule, RuleSet, RuleSource } from '../../protocol/permission.ts';
import { explainServerToolName, isServerToolName } from '../../protocol/server-tool-names.ts';
import { findSpecifierProblem } from './specifiers.ts';
import { suggestNames } from '../../base/name-suggestions.ts';

/** The text of a rule and its source. */
export interface RuleText {
  readonly text: string;
  readonly source: RuleSource;
}

/** A rule that cannot be parsed. Muster does not start if there is such a rule. */
export interface RuleProblem extends RuleText {
  /** A message with the source, the rule and the mistake. */
  readonly message: string;
  /** The mistake alone, as one sentence. */
  readonly mistake: string;
  /**
   * `form`: the text is not a rule. `tool`: its tool is unknown. `specifier`: its tool takes no such specifier.
   * `alias`: the name of another vendor's tool that does less than Muster's.
   */
  readonly kind: 'form' | 'tool' | 'specifier' | 'alias';
}

export type ParsedRule =
  | { readonly ok: true; readonly rule: PermissionRule }
  | {
      readonly ok: false;
      readonly problem: RuleProblem;
      /** The tool of the rule, if it could be parsed. */
      readonly tool?: string;
      /** The rule that applies instead in a deny or ask list. It may cover more calls than the text says. */
      readonly narrowing?: PermissionRule;
    };

type UnreadRule = Extract<ParsedRule, { readonly ok: false }>;

const TOOL_NAME = /^(?:mcp__[^\s()]*|[A-Za-z_][\w./-]*\*?)/;
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Parses a rule: `Tool` or `Tool(specifier)`. Brackets in a specifier may be nested. A bracket without its partner is
 * written `\(` or `\)`, and backslashes directly before a bracket or the end are doubled. The tool may have the name
 * that any vendor gives it. The name of a tool that does less than Muster's is a problem if a specifier cannot
 * express the difference, since an allow rule would grant more than was written.
 *
 * @param knownTools names of tools that are accepted besides Muster's own
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
  const name = findRuleTool(trimmed);
  if (name === undefined) {
    return fail('form', 'it must start with a tool name, as in `Bash(npm test)`.');
  }
  const tool = findTool(name, knownTools);
  if (tool === undefined) return fail('tool', explainUnknownTool(name, knownTools));
  const rest = trimmed.slice(name.length);
  const narrower = knownTools.includes(name) ? undefined : findNarrowerMeaning(name);
  const succeed = (specifier?: string): ParsedRule => {
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
      ? succeed()
      : { ok: true, rule: { text: trimmed, tool, specifier: narrower.specifier, source } };
  }
  if (CONTROL.test(rest)) {
    return fail('form', 'it contains a line break or a control character.', tool);
  }
  const specifier = readSpecifier(rest);
  if (specifier === undefined) {
    const mistake = 'only `(specifier)` with balanced brackets may follow the tool name.';
    return fail('form', mistake, tool);
  }
  const mistake = findSpecifierProblem(tool, specifier);
  if (mistake !== undefined) return fail('specifier', mistake, tool);
  return succeed(specifier);
}

/** Returns the name of the tool with which the text of a rule begins, as it is written there. */
export function findRuleTool(text: string): string | undefined {
  return TOOL_NAME.exec(text.trim())?.[0];
}

function explainUnknownTool(name: string, knownTools: readonly string[]): string {
  if (isServerToolName(name)) {
    return `no tool can have the name ${JSON.stringify(name)}: ${explainServerToolName(name) ?? 'it is no name'}.`;
  }
  const nearest = findNearestTool(name, knownTools);
  const mistake = `there is no tool ${JSON.stringify(name)}`;
  return nearest === undefined ? `${mistake}.` : `${mistake}; did you mean ${nearest}?`;
}

/** Finds the tool that a misspelled name may mean: `Bsh` and `bash_tool` are near Bash. */
function findNearestTool(name: string, knownTools: readonly string[]): string | undefined {
  const lowered = name.replace(/^mcp__/i, 'mcp__');
  if (isServerToolName(lowered)) return lowered;
  const [nearest] = suggestNames(name, [...TOOL_NAMES, ...knownTools]);
  return (
    nearest ??
    name
      .split(/[_.-]/)
      .map(canonicalToolName)
      .find((tool) => tool !== undefined)
  );
}

function findTool(name: string, knownTools: readonly string[]): string | undefined {
  if (isServerToolName(name)) return explainServerToolName(name) === undefined ? name : undefined;
  return knownTools.includes(name) ? name : canonicalToolName(name);
}

/** Prints a rule in its canonical spelling. `parseRule` parses the result to the same tool and specifier. */
export function printRule(rule: Pick<PermissionRule, 'tool' | 'specifier'>): string {
  return rule.specifier === undefined
    ? rule.tool
    : `${rule.tool}(${escapeSpecifier(rule.specifier)})`;
}

/**
 * Parses the three lists of rules from one source. A rule with a mistake never gives rights: in `allow` it is dropped;
 * in `deny` and `ask` it applies to all calls of its tool, if the tool could be parsed. Each mistake is reported as a
 * problem, and the caller should not start with problems.
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

/** Formats a rule and its source for a reason: `Bash(rm:*)` (--deny). */
export function citeRule(rule: PermissionRule): string {
  return `\`${rule.text}\` (${rule.source.where})`;
}

// In a specifier, backslashes have a meaning only directly before a bracket or the end: two stand for one backslash,
// and an odd one makes the bracket a plain character.
const BRACKET_WITH_SLASHES = /(\\*)([()])/g;

/** Parses a text of the form `(…)` and removes the escapes. Returns undefined for any other text. */
function readSpecifier(text: string): string | undefined {
  if (!text.startsWith('(')) return undefined;
  let specifier = '';
  let depth = 1;
  for (let at = 1; at < text.length;) {
    const slashes = countSlashes(text, at);
    const next = text[at + slashes];
    if (next !== '(' && next !== ')') {
      specifier += text.slice(at, at + slashes) + (next ?? '');
      at += slashes + 1;
      continue;
    }
    specifier += '\\'.repeat(Math.floor(slashes / 2));
    at += slashes + 1;
    if (slashes % 2 === 0) depth += next === '(' ? 1 : -1;
    if (depth === 0) return at === text.length ? specifier.trim() : undefined;
    specifier += next;
  }
  return undefined;
}

function countSlashes(text: string, at: number): number {
  let count = 0;
  while (text[at + count] === '\\') count += 1;
  return count;
}

/** Escapes a specifier, so that `readSpecifier` reads it back. Adds no brackets around it. */
function escapeSpecifier(specifier: string): string {
  const escape = isBalanced(specifier) ? '' : '\\';
  return specifier
    .replace(BRACKET_WITH_SLASHES, (_, slashes: string, bracket: string) => {
      return slashes + slashes + escape + bracket;
    })
    .replace(/\\+$/, (slashes) => slashes + slashes);
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
