import type { Rights } from '../protocol/permission.ts';
import type { ResolvedCall } from './call.ts';
import { readCommandLine, type CommandLine } from './rules/command-rules.ts';
import type { RuleSubject } from './rules/match-rules.ts';
import type { ShellParser } from './shell/parsed-line.ts';
import { hasToolEffect, isCommandTool } from './tool-effects.ts';

/** The circumstances of a decision: everything that it depends on besides the call and the rights. */
export interface DecisionContext {
  /** Absolute, links resolved. */
  readonly home: string;
  /** The configuration and data directories of Muster; absolute, links resolved. */
  readonly stateDirectories: readonly string[];
  /**
   * The parser for shell commands, loaded where `needsShellParser` says so. Without it no allow rule for a command
   * applies, and every deny or ask rule for a command does.
   */
  readonly shellParser: ShellParser | null;
  /** True if the operating system confines commands to what they may touch. */
  readonly isSandboxed: boolean;
  /** True if the user says that the machine itself is the sandbox. It makes no command read-only. Default false. */
  readonly isMachineSandbox?: boolean;
  /** True if Muster seems to run in a container, which the user may declare to be the sandbox. Default false. */
  readonly isInContainer?: boolean;
}

/** A call with everything that the steps of its decision look at. */
export interface DecisionInput {
  readonly call: ResolvedCall;
  readonly rights: Rights;
  readonly context: DecisionContext;
  /** The call as rules are matched against it. */
  readonly subject: RuleSubject;
  /** A Read call of the files that its commands are known to read. It is undefined if they are known to read none. */
  readonly asRead: RuleSubject | undefined;
  /** A Write call of the files that its commands are known to redirect to. It is undefined if there are none. */
  readonly asWrite: RuleSubject | undefined;
  /** A Task call for what it delegates in another way: a skill that runs as a task. It is undefined if it delegates nothing. */
  readonly asTask: RuleSubject | undefined;
}

export function createDecisionInput(
  call: ResolvedCall,
  rights: Rights,
  context: DecisionContext,
): DecisionInput {
  let lines: readonly CommandLine[] | undefined;
  const subject: RuleSubject = {
    call,
    bases: { roots: rights.roots, home: context.home },
    parseCommands: () =>
      (lines ??= call.access.commands.map((each) => readCommandLine(each, context.shellParser))),
  };
  return {
    call,
    rights,
    context,
    subject,
    asRead: toReadSubject(subject),
    asWrite: toWriteSubject(subject),
    asTask: toTaskSubject(subject),
  };
}

function toReadSubject(subject: RuleSubject): RuleSubject | undefined {
  const { call } = subject;
  const { proof, access } = call;
  if (proof?.proven !== true || proof.reads.length === 0) return undefined;
  return {
    ...subject,
    call: { ...call, tool: 'Read', access: { ...access, reads: proof.reads } },
  };
}

function toWriteSubject(subject: RuleSubject): RuleSubject | undefined {
  const { call } = subject;
  const { redirectedWrites: writes = [], access } = call;
  if (writes.length === 0) return undefined;
  return {
    ...subject,
    call: { ...call, tool: 'Write', access: { ...access, reads: [], writes } },
  };
}

function toTaskSubject(subject: RuleSubject): RuleSubject | undefined {
  const { call } = subject;
  if (call.tool === 'Task' || call.access.agent === undefined) return undefined;
  return { ...subject, call: { ...call, tool: 'Task' } };
}

/** Tells whether a call changes something: tools of its kind do, or the call itself says that it writes. */
export function hasCallEffect({ tool, kind, access }: ResolvedCall): boolean {
  return hasToolEffect(tool, kind) || (kind === 'read' && access.writes.length > 0);
}

/** Tells whether a proof about its commands proves something about the call: it does nothing but run them. */
export function isProvable({ tool, access }: ResolvedCall): boolean {
  return (
    isCommandTool(tool) &&
    access.commands.length > 0 &&
    access.writes.length === 0 &&
    access.hosts.length === 0
  );
}
