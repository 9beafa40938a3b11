import type { Rights } from '../protocol/permission.ts';
import type { JudgedCall } from './call.ts';
import { readCommand } from './command-rules.ts';
import type { ReadCommand } from './command-rules.ts';
import { hasEffect, runsProvedCommands } from './plan-mode.ts';
import type { Matching } from './rule-match.ts';
import type { ShellParser } from './shell-parser.ts';

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
  /** Whether the operating system holds commands to what they may touch. */
  readonly sandboxed: boolean;
  /** Whether the user says that the machine itself is the sandbox; it makes no command read-only. Default false. */
  readonly machineIsSandbox?: boolean;
  /** Whether this seems to be a container, which the user may say is the sandbox. Default false. */
  readonly inContainer?: boolean;
}

/** A call with all that the steps of its decision look at. */
export interface Judged {
  readonly call: JudgedCall;
  readonly rights: Rights;
  readonly facts: DecisionFacts;
  readonly matching: Matching;
  /** The reads that its commands are known to do, as a Read call would. Undefined for none. */
  readonly asRead: Matching | undefined;
  /** The writes that its commands are known to do by redirection, as a Write call would. Undefined for none. */
  readonly asWritten: Matching | undefined;
  /** What it delegates without being a Task call, as one would: a skill that runs as a task. */
  readonly asTask: Matching | undefined;
}

export function judgedOf(call: JudgedCall, rights: Rights, facts: DecisionFacts): Judged {
  const matching = matchingOf(call, rights, facts);
  const asRead = readMatching(call, matching);
  const asWritten = writtenMatching(call, matching);
  return { call, rights, facts, matching, asRead, asWritten, asTask: taskMatching(call, matching) };
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

function readMatching(call: JudgedCall, matching: Matching): Matching | undefined {
  const { proof, access } = call;
  if (proof?.proven !== true || proof.reads.length === 0) return undefined;
  return {
    ...matching,
    call: { ...call, tool: 'Read', access: { ...access, reads: proof.reads } },
  };
}

function writtenMatching(call: JudgedCall, matching: Matching): Matching | undefined {
  const { redirected: writes = [], access } = call;
  if (writes.length === 0) return undefined;
  return {
    ...matching,
    call: { ...call, tool: 'Write', access: { ...access, reads: [], writes } },
  };
}

function taskMatching(call: JudgedCall, matching: Matching): Matching | undefined {
  if (call.tool === 'Task' || call.access.agent === undefined) return undefined;
  return { ...matching, call: { ...call, tool: 'Task' } };
}

/** Whether a call has an effect: by the kind of its tool, or because it says that it writes. */
export function changesSomething({ tool, kind, access }: JudgedCall): boolean {
  return hasEffect(tool, kind) || (kind === 'read' && access.writes.length > 0);
}

/** Only a call that is nothing but its commands is proved by them. */
export function mayBeProved({ tool, access }: JudgedCall): boolean {
  return (
    runsProvedCommands(tool) &&
    access.commands.length > 0 &&
    access.writes.length === 0 &&
    access.hosts.length === 0
  );
}
