import { steadyTime } from './steady-time.ts';
import type { TaskEvent } from '../events/event.ts';
import type { ChildReceipt, EndStatus, ShellEnd } from '../result.ts';
import { itemOfCall } from '../template.ts';

/** A child, as its parent's log tells of it. */
export interface ChildState {
  /** The call that made it, or resumed it last. */
  readonly callId: string;
  /** Its end is told as a notice, and no call waits for it. */
  background: boolean;
  /** Why the call that waited for it waits no longer. Absent: one waits, or none ever did. */
  detached?: string;
  /** Null while it has not ended, or goes on. */
  status: EndStatus | null;
  /** Ids of all tasks below it, as far as its last end told them. */
  below: readonly string[];
  /** That made it, or resumed it last. Absent: a person did, or it is of a log from before. */
  readonly delegation?: string;
  /** What it and all below it did, as far as its last end told; null: that is not known. */
  receipt: ChildReceipt | null;
}

/** A background shell of a task. */
export interface ShellState {
  readonly callId: string;
  readonly command: string;
  /** Path of what it writes. */
  readonly output: string;
  readonly startedAt: number;
  /** Null while it runs. */
  end: { readonly how: ShellEnd; readonly exitCode: number | null; readonly at: number } | null;
}

/** The children and shells that a task has started. They must have ended before the task is complete. */
export interface OwnedWork {
  readonly children: Map<string, ChildState>;
  /** Ids of the children that have not ended. */
  readonly openChildren: Set<string>;
  /** Of a run of a template: the newest task of each item, but of those that are to be done again. */
  readonly items: Map<number, string>;
  readonly shells: Map<string, ShellState>;
}

export function initialOwnedWork(): OwnedWork {
  return { children: new Map(), openChildren: new Set(), items: new Map(), shells: new Map() };
}

export function applyToOwnedWork(belongings: OwnedWork, event: TaskEvent): void {
  const { children, openChildren, items, shells } = belongings;
  switch (event.type) {
    case 'child.created':
    case 'child.resumed': {
      const { child, callId, background, delegation } = event;
      const { below = [], receipt = null } = children.get(child) ?? {};
      const made = delegation === undefined ? {} : { delegation };
      children.set(child, { callId, background, status: null, below, receipt, ...made });
      openChildren.add(child);
      const item = itemOfCall(callId);
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
      const { callId, command, output } = event;
      const startedAt = steadyTime(event);
      shells.set(event.shell, { callId, command, output, startedAt, end: null });
      return;
    }
    case 'shell.ended': {
      const shell = shells.get(event.shell);
      if (shell !== undefined) {
        shell.end = { how: event.end, exitCode: event.exitCode, at: steadyTime(event) };
      }
      return;
    }
    default:
  }
}

/** Ids of the shells that run. */
export function runningShells({ shells }: OwnedWork): readonly string[] {
  return [...shells].filter(([, { end }]) => end === null).map(([id]) => id);
}

/** Whether something of it is at work that no call of it waits for. */
export function hasBackgroundWork(belongings: OwnedWork): boolean {
  const { children, openChildren } = belongings;
  if (runningShells(belongings).length > 0) return true;
  return [...openChildren].some((id) => children.get(id)?.background === true);
}
