import { listAsBuiltinCalls } from './access-rules.ts';
import { sortByNearness } from '../base/name-suggestions.ts';
import type { HookVerdict } from '../protocol/hook.ts';
import type {
  Decision,
  PermissionMode,
  PermissionRule,
  Rights,
  Verdict,
} from '../protocol/permission.ts';
import { TEXT_EDITING_TOOLS } from '../protocol/file-tools.ts';
import { isResourceTool } from '../protocol/tool-names.ts';
import { describeLimit, findExceededLimit } from './call-limits.ts';
import type { ResolvedCall } from './call.ts';
import { createDecisionInput, hasCallEffect, isProvable } from './decision-input.ts';
import type { CallSubjects, DecisionContext, DecisionInput } from './decision-input.ts';
import { forbidsAllChanges } from './denied-paths.ts';
import { explainRefusal } from './explain-refusal.ts';
import { checkHardRules, checkHardRulesOfReads } from './hard-rules.ts';
import { isNarrowerMode } from './modes.ts';
import { findAllowingRule, findNarrowingRule } from './rules/match-rules.ts';
import { citeRule } from './rules/rules.ts';
import { coversWholeTool, isToolDisallowed, ruleCovers } from './rules/tool-cover.ts';
import { suggestPartRules, suggestRule } from './suggest-rule.ts';

/** A step of the decision. It returns a decision, or undefined to leave the decision to the next step. */
type Step = (input: DecisionInput) => Decision | undefined;

/** The steps in the order that docs/permissions.md documents. If no step decides, `decideByDefault` does. */
const STEPS: readonly Step[] = [
  checkToolSet,
  checkDenyRules,
  checkCallLimits,
  checkHookDenial,
  checkHardRules,
  checkAskRules,
  checkHookQuestion,
  checkAllowRules,
  checkMode,
];

/**
 * Decides whether a call may run, must be asked about, or is refused. This function decides about every call of every
 * tool in every task. It is pure. A call that also needs the rights of other tools gets the strictest decision, and so does
 * a call of a program's tool to which deny and ask rules of built-in tools apply.
 */
export function decide(call: ResolvedCall, rights: Rights, context: DecisionContext): Decision {
  const { alsoNeeds = [] } = call.access;
  const own = alsoNeeds.reduce(
    (decision, tool) => pickStricter(decision, decideAsTool({ ...call, tool }, rights, context)),
    decideAsTool(call, rights, context),
  );
  const others = listAsBuiltinCalls(call).flatMap((each) => {
    const input = createDecisionInput(each, rights, context);
    return checkDenyRules(input) ?? checkAskRules(input) ?? [];
  });
  return others.reduce(pickStricter, own);
}

/** The order of verdicts, from the widest to the strictest. */
export const STRICTNESS: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** Returns the stricter of two decisions about one call. If both ask for rules, names the rules of both. */
export function pickStricter(own: Decision, other: Decision): Decision {
  if (STRICTNESS[own.verdict] > STRICTNESS[other.verdict]) return own;
  const [ownRules, otherRules] = [own, other].map(
    ({ wouldAllow, wouldAllowParts }) =>
      wouldAllowParts ?? (wouldAllow === undefined ? [] : [wouldAllow]),
  );
  if (own.verdict !== 'ask' || !ownRules?.length || !otherRules?.length) return other;
  return { ...other, wouldAllowParts: [...new Set([...ownRules, ...otherRules])] };
}

function decideAsTool(call: ResolvedCall, rights: Rights, context: DecisionContext): Decision {
  const input = createDecisionInput(call, rights, context);
  for (const step of STEPS) {
    const decision = step(input);
    if (decision !== undefined) return addConfinement(decision, input);
  }
  return addConfinement(decideByDefault(input), input);
}

/**
 * Decides whether a call that was allowed may still start. The user may have set a narrower mode since then, in which
 * the call would need a question.
 *
 * @param modes.allowedIn the mode in which the call was allowed
 * @param modes.mode the mode of its task now
 * @returns the refusal for the model, or null if the call may start
 */
