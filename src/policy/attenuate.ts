import type { AgentDefinition } from '../protocol/agent.ts';
import type {
  ModeGrant,
  PermissionMode,
  PermissionRule,
  Rights,
  RuleSet,
} from '../protocol/permission.ts';
import { intersectCallLimits, addCallLimits } from './call-limits.ts';
import { isInside } from '../base/path-inside.ts';
import { delegatedMode, effectiveMode, narrowerMode } from './modes.ts';
import { addAbsoluteRules, makeAllowRulesAbsolute } from './rules/absolute-rules.ts';
import { findRuleTool, parseRules, printRule, type RuleText } from './rules/rules.ts';
import { moveRights } from './workspace-rights.ts';

/** The rights that the user gives a main agent. */
export interface RootGrant {
  readonly mode: PermissionMode;
  readonly rules: RuleSet;
  /** Absolute paths, links resolved, the working directory first. */
  readonly roots: readonly string[];
  /** True if commands in the sandbox may use the network. */
  readonly network: boolean;
  readonly maxDepth: number;
}

/** Creates the rights of a main agent. A definition (`--agent`) narrows these rights like those of a child. */
export function createRootRights(grant: RootGrant, definition: AgentDefinition | null): Rights {
  const root: Rights = { ...grant, disallowedTools: [], depth: 0 };
  if (definition === null) return root;
  return {
    ...root,
    mode: effectiveMode(definition, grant.mode),
    rules: addDefinitionRules(grant.rules, definition),
    disallowedTools: listDeniedTools(definition),
    ...addCallLimits([], definition),
    ...combineRefusals(definition),
  };
}

/**
 * Creates the rights of a child, which never exceed its parent's rights (docs/permissions.md). The
 * tools that a definition lists are a choice and give no right. The tools that it denies, and the calls to which it
 * limits a tool, bind the child and every task below it. Only the mode may be wider than the parent's, if the user has
 * granted a mode to this agent: up to the mode that the definition asks for, or up to the grant if the definition asks
 * for no mode.
 *
 * @param grant the user's grant to the agent, or null
 */
export function attenuate(
  parent: Rights,
  definition: AgentDefinition,
  grant: Pick<ModeGrant, 'mode'> | null = null,
): Rights {
  return {
    ...parent,
    mode: delegatedMode(definition, parent.mode, grant),
    rules: addDefinitionRules(parent.rules, definition),
    disallowedTools: sortedUnion(parent.disallowedTools, listDeniedTools(definition)),
    ...addCallLimits(parent.callLimits, definition),
    ...combineRefusals(parent, definition),
    depth: parent.depth + 1,
  };
}

/**
 * Reduces recorded rights to the present maximum. Used when a task is resumed, and when the rights of its parent have
 * become narrower.
 */
export function intersectRights(recorded: Rights, rightsOfParent: Rights): Rights {
  const maxRights = inSameTree(rightsOfParent, recorded);
  const roots = intersectRoots(recorded.roots, maxRights.roots);
  return {
    mode: narrowerMode(recorded.mode, maxRights.mode),
    rules: intersectRules(recorded, maxRights, roots),
    disallowedTools: sortedUnion(recorded.disallowedTools, maxRights.disallowedTools),
    ...intersectCallLimits(recorded, maxRights, roots),
    roots,
    ...(recorded.workspace === undefined ? {} : { workspace: recorded.workspace }),
    network: recorded.network && maxRights.network,
    ...combineRefusals(recorded, maxRights),
    depth: Math.max(recorded.depth, maxRights.depth),
    maxDepth: Math.min(recorded.maxDepth, maxRights.maxDepth),
  };
}

/** Returns rights as they are in the workspace of the recorded rights, if that is a workspace of its own. */
function inSameTree(rights: Rights, { workspace }: Rights): Rights {
  return workspace === undefined || workspace.tree === rights.workspace?.tree
    ? rights
    : moveRights(rights, workspace);
}

/**
 * Intersects the rules of two rights. Relative patterns keep their meaning, which depends on the roots of their rights.
 */
