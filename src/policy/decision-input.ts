import type { HookVerdict } from '../protocol/hook.ts';
import type { Rights } from '../protocol/permission.ts';
import type { ResolvedCall } from './call.ts';
import { readCommandLine, type CommandLine } from './rules/command-rules.ts';
import type { RuleSubject } from './rules/match-rules.ts';
import type { ShellParser } from './shell/parsed-line.ts';
import { hasToolEffect, isCommandTool } from './tool-effects.ts';

/** The circumstances of a decision: everything that the decision depends on besides the call and the rights. */
export interface DecisionContext {
  /** Absolute, links resolved. */
  readonly home: string;
  /** The configuration and data directories of Muster; absolute, links resolved. */
  readonly stateDirectories: readonly string[];
  /**
   * The parser for shell commands; null if `needsShellParser` said that it is not needed. Without a parser, no allow
   * rule for certain commands applies, and every deny and ask rule for commands applies.
   */
  readonly shellParser: ShellParser | null;
  /** True if a sandbox of the operating system confines commands. */
  readonly isSandboxed: boolean;
  /**
   * True if the user has declared that the machine itself is the sandbox. It cannot make a command read-only. Default:
   * false.
   */
  readonly isMachineSandbox?: boolean;
  /** The verdict of hooks about this call. Default: none. */
  readonly hook?: HookVerdict;
  /** True if Muster seems to run in a container, which the user may declare to be the sandbox. Default false. */
  readonly isInContainer?: boolean;
}

/** A call in all forms against which rules are matched. */
export interface CallSubjects {
  /** The call in the form against which rules are matched. */
  readonly subject: RuleSubject;
  /** A Read call for the files that the commands are known to read; undefined if there are none. */
  readonly asRead: RuleSubject | undefined;
  /** A Write call for the files that the commands are known to redirect output to; undefined if there are none. */
  readonly asWrite: RuleSubject | undefined;
  /** A Task call for a skill that runs as a task; undefined for other calls. */
  readonly asTask: RuleSubject | undefined;
}

/** A call with everything that the steps of the decision use. */
export interface DecisionInput extends CallSubjects {
  readonly call: ResolvedCall;
  readonly rights: Rights;
  readonly context: DecisionContext;
}

export function createDecisionInput(
  call: ResolvedCall,
  rights: Rights,
  context: DecisionContext,
): DecisionInput {
  return { call, rights, context, ...createCallSubjects(call, rights, context) };
}

/** Creates the forms of a call against which rules are matched. */
export function createCallSubjects(
  call: ResolvedCall,
  { roots, workspace }: Pick<Rights, 'roots' | 'workspace'>,
  { home, shellParser }: Pick<DecisionContext, 'home' | 'shellParser'>,
): CallSubjects {
  let lines: readonly CommandLine[] | undefined;
  const subject: RuleSubject = {
    call,
    bases: { roots, home, workspace },
    parseCommands: () =>
      (lines ??= call.access.commands.map((each) => readCommandLine(each, shellParser))),
  };
  return {
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

/**
 * Tells whether a call changes something: because all calls of its tool do, because this call writes files, or because
 * it may change something on a server.
 */
export function hasCallEffect({ kind, access }: ResolvedCall): boolean {
  if (kind === 'network') return access.onlyFetches !== true;
  return hasToolEffect(kind) || (kind === 'read' && access.writes.length > 0);
}

/** Tells whether a call only runs commands, so that a proof about the commands also holds for the call. */
export function isProvable({ tool, access }: ResolvedCall): boolean {
  return (
    isCommandTool(tool) &&
    access.commands.length > 0 &&
    access.writes.length === 0 &&
    access.hosts.length === 0
  );
}
