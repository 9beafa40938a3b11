import { truncate } from '../base/text.ts';
import type { Decision, PermissionRule, Rights } from '../protocol/permission.ts';
import { isSecretPath } from '../sys/secret-paths.ts';
import { pathsOf } from './call.ts';
import type { JudgedCall, PathCaution, ResolvedPath } from './call.ts';
import { readCommand } from './command-rules.ts';
import type { ReadCommand } from './command-rules.ts';
import { hasEffect } from './plan-mode.ts';
import { isProtectedPath } from './protected-paths.ts';
import { narrowingRule, wideningRule } from './rule-match.ts';
import type { Matching } from './rule-match.ts';
import { citeRule } from './rules.ts';
import type { ShellParser } from './shell-parser.ts';
import { isWholeTool, nameCovers } from './tool-cover.ts';
import { planModeWay, ruleThatAllows } from './would-allow.ts';

/** What a decision depends on besides the call and the rights. */
export interface DecisionFacts {
  /** Absolute, real. */
  readonly home: string;
  /** Muster's own configuration and data directories, absolute and real. */
  readonly stateDirectories: readonly string[];
  /**
   * The shell grammar, once `needsShellParser` asked for it. Without it no rule for a command allows,
   * and each one that refuses or asks does so.
   */
  readonly shellParser: ShellParser | null;
}

/** One step of the order: a decision, or nothing, and the next one is asked. */
type Step = (judged: Judged) => Decision | undefined;

interface Judged {
  readonly call: JudgedCall;
  readonly rights: Rights;
  readonly facts: DecisionFacts;
  readonly matching: Matching;
}

/** SPEC "Decision": the order is the contract. The tool's default, which comes last, always decides. */
const STEPS: readonly Step[] = [toolSet, denyRules, floor, askRules, allowRules, modeGrant];

/** Whether a call may run. Pure; the one place where that is decided, for every tool and every task. */
export function decide(call: JudgedCall, rights: Rights, facts: DecisionFacts): Decision {
  const judged = { call, rights, facts, matching: matchingOf(call, rights, facts) };
  for (const step of STEPS) {
    const decision = step(judged);
    if (decision !== undefined) return decision;
  }
  return toolDefault(judged);
}

/**
 * Whether `decide` needs the shell grammar for this call: where a rule is about commands, and where
 * it will have to name one that would allow it.
 */
export function needsShellParser(call: JudgedCall, rights: Rights): boolean {
  if (call.access.commands.length === 0 || rights.mode === 'plan') return false;
  const { allow, ask, deny } = rights.rules;
  const ofBash = [...allow, ...ask, ...deny].filter((rule) => rule.tool === 'Bash');
  if (ofBash.some((rule) => !isWholeTool(rule))) return true;
  return rights.mode !== 'autonomous' && ofBash.length === 0;
}

/** Whether a task with these rights is kept from a tool by name, its own rules aside. */
export function isDisallowed(rights: Rights, tool: string): boolean {
  return rights.disallowedTools.some((name) => nameCovers(name, tool));
}

function matchingOf(call: JudgedCall, rights: Rights, facts: DecisionFacts): Matching {
  let read: readonly ReadCommand[] | undefined;
  return {
    call,
    place: { roots: rights.roots, home: facts.home },
    commands: () =>
      (read ??= call.access.commands.map((each) => readCommand(each, facts.shellParser))),
  };
}

function toolSet({ call }: Judged): Decision | undefined {
  if (call.inToolSet) return undefined;
  return {
    verdict: 'deny',
    step: 'tool_set',
    reason: `${call.tool} is not one of this task's tools.`,
  };
}

function denyRules({ call, rights, matching }: Judged): Decision | undefined {
  const rule = narrowingRule(rights.rules.deny, matching);
  if (rule !== undefined) {
    const reason = `The deny rule ${citeRule(rule)} forbids this ${call.tool} call.`;
    return { verdict: 'deny', step: 'deny_rule', rule, reason };
  }
  if (!isDisallowed(rights, call.tool)) return undefined;
  const reason = `${call.tool} is disallowed for this agent, by its definition or by a task above it.`;
  return { verdict: 'deny', step: 'deny_rule', reason };
}

/** What no rule and no mode lifts. */
function floor(judged: Judged): Decision | undefined {
  return planFloor(judged) ?? guardedFloor(judged) ?? outsideFloor(judged);
}