function intersectRules(recorded: Rights, maxRights: Rights, roots: readonly string[]): RuleSet {
  const combine = (list: 'ask' | 'deny'): readonly PermissionRule[] =>
    removeDuplicateRules(
      [recorded, maxRights].flatMap((each) =>
        isSameList(each.roots, roots)
          ? each.rules[list]
          : addAbsoluteRules(each.rules[list], each.roots),
      ),
    );
  const allowed = new Set(
    makeAllowRulesAbsolute(maxRights.rules.allow, maxRights.roots).map(printRule),
  );
  const allow = recorded.rules.allow.filter((rule) =>
    makeAllowRulesAbsolute([rule], recorded.roots).some((absolute) =>
      allowed.has(printRule(absolute)),
    ),
  );
  return {
    allow: isSameList(recorded.roots, roots)
      ? allow
      : makeAllowRulesAbsolute(allow, recorded.roots),
    ask: combine('ask'),
    deny: combine('deny'),
  };
}

/** Combines refusals of questions. A task that refuses questions also refuses them for every task below it. */
function combineRefusals(
  ...sources: readonly { readonly refusesQuestions?: boolean }[]
): Pick<Rights, 'refusesQuestions'> {
  return sources.some((each) => each.refusesQuestions === true) ? { refusesQuestions: true } : {};
}

function listDeniedTools(definition: AgentDefinition): readonly string[] {
  const { tools, disallowedTools } = definition;
  return sortedUnion(disallowedTools, tools.mode === 'deny' ? tools.names : []);
}

function sortedUnion(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].toSorted();
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

/**
 * Intersects two lists of roots. The order of the first list is kept, since its first root is the working directory.
 */
function intersectRoots(roots: readonly string[], maxRights: readonly string[]): readonly string[] {
  const common = roots.flatMap((root) =>
    maxRights.some((each) => isInside(each, root))
      ? [root]
      : maxRights.filter((each) => isInside(root, each)),
  );
  return [...new Set(common)];
}

/**
 * Adds the rules of a definition, which can only ask and deny. A rule that cannot be read applies to all calls of its
 * tool.
 */
export function addDefinitionRules(
  rules: RuleSet,
  { name, rules: own }: Pick<AgentDefinition, 'name' | 'rules'>,
): RuleSet {
  if (own === undefined) return rules;
  const source = { kind: 'definition', where: `agent ${name}` } as const;
  const read = (texts: readonly string[]): readonly RuleText[] =>
    texts.map((text) => ({ text, source }));
  // A rule for an unknown name changes nothing, unless a program has a tool of that name.
  const names = [...own.ask, ...own.deny].flatMap((text) => findRuleTool(text) ?? []);
  const lists = { allow: [], ask: read(own.ask), deny: read(own.deny) };
  const { ask, deny } = parseRules(lists, names).rules;
  return {
    allow: rules.allow,
    ask: removeDuplicateRules([...rules.ask, ...ask]),
    deny: removeDuplicateRules([...rules.deny, ...deny]),
  };
}

/**
 * Removes duplicate rules. The rules of definitions come last, sorted, so that the result does not depend on
 * the order in which definitions were applied and rights were reduced.
 */
function removeDuplicateRules(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  const isOfDefinition = ({ source }: PermissionRule): boolean => source.kind === 'definition';
  const others = keepLastOfEqual(rules.filter((rule) => !isOfDefinition(rule)));
  const known = new Set(others.map(printRule));
  const added = rules
    .filter((rule) => isOfDefinition(rule) && !known.has(printRule(rule)))
    .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const isFirst = (rule: PermissionRule, index: number): boolean => {
    const before = added[index - 1];
    return before === undefined || printRule(before) !== printRule(rule);
  };
  return [...others, ...added.filter(isFirst)];
}

/** Keeps the last of several equal rules, at the position of the first. */
function keepLastOfEqual(rules: readonly PermissionRule[]): readonly PermissionRule[] {
  return [...new Map(rules.map((rule) => [printRule(rule), rule])).values()];
}

function sortKey(rule: PermissionRule): string {
  return JSON.stringify([printRule(rule), rule.source.where, rule.text]);
}
