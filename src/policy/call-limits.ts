import { join } from 'node:path/posix';
import type { AgentDefinition, LimitedTools } from '../protocol/agent.ts';
import { SEARCHING_TOOLS } from '../protocol/file-tools.ts';
import type { CallLimit, PermissionRule, Rights } from '../protocol/permission.ts';
import { findSpecifierKind } from '../protocol/specifier-kind.ts';
import { listPaths, type CallPath } from './call.ts';
import type { DecisionInput } from './decision-input.ts';
import { ANY_CHILD, patternMatchesPath } from './rules/path-pattern.ts';
import { makeAllowRulesAbsolute } from './rules/absolute-rules.ts';
import { findAllowingRule, type RuleSubject } from './rules/match-rules.ts';
import { parseRule, parseRules, printRule } from './rules/rules.ts';
import { coversWholeTool, nameCovers, ruleCovers } from './rules/tool-cover.ts';

/** Adds the limits of a definition to existing limits. A rule that cannot be parsed covers no call. */
export function addCallLimits(
  limits: readonly CallLimit[] = [],
  { name, limitedTools = [] }: Pick<AgentDefinition, 'name' | 'limitedTools'>,
): Pick<Rights, 'callLimits'> {
  return toRights([...limits, ...limitedTools.map((each) => toCallLimit(each, name))]);
}

function toCallLimit({ limits, unlimited }: LimitedTools, agent: string): CallLimit {
  const where = `agent ${agent}`;
  const source = { kind: 'definition', where } as const;
  const allow = limits.flatMap(({ rules }) => rules.map((text) => ({ text, source })));
  return {
    tools: limits.map(({ tool }) => tool),
    rules: parseRules({ allow, ask: [], deny: [] }).rules.allow,
    newFiles: limits.filter(({ newFiles }) => newFiles === true).map(({ tool }) => tool),
    unlimited,
    where,
  };
}

/** Combines the limits of two rights. Relative paths keep their meaning, which depends on the roots of their rights. */
export function intersectCallLimits(
  recorded: Pick<Rights, 'callLimits' | 'roots'>,
  maxRights: Pick<Rights, 'callLimits' | 'roots'>,
  roots: readonly string[],
): Pick<Rights, 'callLimits'> {
  const limits = [recorded, maxRights].flatMap(({ callLimits = [], roots: ownRoots }) =>
    ownRoots[0] === roots[0]
      ? callLimits
      : callLimits.map((each) => ({
          ...each,
          rules: makeAllowRulesAbsolute(each.rules, ownRoots),
        })),
  );
  return toRights(limits);
}