export function decideStart(
  tool: string,
  { allowedIn, mode }: { readonly allowedIn: PermissionMode; readonly mode: PermissionMode },
): string | null {
  if (!isNarrowerMode(mode, allowedIn)) return null;
  return `Not run: the user set ${mode} mode before ${tool} had begun. Call it again if it is still needed.`;
}

/**
 * Decides whether a call that was allowed may still start after the user has changed the rules.
 *
 * @param decisions.before the decision that allowed the call; it is `ask` if a person allowed it
 * @param decisions.now the decision by the present rules
 * @returns the refusal for the model, or null if the call may start
 */
export function decideStartByRules(
  tool: string,
  { before, now }: { readonly before: Decision | undefined; readonly now: Decision },
): string | null {
  if (now.verdict === 'deny') return explainRefusal(now);
  if (now.verdict === 'allow' || before?.verdict === 'ask') return null;
  return `Not run: the user changed the rules before ${tool} had begun, and it now needs to be asked about. Call it again if it is still needed.`;
}

/** The tools of a task that called a tool which the task does not have. */
interface TaskTools {
  readonly tools: readonly string[];
  /** True if the task continues a copy of another task's conversation, which may show calls of other tools. */
  readonly isForked: boolean;
}

/**
 * Refuses a call of a tool that its task does not have.
 *
 * @param name the tool as the model named it
 */
export function refuseMissingTool(name: string, { tools, isForked }: TaskTools): Decision {
  const others = isForked ? ' The conversation that you inherited had others.' : '';
  return refuseTool(`${name} is not among your tools: ${listNearTools(name, tools)}.${others}`);
}

/** The maximum number of tools of a task that a refusal lists completely. */
const MAX_LISTED_TOOLS = 30;
/** The maximum number of tools that a refusal names if it does not list all of them. */
const MAX_NAMED_TOOLS = 5;

/** Lists the tools of a task. If there are many, lists those with the nearest names, and counts the others. */
function listNearTools(name: string, tools: readonly string[]): string {
  if (tools.length <= MAX_LISTED_TOOLS) return tools.join(', ');
  const near = sortByNearness(name, tools).slice(0, MAX_NAMED_TOOLS);
  return `${near.join(', ')} and ${tools.length - near.length} others`;
}

function checkToolSet({ call }: DecisionInput): Decision | undefined {
  return call.inToolSet ? undefined : refuseTool(`${call.tool} is not one of this task's tools.`);
}

function refuseTool(reason: string): Decision {
  return { verdict: 'deny', step: 'tool_set', reason };
}

/**
 * Sets the confinement of commands: read-only for commands that were proved to change nothing, and for all commands in
 * plan mode.
 */
function addConfinement(decision: Decision, { call, rights }: DecisionInput): Decision {
  if (call.access.commands.length === 0 || decision.verdict === 'deny') return decision;
  const isProved = decision.verdict === 'allow' && decision.step === 'tool_default';
  const confinement = rights.mode === 'plan' || isProved ? 'read-only' : 'workspace';
  return { ...decision, confinement };
}

/**
 * Tells whether `decide` needs the commands of a call parsed: to prove that they change nothing, to match rules about
 * commands or about the files that commands read or write, or to suggest a rule that would allow them.
 */
export function needsShellParser(call: ResolvedCall, rights: Rights, context: Sandboxing): boolean {
  if (call.access.commands.length === 0) return false;
  if (rights.mode !== 'autonomous' || !isConfined(rights, context)) return true;
  if (rights.callLimits !== undefined) return true;
  if (rights.workspace !== undefined && !context.isSandboxed) return true;
  const { allow, ask, deny } = rights.rules;
  const isAboutFiles = [...ask, ...deny].some((rule) =>
    ['Read', 'Write'].some((tool) => ruleCovers(rule, tool, 'narrow')),
  );
  const all = [...allow, ...ask, ...deny];
  return isAboutFiles || all.some((rule) => rule.tool === 'Bash' && !coversWholeTool(rule));
}

