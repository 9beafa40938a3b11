import type { AgentDefinition } from '../protocol/agent.ts';
import type {
  ModeGrant,
  PermissionMode,
  PermissionRule,
  Rights,
  RuleSet,
} from '../protocol/permission.ts';
import { intersectCallLimits, addCallLimits } from './call-limits.ts';
import { isInside } from './call.ts';
import { removeDuplicateRules, addDefinitionRules } from './rules/definition-rules.ts';
import { delegatedMode, effectiveMode, narrowerMode } from './modes.ts';
import { addAbsoluteRules, makeAllowRulesAbsolute } from './rules/absolute-rules.ts';
import { printRule } from './rules/rules.ts';

/** What the user grants a main agent. */
export interface RootGrant {
  readonly mode: PermissionMode;
  readonly rules: RuleSet;
  /** Absolute real paths, the working directory first. */
  readonly roots: readonly string[];
  /** For commands in the sandbox. */
  readonly network: boolean;
  readonly maxDepth: number;
}

/** The rights of a main agent. With `--agent` its definition narrows them as it would a child's. */
export function createRootRights(grant: RootGrant, definition: AgentDefinition | null): Rights {
  const root: Rights = { ...grant, disallowedTools: [], depth: 0 };
  if (definition === null) return root;
  return {
    ...root,
    mode: effectiveMode(definition, grant.mode),
    rules: addDefinitionRules(grant.rules, definition),
    disallowedTools: denialsOf(definition),
    ...addCallLimits([], definition),
    ...refusal(definition),
  };
}

interface AttenuationOptions {
  readonly callerRights?: Rights;
  readonly grant?: Pick<ModeGrant, 'mode'> | null;
}

/**
 * The rights of a child: never more than its parent's, whatever the definition says
 * (docs/permissions.md). The tools a definition lists are a choice and no right; those it denies are denied to
 * it and to all below it, and so are the calls to which it limits a tool. Its mode alone may be wider, by a grant of the
 * user to this agent: up to what its definition asks for, or, where that asks for no mode, up to the grant.
 *
 * @param options.now the rights of whoever starts or resumes it, where they are others than the parent's
 * @param options.grant what the user grants to the agent
 */
export function attenuate(
  parent: Rights,
  definition: AgentDefinition,
  { callerRights = parent, grant = null }: AttenuationOptions = {},
): Rights {
  const maxRights = callerRights === parent ? parent : intersectRights(parent, callerRights);
  return {
    ...maxRights,
    mode: delegatedMode(definition, maxRights.mode, grant),
    rules: addDefinitionRules(maxRights.rules, definition),
    disallowedTools: sortedUnion(maxRights.disallowedTools, denialsOf(definition)),
    ...addCallLimits(maxRights.callLimits, definition),
    ...refusal(maxRights, definition),
    depth: maxRights.depth + 1,
  };
}

/** Rights that were recorded, cut by a ceiling of now: for a resume, and when a parent's have shrunk. */
export function intersectRights(recorded: Rights, maxRights: Rights): Rights {
  const roots = commonRoots(recorded.roots, maxRights.roots);
  return {
    mode: narrowerMode(recorded.mode, maxRights.mode),
    rules: intersectRules(recorded, maxRights, roots),
    disallowedTools: sortedUnion(recorded.disallowedTools, maxRights.disallowedTools),
    ...intersectCallLimits(recorded, maxRights, roots),
    roots,
    network: recorded.network && maxRights.network,
    ...refusal(recorded, maxRights),
    depth: Math.max(recorded.depth, maxRights.depth),
    maxDepth: Math.min(recorded.maxDepth, maxRights.maxDepth),
  };
}

/** Relative patterns keep the meaning that they had in the roots they were written for. */
function intersectRules(recorded: Rights, maxRights: Rights, roots: readonly string[]): RuleSet {
  const narrowing = (list: 'ask' | 'deny'): readonly PermissionRule[] =>
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
  const kept = recorded.rules.allow.filter((rule) =>
    makeAllowRulesAbsolute([rule], recorded.roots).some((pinned) => allowed.has(printRule(pinned))),
  );
  return {
    allow: isSameList(recorded.roots, roots) ? kept : makeAllowRulesAbsolute(kept, recorded.roots),
    ask: narrowing('ask'),
    deny: narrowing('deny'),
  };
}

/** Whoever refuses to be asked refuses it for all below: nothing that narrows takes it back. */
function refusal(
  ...sources: readonly { readonly refusesQuestions?: boolean }[]
): Pick<Rights, 'refusesQuestions'> {
  return sources.some((each) => each.refusesQuestions === true) ? { refusesQuestions: true } : {};
}

function denialsOf(definition: AgentDefinition): readonly string[] {
  const { tools, disallowedTools } = definition;
  return sortedUnion(disallowedTools, tools.mode === 'deny' ? tools.names : []);
}

function sortedUnion(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].toSorted();
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}

/** What lies in a root of both; the order of the first is kept, its first root being where it works. */
function commonRoots(roots: readonly string[], maxRights: readonly string[]): readonly string[] {
  const common = roots.flatMap((root) =>
    maxRights.some((each) => isInside(each, root))
      ? [root]
      : maxRights.filter((each) => isInside(root, each)),
  );
  return [...new Set(common)];
}