function toRights(limits: readonly CallLimit[]): Pick<Rights, 'callLimits'> {
  if (limits.length === 0) return {};
  const byText = new Map(limits.map((limit) => [limitKey(limit), limit]));
  const sorted = [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { callLimits: sorted.map(([, limit]) => limit) };
}

function limitKey({ rules, ...others }: CallLimit): string {
  return JSON.stringify([others, rules.map(printRule)]);
}

/**
 * Tells whether a limit applies to the calls of a tool. It applies if it names the tool, or another tool whose rules
 * cover this tool (rules for Edit cover Write), and if it does not list the tool as unlimited.
 */
export function isToolLimited({ tools, unlimited }: CallLimit, tool: string): boolean {
  if (unlimited.some((name) => nameCovers(name, tool))) return false;
  return tools.some((name) => ruleCovers(createToolRule(name), tool, 'narrow'));
}

function createToolRule(tool: string): PermissionRule {
  return { text: tool, tool, source: { kind: 'builtin', where: '' } };
}

/**
 * Finds a limit that does not allow a call. Returns undefined if all limits allow the call. `tool` is the tool whose
 * limit is exceeded: the tool of the call, Read for files that a command reads, or Write for files that it writes.
 */
export function findExceededLimit({
  rights: { callLimits = [] },
  subject,
  asRead,
  asWrite,
}: DecisionInput): { readonly limit: CallLimit; readonly tool: string } | undefined {
  for (const limit of callLimits) {
    const commands = [asRead, asWrite].filter((each) => each !== undefined);
    // A list that grants commands also grants the files that they read and write.
    const others = listsTool(limit, 'Bash') ? [] : commands;
    const exceeding = [subject, ...others].find(
      (each) => isToolLimited(limit, each.call.tool) && !isCovered(limit, each),
    );
    if (exceeding !== undefined) return { limit, tool: exceeding.call.tool };
  }
  return undefined;
}

function listsTool({ tools, unlimited }: CallLimit, tool: string): boolean {
  return [...tools, ...unlimited].some((name) => nameCovers(name, tool));
}

function isCovered(limit: CallLimit, matching: RuleSubject): boolean {
  const { call } = matching;
  const rules = limit.rules.filter((rule) => ruleCovers(rule, call.tool, 'widen'));
  if (findSpecifierKind(call.tool) !== 'path')
    return findAllowingRule(rules, matching) !== undefined;
  const paths = listPaths(call.access);
  const writesNew = limit.newFiles.includes(call.tool);
  const isExempt = (path: CallPath): boolean =>
    path.isOwn === true || (writesNew && path.isNew === true);
  const isNamed = (path: CallPath): boolean =>
    rules.some((rule) => coversWholeTool(rule) || isNamedByRule(rule, path, matching));
  return paths.length > 0 && paths.every((path) => isExempt(path) || isNamed(path));
}

function isNamedByRule(
  rule: PermissionRule,
  path: CallPath,
  { call, bases }: RuleSubject,
): boolean {
  const pattern = rule.specifier ?? '';
  if (patternMatchesPath(pattern, path, bases)) return true;
  if (!SEARCHING_TOOLS.includes(call.tool)) return false;
  const [asked, real] = [path.asked, path.real].map((each) => join(each, ANY_CHILD));
  if (asked === undefined || real === undefined) return false;
  return patternMatchesPath(pattern, { ...path, asked, real }, bases);
}

/** Describes for an error which calls of a tool a limit allows, and which definition sets the limit. */
export function describeLimit({ rules, newFiles, where }: CallLimit, tool: string): string {
  const texts = rules
    .filter((rule) => ruleCovers(rule, tool, 'widen'))
    .map((rule) => `\`${rule.text}\``);
  const allowed = [...texts, ...(newFiles.includes(tool) ? ['files that do not exist yet'] : [])];
  return `${allowed.length === 0 ? 'no call' : allowed.join(', ')} (${where})`;
}

/** Explains in a sentence why limits allow no call of a tool at all. Returns undefined if some calls may run. */
export function explainClosedTool(
  tool: string,
  { callLimits = [] }: Pick<Rights, 'callLimits'>,
  definition: Pick<AgentDefinition, 'limitedTools'> | null,
): string | undefined {
  const closing = callLimits.find((limit) => {
    const covers = (rule: PermissionRule): boolean => ruleCovers(rule, tool, 'widen');
    return (
      isToolLimited(limit, tool) && !limit.newFiles.includes(tool) && !limit.rules.some(covers)
    );
  });
  if (closing === undefined) return undefined;
  const ownLimits = (definition?.limitedTools ?? []).flatMap(({ limits }) => limits);
  const texts = ownLimits.filter((each) => each.tool === tool).flatMap(({ rules }) => rules);
  const mistake = texts.map(findMistake).find((each) => each !== undefined);
  return mistake ?? `It is limited to no call (${closing.where}).`;
}

function findMistake(text: string): string | undefined {
  const parsed = parseRule({ text, source: { kind: 'definition', where: 'tools' } });
  return parsed.ok ? undefined : `Its limit \`${text}\` cannot be read: ${parsed.problem.mistake}`;
}
