import type { Rights } from '../protocol/permission.ts';
import type { ResolvedCall } from './call.ts';
import { parseCommandLine } from './rules/command-rules.ts';
import type { CommandLine } from './rules/command-rules.ts';
import { hasToolEffect, isCommandTool } from './tool-effects.ts';
import type { RuleSubject } from './rules/match-rules.ts';
import type { ShellParser } from './shell/parsed-line.ts';

/** What a decision depends on besides the call and the rights. */
export interface DecisionContext {
  /** Absolute, real. */
  readonly home: string;
  /** Muster's own configuration and data directories, absolute and real. */
  readonly stateDirectories: readonly string[];
  /**
   * The shell grammar, once `needsShellParser` asked for it. Without it no rule for a command allows,
   * and each one that refuses or asks does so.
   */
  readonly shellParser: ShellParser | null;
  /** Whether the operating system holds commands to what they may touch. */
  readonly isSandboxed: boolean;
  /** Whether the user says that the machine itself is the sandbox; it makes no command read-only. Default false. */
  readonly isMachineSandbox?: boolean;
  /** Whether this seems to be a container, which the user may say is the sandbox. Default false. */
  readonly isInContainer?: boolean;
}

/** A call with all that the steps of its decision look at. */
export interface DecisionInput {
  readonly call: ResolvedCall;
  readonly rights: Rights;
  readonly context: DecisionContext;
  readonly subject: RuleSubject;
  /** The reads that its commands are known to do, as a Read call would. Undefined for none. */
  readonly asRead: RuleSubject | undefined;
  /** The writes that its commands are known to do by redirection, as a Write call would. Undefined for none. */
  readonly asWrite: RuleSubject | undefined;
  /** What it delegates without being a Task call, as one would: a skill that runs as a task. */
  readonly asTask: RuleSubject | undefined;
}

export function createDecisionInput(
  call: ResolvedCall,
  rights: Rights,
  facts: DecisionContext,
): DecisionInput {
  const matching = matchingOf(call, rights, facts);
  const asRead = readMatching(call, matching);
  const asWritten = writtenMatching(call, matching);
  return {
    call,
    rights,
    context: facts,
    subject: matching,
    asRead,
    asWrite: asWritten,
    asTask: taskMatching(call, matching),
  };
}

function matchingOf(call: ResolvedCall, rights: Rights, facts: DecisionContext): RuleSubject {
  let read: readonly CommandLine[] | undefined;
  return {
    call,
    bases: { roots: rights.roots, home: facts.home },
    parseCommands: () =>
      (read ??= call.access.commands.map((each) => parseCommandLine(each, facts.shellParser))),
  };
}

function readMatching(call: ResolvedCall, matching: RuleSubject): RuleSubject | undefined {
  const { proof, access } = call;
  if (proof?.proven !== true || proof.reads.length === 0) return undefined;
  return {
    ...matching,
    call: { ...call, tool: 'Read', access: { ...access, reads: proof.reads } },
  };
}

function writtenMatching(call: ResolvedCall, matching: RuleSubject): RuleSubject | undefined {
  const { redirectedWrites: writes = [], access } = call;
  if (writes.length === 0) return undefined;
  return {
    ...matching,
    call: { ...call, tool: 'Write', access: { ...access, reads: [], writes } },
  };
}

function taskMatching(call: ResolvedCall, matching: RuleSubject): RuleSubject | undefined {
  if (call.tool === 'Task' || call.access.agent === undefined) return undefined;
  return { ...matching, call: { ...call, tool: 'Task' } };
}

/** Whether a call has an effect: by the kind of its tool, or because it says that it writes. */
export function hasCallEffect({ tool, kind, access }: ResolvedCall): boolean {
  return hasToolEffect(tool, kind) || (kind === 'read' && access.writes.length > 0);
}

/** Only a call that is nothing but its commands is proved by them. */
export function isProvable({ tool, access }: ResolvedCall): boolean {
  return (
    isCommandTool(tool) &&
    access.commands.length > 0 &&
    access.writes.length === 0 &&
    access.hosts.length === 0
  );
}