function checkDenyRules(input: DecisionInput): Decision | undefined {
  const { call, rights } = input;
  const rule = findRuleAgainst(rights.rules.deny, input);
  if (rule !== undefined) {
    const reason = `The deny rule ${citeRule(rule)} forbids this ${call.tool} call.`;
    return { verdict: 'deny', step: 'deny_rule', rule, reason };
  }
  const tools = input.asTask === undefined ? [call.tool] : [call.tool, 'Task'];
  const disallowed = tools.find((tool) => isToolDisallowed(rights, tool));
  if (disallowed === undefined) return undefined;
  const reason = `${disallowed} is disallowed for this agent, by its definition or by a task above it.`;
  return { verdict: 'deny', step: 'deny_rule', reason };
}

function checkCallLimits(input: DecisionInput): Decision | undefined {
  const exceeded = findExceededLimit(input);
  if (exceeded === undefined) return undefined;
  const { limit, tool } = exceeded;
  const reason = `${tool} is limited to ${describeLimit(limit, tool)}, which does not cover this ${input.call.tool} call.`;
  return { verdict: 'deny', step: 'deny_rule', reason, instead: STAY_WITHIN_LIMITS };
}

const STAY_WITHIN_LIMITS =
  'Make only calls that are covered as a whole; for all else go on without it, and say so in your answer.';

/**
 * Finds the first rule that could apply to the call itself, or to the files or agents that it is known to read, write
 * or delegate to.
 */
export function findRuleAgainst(
  rules: readonly PermissionRule[],
  { subject, asRead, asWrite, asTask }: CallSubjects,
): PermissionRule | undefined {
  for (const each of [subject, asRead, asTask]) {
    const rule = each && findNarrowingRule(rules, each);
    if (rule !== undefined) return rule;
  }
  if (asWrite === undefined) return undefined;
  // A rule about all files applies to the files of the workspace, not to the temporary files of a command.
  const isInRoots = asWrite.call.access.writes.some(({ insideRoots }) => insideRoots);
  return findNarrowingRule(
    isInRoots ? rules : rules.filter((each) => !coversWholeTool(each)),
    asWrite,
  );
}

function checkAskRules(input: DecisionInput): Decision | undefined {
  const { call, rights } = input;
  const rule = findRuleAgainst(rights.rules.ask, input);
  if (rule === undefined) return undefined;
  const reason = `The ask rule ${citeRule(rule)} wants this ${call.tool} call to be asked about.`;
  return { verdict: 'ask', step: 'ask_rule', rule, reason };
}

function checkHookDenial({ context: { hook } }: DecisionInput): Decision | undefined {
  return hook?.verdict === 'deny' ? decideByHook(hook) : undefined;
}

function checkHookQuestion({ context: { hook } }: DecisionInput): Decision | undefined {
  return hook?.verdict === 'ask' ? decideByHook(hook) : undefined;
}

const HOOK_VERBS: Readonly<Record<Verdict, string>> = {
  allow: 'lets this call run',
  ask: 'wants this call to be asked about',
  deny: 'refuses this call',
};

function decideByHook({ verdict, reason, source }: HookVerdict): Decision {
  const text = `A hook of ${source.where} ${HOOK_VERBS[verdict]}: ${reason}`;
  return { verdict, step: 'hook', reason: /[.!?]$/.test(text) ? text : `${text}.` };
}

function checkAllowRules({ call, rights, subject }: DecisionInput): Decision | undefined {
  const rule = findAllowingRule(rights.rules.allow, subject);
  if (rule === undefined) return undefined;
  const reason = `The allow rule ${citeRule(rule)} lets this ${call.tool} call run.`;
  return { verdict: 'allow', step: 'allow_rule', rule, reason };
}

