import type { Decision, PermissionRule, Rights } from '../protocol/permission.ts';
import type { JudgedCall } from './call.ts';
import { exceededLimit, limitText } from './call-limits.ts';
import { mayChangeNothing } from './denied-places.ts';
import { floor, readFloor } from './floor.ts';
import { changesSomething, judgedOf, mayBeProved } from './judged.ts';
import type { DecisionFacts, Judged } from './judged.ts';
import { narrowingRule, wideningRule } from './rule-match.ts';
import { citeRule } from './rules.ts';
import { isDisallowed, isWholeTool, ruleCovers } from './tool-cover.ts';
import { ruleThatAllows } from './would-allow.ts';

/** One step of the order: a decision, or nothing, and the next one is asked. */
type Step = (judged: Judged) => Decision | undefined;

/** The order is the contract (docs/permissions.md). The tool's default, which comes last, always decides. */
const STEPS: readonly Step[] = [
  toolSet,
  denyRules,
  callLimits,
  floor,
  askRules,
  allowRules,
  modeGrant,
];

/** Whether a call may run. Pure; the one place where that is decided, for every tool and every task. */
export function decide(call: JudgedCall, rights: Rights, facts: DecisionFacts): Decision {
  const judged = judgedOf(call, rights, facts);
  for (const step of STEPS) {
    const decision = step(judged);
    if (decision !== undefined) return withConfinement(decision, judged);
  }
  return withConfinement(toolDefault(judged), judged);
}

/** What was proved to change nothing, and every command of plan mode, runs where nothing can be changed. */
function withConfinement(decision: Decision, { call, rights }: Judged): Decision {
  if (call.access.commands.length === 0 || decision.verdict === 'deny') return decision;
  const isProved = decision.verdict === 'allow' && decision.step === 'tool_default';
  const confinement = rights.mode === 'plan' || isProved ? 'read-only' : 'workspace';
  return { ...decision, confinement };
}

/**
 * Whether `decide` needs the commands of this call read: where it has to be proved what they do, where a rule is
 * about them or about what they may read or write, and where a rule will have to be named that would allow them.
 */
export function needsShellParser(call: JudgedCall, rights: Rights, facts: Holding): boolean {
  if (call.access.commands.length === 0) return false;
  if (rights.mode !== 'autonomous' || !isHeld(rights, facts)) return true;
  if (rights.callLimits !== undefined) return true;
  const { allow, ask, deny } = rights.rules;
  const isAboutFiles = [...ask, ...deny].some((rule) =>
    ['Read', 'Write'].some((tool) => ruleCovers(rule, tool, 'narrow')),
  );
  const all = [...allow, ...ask, ...deny];
  return isAboutFiles || all.some((rule) => rule.tool === 'Bash' && !isWholeTool(rule));
}

function toolSet({ call }: Judged): Decision | undefined {
  if (call.inToolSet) return undefined;
  return {
    verdict: 'deny',
    step: 'tool_set',
    reason: `${call.tool} is not one of this task's tools.`,
  };
}

function denyRules(judged: Judged): Decision | undefined {
  const { call, rights } = judged;
  const rule = ruleAgainst(rights.rules.deny, judged);
  if (rule !== undefined) {
    const reason = `The deny rule ${citeRule(rule)} forbids this ${call.tool} call.`;
    return { verdict: 'deny', step: 'deny_rule', rule, reason };
  }
  const tools = judged.asTask === undefined ? [call.tool] : [call.tool, 'Task'];
  const disallowed = tools.find((tool) => isDisallowed(rights, tool));
  if (disallowed === undefined) return undefined;
  const reason = `${disallowed} is disallowed for this agent, by its definition or by a task above it.`;
  return { verdict: 'deny', step: 'deny_rule', reason };
}

function callLimits(judged: Judged): Decision | undefined {
  const exceeded = exceededLimit(judged);
  if (exceeded === undefined) return undefined;
  const { limit, tool } = exceeded;
  const reason = `${tool} is limited to ${limitText(limit, tool)}, which does not cover this ${judged.call.tool} call.`;
  return { verdict: 'deny', step: 'deny_rule', reason, instead: STAY_WITHIN };
}

const STAY_WITHIN =
  'Make only calls that are covered as a whole; for all else go on without it, and say so in your answer.';

