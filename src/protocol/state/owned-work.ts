import { steadyTime } from './steady-time.ts';
import type { RemoteReference, TaskEvent } from '../events/event.ts';
import type { ChildReceipt, EndStatus, ShellEnd } from '../result.ts';
import type { LeftProcesses } from '../tool.ts';
import { findItemOfCall } from '../template.ts';

/** The state of a child, as the log of its parent describes it. */
export interface ChildState {
  /** The id of the call that created the child, or that resumed it last. */
  readonly callId: string;
  /** True if no call waits for the child, so that a notice reports its end. */
  background: boolean;
  /** The reason why the call no longer waits for the child. Absent if a call waits, or if no call has ever waited. */
  detached?: string;
  /** The status with which the child ended; null: it has not ended, or continues. */
  status: EndStatus | null;
  /** The ids of all tasks below the child when it ended last. */
  below: readonly string[];
  /** The key of the delegation that created the child, or resumed it last. Absent if a person did so, and in older logs. */
  readonly delegation?: string;
  /** The receipt of the child and all tasks below it until it ended last; null: it is not known. */
  receipt: ChildReceipt | null;
}

/** A background shell of a task. */
export interface ShellState {
  /** The id of the call that started the shell. */
  readonly callId: string;
  /** The command line. */
  readonly command: string;
  /** The path of the file with the output. */
  readonly output: string;
  /** The time of the start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Set if the shell is work of a server; null for a command. */
  readonly remote: RemoteReference | null;
  /** The end of the shell; null while the shell runs. */
  end: {
    /** The way in which the shell ended. */
    readonly how: ShellEnd;
    /** The exit code; null if a signal ended the shell, or if its end was not observed. */
    readonly exitCode: number | null;
    /** The time of the end, in milliseconds since the epoch. */
    readonly at: number;
    /** The processes that the command left running. Absent if there were none. */
    readonly left?: LeftProcesses;
  } | null;
}

/** The owned work of a task: the children and shells that the task has started. They must end before the task does. */
export interface OwnedWork {
  /** The children, by id. */
  readonly children: Map<string, ChildState>;
  /** The ids of the children that have not ended. */
  readonly openChildren: Set<string>;
  /** The id of the newest child for each item of a template. Items that are to be done again are missing. */
  readonly items: Map<number, string>;
  /** The shells in the background, by id. */
  readonly shells: Map<string, ShellState>;
}

export function initialOwnedWork(): OwnedWork {
  return { children: new Map(), openChildren: new Set(), items: new Map(), shells: new Map() };
}

export function applyToOwnedWork(owned: OwnedWork, event: TaskEvent): void {
  const { children, openChildren, items, shells } = owned;
  switch (event.type) {
    case 'child.created':
    case 'child.resumed': {
      const { child, callId, background, delegation } = event;
      const { below = [], receipt = null } = children.get(child) ?? {};
      const key = delegation === undefined ? {} : { delegation };
      children.set(child, { callId, background, status: null, below, receipt, ...key });
      openChildren.add(child);
      const item = findItemOfCall(callId);
      if (item !== null) items.set(item, child);
      return;
    }
    case 'items.reopened':
      for (const item of event.items) items.delete(item);
      return;
    case 'child.detached': {
      const child = children.get(event.child);
      if (child === undefined) return;
      child.background = true;
      child.detached = event.because;
      return;
    }
    case 'child.ended': {
      const child = children.get(event.child);
      if (child === undefined) return;
      child.status = event.status;
      child.below = event.below;
      child.receipt = event.receipt ?? null;
      openChildren.delete(event.child);
      return;
    }
    case 'shell.started': {
      const { callId, command, output, remote = null } = event;
      const startedAt = steadyTime(event);
      shells.set(event.shell, { callId, command, output, startedAt, remote, end: null });
      return;
    }
    case 'shell.ended': {
      const shell = shells.get(event.shell);
      if (shell !== undefined) {
        const { end: how, exitCode, left } = event;
        const leftProcesses = left === undefined ? {} : { left };
        shell.end = { how, exitCode, at: steadyTime(event), ...leftProcesses };
      }
      return;
    }
    default:
  }
}

/** Returns the ids of the running shells. */
export function runningShells({ shells }: OwnedWork): readonly string[] {
  return [...shells].filter(([, { end }]) => end === null).map(([id]) => id);
}

/** Returns the ids of the running shells that are commands, and not work of a server. */
export function runningCommands(owned: OwnedWork): readonly string[] {
  return runningShells(owned).filter((id) => owned.shells.get(id)?.remote === null);
}

/** Returns the ids of the running shells that are work of a server. */
export function runningRemoteWork(owned: OwnedWork): readonly string[] {
  return runningShells(owned).filter((id) => owned.shells.get(id)?.remote !== null);
}

/** Returns the shells that are commands, and not work of a server. */
export function listCommandShells({ shells }: OwnedWork): readonly ShellState[] {
  return [...shells.values()].filter(({ remote }) => remote === null);
}

/** Finds the work of a server that a call has started, and its id. */
export function findRemoteWork(
  { shells }: OwnedWork,
  callId: string,
): readonly [id: string, work: ShellState] | undefined {
  return [...shells].find(([, shell]) => shell.remote !== null && shell.callId === callId);
}

/** Returns true if a shell runs, or a child works for which no call waits. */
export function hasBackgroundWork(owned: OwnedWork): boolean {
  const { children, openChildren } = owned;
  if (runningShells(owned).length > 0) return true;
  return [...openChildren].some((id) => children.get(id)?.background === true);
}
