import type { Decision, PermissionRule, Rights } from '../protocol/permission.ts';
import type { ResolvedCall } from './call.ts';
import { findExceededLimit, describeLimit } from './call-limits.ts';
import { forbidsAllChanges } from './denied-paths.ts';
import { checkHardRules, checkHardRulesOfReads } from './hard-rules.ts';
import { hasCallEffect, createDecisionInput, isProvable } from './decision-input.ts';
import type { DecisionContext, DecisionInput } from './decision-input.ts';
import { findNarrowingRule, findAllowingRule } from './rules/match-rules.ts';
import { citeRule } from './rules/rules.ts';
import { isToolDisallowed, coversWholeTool, ruleCovers } from './rules/tool-cover.ts';
import { suggestRule } from './suggest-rule.ts';

/** One step of the order: a decision, or nothing, and the next one is asked. */
type Step = (judged: DecisionInput) => Decision | undefined;

/** The order is the contract (docs/permissions.md). The tool's default, which comes last, always decides. */
const STEPS: readonly Step[] = [
  toolSet,
  denyRules,
  callLimits,
  checkHardRules,
  askRules,
  allowRules,
  modeGrant,
];

/** Whether a call may run. Pure; the one place where that is decided, for every tool and every task. */
export function decide(call: ResolvedCall, rights: Rights, facts: DecisionContext): Decision {
  const judged = createDecisionInput(call, rights, facts);
  for (const step of STEPS) {
    const decision = step(judged);
    if (decision !== undefined) return withConfinement(decision, judged);
  }
  return withConfinement(toolDefault(judged), judged);
}

/** What was proved to change nothing, and every command of plan mode, runs where nothing can be changed. */
function withConfinement(decision: Decision, { call, rights }: DecisionInput): Decision {
  if (call.access.commands.length === 0 || decision.verdict === 'deny') return decision;
  const isProved = decision.verdict === 'allow' && decision.step === 'tool_default';
  const confinement = rights.mode === 'plan' || isProved ? 'read-only' : 'workspace';
  return { ...decision, confinement };
}

/**
 * Whether `decide` needs the commands of this call read: where it has to be proved what they do, where a rule is
 * about them or about what they may read or write, and where a rule will have to be named that would allow them.
 */
export function needsShellParser(call: ResolvedCall, rights: Rights, facts: Holding): boolean {
  if (call.access.commands.length === 0) return false;
  if (rights.mode !== 'autonomous' || !isHeld(rights, facts)) return true;
  if (rights.callLimits !== undefined) return true;
  const { allow, ask, deny } = rights.rules;
  const isAboutFiles = [...ask, ...deny].some((rule) =>
    ['Read', 'Write'].some((tool) => ruleCovers(rule, tool, 'narrow')),
  );
  const all = [...allow, ...ask, ...deny];
  return isAboutFiles || all.some((rule) => rule.tool === 'Bash' && !coversWholeTool(rule));
}

function toolSet({ call }: DecisionInput): Decision | undefined {
  if (call.inToolSet) return undefined;
  return {
    verdict: 'deny',
    step: 'tool_set',
    reason: `${call.tool} is not one of this task's tools.`,
  };
}

function denyRules(judged: DecisionInput): Decision | undefined {
  const { call, rights } = judged;
  const rule = ruleAgainst(rights.rules.deny, judged);
  if (rule !== undefined) {
    const reason = `The deny rule ${citeRule(rule)} forbids this ${call.tool} call.`;
    return { verdict: 'deny', step: 'deny_rule', rule, reason };
  }
  const tools = judged.asTask === undefined ? [call.tool] : [call.tool, 'Task'];
  const disallowed = tools.find((tool) => isToolDisallowed(rights, tool));
  if (disallowed === undefined) return undefined;
  const reason = `${disallowed} is disallowed for this agent, by its definition or by a task above it.`;
  return { verdict: 'deny', step: 'deny_rule', reason };
}

function callLimits(judged: DecisionInput): Decision | undefined {
  const exceeded = findExceededLimit(judged);
  if (exceeded === undefined) return undefined;
  const { limit, tool } = exceeded;
  const reason = `${tool} is limited to ${describeLimit(limit, tool)}, which does not cover this ${judged.call.tool} call.`;
  return { verdict: 'deny', step: 'deny_rule', reason, instead: STAY_WITHIN };
}

const STAY_WITHIN =
  'Make only calls that are covered as a whole; for all else go on without it, and say so in your answer.';

