import type { Deadlines } from '../../base/deadlines.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { AnyTool, ByteFilter, ToolCaps } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { WorkspaceInUse } from '../../protocol/workspace-paths.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The parts of the engine that shells use. */
export interface ShellDeps {
  readonly store: Pick<TaskStore, 'createSpillFile'>;
  readonly settings: {
    readonly caps: Pick<ToolCaps, 'spillBytes' | 'toolMs'>;
    readonly foregroundMs: number;
  };
  readonly deadlines: Deadlines;
  redactBytes?(): ByteFilter;
  onFault(taskId: string, thrown: unknown): void;
}

/** The parts of a task that its shells use. */
export interface ShellOwner {
  /** The id of the task. */
  readonly id: string;
  /** The workspace in which the task works. */
  readonly workspace: WorkspaceInUse | undefined;
  readonly journal: {
    readonly state: TaskState;
    record(...events: readonly EventBody[]): void;
    sync(): Promise<void>;
  };
  /** The tools of the task, by name. */
  readonly view: ReadonlyMap<string, Pick<AnyTool, 'follow'>>;
  /** Aborts when the task is stopped. */
  readonly signal: AbortSignal;
  /** Returns true if the task is parked, so that the work of servers goes on without it. */
  isParked(): boolean;
  /** Records that a shell had to be killed because it did not stop when asked. */
  recordKill(): void;
  /**
   * Fails the task because the end of a shell can't be recorded: the task would otherwise wait for that end forever.
   */
  fail(thrown: unknown): void;
  /** Wakes the task because a shell has ended. */
  wake(): void;
}