function planFloor({ call, rights }: Judged): Decision | undefined {
  if (rights.mode !== 'plan' || !changesSomething(call)) return undefined;
  const wouldAllow = planModeWay(call, rights);
  return {
    verdict: 'deny',
    step: 'floor',
    reason: `Plan mode changes nothing, and ${call.tool} could.`,
    ...(wouldAllow === undefined ? {} : { wouldAllow }),
  };
}

function outsideFloor({ call }: Judged): Decision | undefined {
  const outside = pathsOf(call.access).find((path) => !path.insideRoots);
  if (outside === undefined) return undefined;
  return {
    verdict: 'ask',
    step: 'floor',
    reason: `${show(outside)} is outside the workspace roots, which no rule or mode opens; a person may, for one call.`,
    wouldAllow: `--add-dir ${JSON.stringify(parentDirectory(outside.real))}`,
  };
}

function guardedFloor({ call, rights, facts }: Judged): Decision | undefined {
  const place = { roots: rights.roots, stateDirectories: facts.stateDirectories };
  const isProtected = (path: string): boolean => isProtectedPath(path, place);
  const guarded = call.access.writes.find((path) => either(path, isProtected));
  if (guarded !== undefined) return personOnly(`${show(guarded)} is a protected path`);
  const secret = pathsOf(call.access).find((path) => either(path, isSecretPath));
  if (secret !== undefined) return personOnly(`${show(secret)} usually holds secrets`);
  const [cautious] = pathsOf(call.access).flatMap((path) =>
    path.caution === undefined ? [] : [`${show(path)} ${CAUTIONS[path.caution]}`],
  );
  return cautious === undefined ? undefined : personOnly(cautious);
}

const CAUTIONS: Readonly<Record<PathCaution, string>> = {
  other_names: 'has other names (hard links), which may lie outside the workspace',
  git_directory: 'lies in a git directory, whose config and hooks git obeys',
};

function personOnly(what: string): Decision {
  const reason = `${what}: only a person can allow it, for one call; no rule or mode does.`;
  return { verdict: 'ask', step: 'floor', reason };
}

function askRules({ call, rights, matching }: Judged): Decision | undefined {
  const rule = narrowingRule(rights.rules.ask, matching);
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

function modeGrant({ call, rights }: Judged): Decision | undefined {
  if (rights.mode === 'autonomous') {
    const reason = 'In autonomous mode everything in bounds runs.';
    return { verdict: 'allow', step: 'mode', reason };
  }
  const isEdit =
    call.kind === 'edit' && EDITING_TOOLS.has(call.tool) && call.access.writes.length > 0;
  if (rights.mode !== 'acceptEdits' || !isEdit) return undefined;
  const reason = 'In acceptEdits mode edits inside the workspace roots run.';
  return { verdict: 'allow', step: 'mode', reason };
}

function toolDefault({ call, rights, facts }: Judged): Decision {
  const { tool, kind } = call;
  if (!changesSomething(call) && kind !== 'network') {
    const reason = `${tool} changes nothing and sends nothing away.`;
    return { verdict: 'allow', step: 'tool_default', reason };
  }
  return {
    verdict: 'ask',
    step: 'tool_default',
    reason: `${tool} ${doing(kind)}, and neither a rule nor ${rights.mode} mode lets it run unasked.`,
    wouldAllow: ruleThatAllows(call, rights, facts),
  };
}

/** Whether a call has an effect: by the kind of its tool, or because it says that it writes. */
function changesSomething({ tool, kind, access }: JudgedCall): boolean {
  return hasEffect(tool, kind) || (kind === 'read' && access.writes.length > 0);
}

function doing(kind: JudgedCall['kind']): string {
  if (kind === 'execute') return 'runs commands or code';
  return kind === 'network' ? 'sends requests over the network' : 'changes files';
}

function either(path: ResolvedPath, test: (path: string) => boolean): boolean {
  return test(path.asked) || (path.real !== path.asked && test(path.real));
}

/** Quoted, so that a hostile name stays one word of one line. */
function show(path: ResolvedPath): string {
  const asked = JSON.stringify(truncate(path.asked, 200));
  return path.asked === path.real
    ? asked
    : `${asked} (really ${JSON.stringify(truncate(path.real, 200))})`;
}

function parentDirectory(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}