/** The first rule that could mean the call itself, or what it is known to read, to write or to delegate. */
function ruleAgainst(
  rules: readonly PermissionRule[],
  { subject, asRead, asWrite, asTask }: DecisionInput,
): PermissionRule | undefined {
  const rule = [subject, asRead, asTask]
    .map((each) => each && findNarrowingRule(rules, each))
    .find((each) => each !== undefined);
  if (rule !== undefined || asWrite === undefined) return rule;
  // A rule about every file is about those of the workspace, and not about the temporary ones of a command.
  const isInRoots = asWrite.call.access.writes.some(({ insideRoots }) => insideRoots);
  const about = isInRoots ? rules : rules.filter((each) => !coversWholeTool(each));
  return findNarrowingRule(about, asWrite);
}

function askRules(judged: DecisionInput): Decision | undefined {
  const { call, rights } = judged;
  const rule = ruleAgainst(rights.rules.ask, judged);
  if (rule === undefined) return undefined;
  const reason = `The ask rule ${citeRule(rule)} wants this ${call.tool} call to be asked about.`;
  return { verdict: 'ask', step: 'ask_rule', rule, reason };
}

function allowRules({ call, rights, subject }: DecisionInput): Decision | undefined {
  const rule = findAllowingRule(rights.rules.allow, subject);
  return rule === undefined ? undefined : allowedBy(rule, call);
}

function allowedBy(rule: PermissionRule, call: ResolvedCall): Decision {
  const reason = `The allow rule ${citeRule(rule)} lets this ${call.tool} call run.`;
  return { verdict: 'allow', step: 'allow_rule', rule, reason };
}

const EDITING_TOOLS: ReadonlySet<string> = new Set(['Write', 'Edit', 'MultiEdit']);

function modeGrant({ call, rights, context }: DecisionInput): Decision | undefined {
  if (rights.mode === 'autonomous' && !isUnheld(call, rights, context)) {
    const reason = 'In autonomous mode everything in bounds runs.';
    return { verdict: 'allow', step: 'mode', reason };
  }
  const isEdit =
    call.kind === 'edit' && EDITING_TOOLS.has(call.tool) && call.access.writes.length > 0;
  if (rights.mode !== 'acceptEdits' || !isEdit) return undefined;
  const reason = 'In acceptEdits mode edits inside the workspace roots run.';
  return { verdict: 'allow', step: 'mode', reason };
}

/** Without a sandbox nothing keeps a command in bounds, so no mode grants one. */
function isUnheld({ kind }: ResolvedCall, rights: Rights, facts: Holding): boolean {
  return kind === 'execute' && !isHeld(rights, facts);
}

type Holding = Pick<DecisionContext, 'isSandboxed' | 'isMachineSandbox'>;

/** A machine that is itself the sandbox does not keep a command from changing the workspace. */
function isHeld(rights: Rights, { isSandboxed, isMachineSandbox }: Holding): boolean {
  return isSandboxed || (isMachineSandbox === true && !forbidsAllChanges(rights));
}

function toolDefault(judged: DecisionInput): Decision {
  const { call, rights, context } = judged;
  const { tool, kind } = call;
  if (isProvedFree(judged)) {
    const reason = 'The command is proved to change nothing.';
    return { verdict: 'allow', step: 'tool_default', reason };
  }
  if (!hasCallEffect(call) && kind !== 'network') {
    const reason = `${tool} changes nothing and sends nothing away.`;
    return { verdict: 'allow', step: 'tool_default', reason };
  }
  return {
    verdict: 'ask',
    step: 'tool_default',
    reason: `${tool} ${doing(kind)}, and ${notGranted(judged)} lets it run unasked.`,
    wouldAllow: suggestRule(call, rights, context),
    ...(lacksSandbox(judged) && context.isMachineSandbox !== true
      ? { lacksSandbox: context.isInContainer === true ? 'in_container' : 'here' }
      : {}),
  };
}

/** Whether its mode would let a call run, if anything held commands. */
function lacksSandbox({ call, rights, context }: DecisionInput): boolean {
  return rights.mode === 'autonomous' && isUnheld(call, rights, context);
}

function notGranted(judged: DecisionInput): string {
  return lacksSandbox(judged)
    ? 'without a sandbox only a rule'
    : `neither a rule nor ${judged.rights.mode} mode`;
}

function isProvedFree(judged: DecisionInput): boolean {
  const { call, rights, asRead } = judged;
  if (!isProvable(call) || call.proof?.proven !== true) return false;
  if (checkHardRulesOfReads(judged) !== undefined) return false;
  return asRead === undefined || !isToolDisallowed(rights, 'Read');
}

function doing(kind: ResolvedCall['kind']): string {
  if (kind === 'execute') return 'runs commands or code';
  return kind === 'network' ? 'sends requests over the network' : 'changes files';
}