/** The first rule that could mean the call itself, or what it is known to read, to write or to delegate. */
function ruleAgainst(
  rules: readonly PermissionRule[],
  { matching, asRead, asWritten, asTask }: Judged,
): PermissionRule | undefined {
  const rule = [matching, asRead, asTask]
    .map((each) => each && narrowingRule(rules, each))
    .find((each) => each !== undefined);
  if (rule !== undefined || asWritten === undefined) return rule;
  // A rule about every file is about those of the workspace, and not about the temporary ones of a command.
  const isInRoots = asWritten.call.access.writes.some(({ insideRoots }) => insideRoots);
  const about = isInRoots ? rules : rules.filter((each) => !isWholeTool(each));
  return narrowingRule(about, asWritten);
}

function askRules(judged: Judged): Decision | undefined {
  const { call, rights } = judged;
  const rule = ruleAgainst(rights.rules.ask, judged);
  if (rule === undefined) return undefined;
  const reason = `The ask rule ${citeRule(rule)} wants this ${call.tool} call to be asked about.`;
  return { verdict: 'ask', step: 'ask_rule', rule, reason };
}

function allowRules({ call, rights, matching }: Judged): Decision | undefined {
  const rule = wideningRule(rights.rules.allow, matching);
  return rule === undefined ? undefined : allowedBy(rule, call);
}

function allowedBy(rule: PermissionRule, call: JudgedCall): Decision {
  const reason = `The allow rule ${citeRule(rule)} lets this ${call.tool} call run.`;
  return { verdict: 'allow', step: 'allow_rule', rule, reason };
}

const EDITING_TOOLS: ReadonlySet<string> = new Set(['Write', 'Edit', 'MultiEdit']);

function modeGrant({ call, rights, facts }: Judged): Decision | undefined {
  if (rights.mode === 'autonomous' && !isUnheld(call, rights, facts)) {
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
function isUnheld({ kind }: JudgedCall, rights: Rights, facts: Holding): boolean {
  return kind === 'execute' && !isHeld(rights, facts);
}

type Holding = Pick<DecisionFacts, 'sandboxed' | 'machineIsSandbox'>;

/** A machine that is itself the sandbox does not keep a command from changing the workspace. */
function isHeld(rights: Rights, { sandboxed, machineIsSandbox }: Holding): boolean {
  return sandboxed || (machineIsSandbox === true && !mayChangeNothing(rights));
}

function toolDefault(judged: Judged): Decision {
  const { call, rights, facts } = judged;
  const { tool, kind } = call;
  if (isProvedFree(judged)) {
    const reason = 'The command is proved to change nothing.';
    return { verdict: 'allow', step: 'tool_default', reason };
  }
  if (!changesSomething(call) && kind !== 'network') {
    const reason = `${tool} changes nothing and sends nothing away.`;
    return { verdict: 'allow', step: 'tool_default', reason };
  }
  return {
    verdict: 'ask',
    step: 'tool_default',
    reason: `${tool} ${doing(kind)}, and ${notGranted(judged)} lets it run unasked.`,
    wouldAllow: ruleThatAllows(call, rights, facts),
    ...(lacksSandbox(judged) && facts.machineIsSandbox !== true
      ? { lacksSandbox: facts.inContainer === true ? 'in_container' : 'here' }
      : {}),
  };
}

/** Whether its mode would let a call run, if anything held commands. */
function lacksSandbox({ call, rights, facts }: Judged): boolean {
  return rights.mode === 'autonomous' && isUnheld(call, rights, facts);
}

function notGranted(judged: Judged): string {
  return lacksSandbox(judged)
    ? 'without a sandbox only a rule'
    : `neither a rule nor ${judged.rights.mode} mode`;
}

function isProvedFree(judged: Judged): boolean {
  const { call, rights, asRead } = judged;
  if (!mayBeProved(call) || call.proof?.proven !== true) return false;
  if (readFloor(judged) !== undefined) return false;
  return asRead === undefined || !isDisallowed(rights, 'Read');
}

function doing(kind: JudgedCall['kind']): string {
  if (kind === 'execute') return 'runs commands or code';
  return kind === 'network' ? 'sends requests over the network' : 'changes files';
}