function checkMode({ call, rights, context }: DecisionInput): Decision | undefined {
  // Without network rights, the network is out of bounds: a page could carry away what the task has read. A server can
  // always use the network.
  const isInBounds = (call.kind !== 'network' && !isServerCall(call)) || rights.network;
  if (rights.mode === 'autonomous' && isInBounds && !isUnconfined(call, rights, context)) {
    const reason = 'In autonomous mode everything in bounds runs.';
    return { verdict: 'allow', step: 'mode', reason };
  }
  const isEdit =
    call.kind === 'edit' && TEXT_EDITING_TOOLS.includes(call.tool) && call.access.writes.length > 0;
  if (rights.mode !== 'acceptEdits' || !isEdit) return undefined;
  const reason = 'In acceptEdits mode edits inside the workspace roots run.';
  return { verdict: 'allow', step: 'mode', reason };
}

/** Tells whether a call runs commands or code that no sandbox confines. No mode allows such a call. */
function isUnconfined(call: ResolvedCall, rights: Rights, context: Sandboxing): boolean {
  if (call.kind !== 'execute') return false;
  if (call.access.isInProcess === true)
    return context.isMachineSandbox !== true || !isConfined(rights, context);
  if (!isServerCall(call)) return !isConfined(rights, context);
  const { server } = call.access;
  // Only the sandbox keeps a server out of the directory for which a workspace stands.
  if (rights.workspace !== undefined)
    return !context.isSandboxed || (server !== 'sandbox' && server !== 'workspace');
  if (context.isMachineSandbox === true) return !isConfined(rights, context);
  return server !== 'sandbox' && server !== 'remote';
}

function isServerCall({ tool }: ResolvedCall): boolean {
  return tool.startsWith('mcp__');
}

type Sandboxing = Pick<DecisionContext, 'isSandboxed' | 'isMachineSandbox'>;

/**
 * Tells whether commands are confined as their rights require. A machine that is itself the sandbox cannot prevent
 * changes to the workspace.
 */
function isConfined(rights: Rights, { isSandboxed, isMachineSandbox }: Sandboxing): boolean {
  return isSandboxed || (isMachineSandbox === true && !forbidsAllChanges(rights));
}

function decideByDefault(input: DecisionInput): Decision {
  const { call, rights, context } = input;
  const { tool, kind } = call;
  if (isProvedHarmless(input)) {
    const reason = 'The command is proved to change nothing.';
    return { verdict: 'allow', step: 'tool_default', reason };
  }
  if (!hasCallEffect(call) && kind !== 'network') {
    const reason = `${tool} changes nothing and sends nothing away.`;
    return { verdict: 'allow', step: 'tool_default', reason };
  }
  // Only a hook of the user's own settings can allow a call, and no hook answers a question of a rule or of plan mode.
  if (context.hook?.verdict === 'allow' && rights.mode !== 'plan')
    return decideByHook(context.hook);
  const lacksSandbox =
    rights.mode === 'autonomous' && !isServerCall(call) && isUnconfined(call, rights, context);
  const parts = suggestPartRules(input);
  const lacking = lacksSandbox
    ? 'without a sandbox only a rule'
    : `neither a rule nor ${rights.mode} mode`;
  return {
    verdict: 'ask',
    step: 'tool_default',
    reason: `${tool} ${describeEffect(call)}, and ${lacking} lets it run unasked.`,
    wouldAllow: suggestRule(input),
    ...(parts.length === 0 ? {} : { wouldAllowParts: parts }),
    ...(lacksSandbox && context.isMachineSandbox !== true
      ? { lacksSandbox: context.isInContainer === true ? 'in_container' : 'here' }
      : {}),
  };
}

function isProvedHarmless(input: DecisionInput): boolean {
  const { call, rights, asRead } = input;
  if (!isProvable(call) || call.proof?.proven !== true) return false;
  if (checkHardRulesOfReads(input) !== undefined) return false;
  return asRead === undefined || !isToolDisallowed(rights, 'Read');
}

function describeEffect(call: ResolvedCall): string {
  if (isResourceTool(call.tool)) return 'reads from an MCP server, which may do anything for that';
  if (isServerCall(call)) return 'is a tool of an MCP server, which may do anything';
  const { kind } = call;
  if (kind === 'execute') return 'runs commands or code';
  return kind === 'network' ? 'sends requests over the network' : 'changes files';
}
