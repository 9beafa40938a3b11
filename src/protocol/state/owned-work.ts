import { steadyTime } from './steady-time.ts';
import type { TaskEvent } from '../events/event.ts';
import type { ChildReceipt, EndStatus, ShellEnd } from '../result.ts';
import { itemOfCall } from '../template.ts';

/** A child, as its parent's log describes it. */
export interface ChildState {
  /** The call that created it, or resumed it last. */
  readonly callId: string;
  /** True if no call waits for it, so that a notice reports its end. */
  background: boolean;
  /** The reason why the call no longer waits for it. Absent if a call waits, or if none ever did. */
  detached?: string;
  /** The status of its end; null while it has not ended, or continues. */
  status: EndStatus | null;
  /** Ids of all tasks below it at its last end. */
  below: readonly string[];
  /** The key of the delegation that created it, or resumed it last. Absent if a person did, and in older logs. */
  readonly delegation?: string;
  /** The actions of the child and all tasks below it until its last end; null if they are not known. */
  receipt: ChildReceipt | null;
}

/** A background shell of a task. */
export interface ShellState {
  readonly callId: string;
  readonly command: string;
  /** The path of the file with its output. */
  readonly output: string;
  readonly startedAt: number;
  /** The end of the shell; null while it runs. */
  end: { readonly how: ShellEnd; readonly exitCode: number | null; readonly at: number } | null;
}

/** The children and shells that a task has started. They must have ended before the task is complete. */
export interface OwnedWork {
  readonly children: Map<string, ChildState>;
  /** Ids of the children that have not ended. */
  readonly openChildren: Set<string>;
  /** The newest task of each item of a template, except for items that are to be done again. */
  readonly items: Map<number, string>;
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

/** Returns the ids of the running shells. */
export function runningShells({ shells }: OwnedWork): readonly string[] {
  return [...shells].filter(([, { end }]) => end === null).map(([id]) => id);
}

/** Tells whether a shell or child of the task is at work for which no call waits. */
export function hasBackgroundWork(owned: OwnedWork): boolean {
  const { children, openChildren } = owned;
  if (runningShells(owned).length > 0) return true;
  return [...openChildren].some((id) => children.get(id)?.background === true);
}
