import type { TaskEvent } from '../../protocol/events/event.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { TaskOwner, TaskSummary } from '../../store/task-store.ts';
import type { Environment } from '../../sys/env.ts';
import type { DeletedTask } from './delete-tasks.ts';
import type { TreeReport } from '../../report/tree-report.ts';
import type { RewindOutcome } from '../../engine/rewind/rewind.ts';
import type { TreeRerun } from '../../replay/rerun-tree.ts';
import type { TaskContext } from './task-context.ts';
import type { AnswerOutcome, AskedQuestion } from './questions.ts';
import type { StopOutcome } from './stop-task.ts';
import type { TaskMessage, SentMessage } from './send-message.ts';
import type { UsageQuery, UsageReport } from './usage-report.ts';
import type { WatchEnd, WatchListener } from './watch-tasks.ts';
import type { TreeListener } from './follow-tree.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { AnswerRequest } from '../../engine/questions/record-answer.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan-rewind.ts';

export interface TasksOptions {
  /**
   * The data directory. Default: `MUSTER_DATA_DIR`, else below the XDG data directory. A named one must exist.
   */
  readonly dataDir?: string;
  /**
   * True if a missing or empty data directory is created, for an import of tasks or a watch for the first one.
   * Default: false.
   */
  readonly create?: boolean;
  readonly environment?: Environment;
  /**
   * Called with one line for each problem that stops nothing, such as damage in logs. Default: the line is dropped.
   */
  readonly onNotice?: (line: string) => void;
}

/**
 * The tasks of a data directory, for another terminal than the one in which they run. Every `id` may be a unique
 * beginning. All methods throw MusterError: `NOT_FOUND` for an unknown id, `INVALID_PARAM` for one that means several
 * tasks.
 */
export interface Tasks {
  /** Lists all tasks, the newest first. */
  list(): readonly TaskSummary[];
  /** Reports the use of tasks by the ledgers of their logs, or of one task with its descendants. */
  usage(query: UsageQuery): Promise<UsageReport>;
  /**
   * Returns the present state of a task: `interrupted` if it has no end and no owner and is not parked.
   */
  state(id: string): TaskState;
  /** Returns the result of a task, for programs. */
  envelope(state: TaskState): ResultEnvelope;
  /**
   * Reports a task with its descendants and how they spent their time, from their logs. `visit` is called with each
   * event once.
   */
  report(id: string, visit?: (event: TaskEvent) => void): Promise<TreeReport>;
  /**
   * Returns the content of a request: that of a turn, or the newest one for null. Throws `NOT_FOUND` if there is no
   * such turn.
   */
  context(id: string, turn: number | null): Promise<TaskContext>;
  /** Reads the events from a number on. */
  events(id: string, fromSeq?: number): AsyncIterable<TaskEvent>;
  /**
   * Follows a task with its descendants until it has ended or has lost its owner; null: all running and new tasks,
   * until `signal` aborts. If the data directory was missing or empty and is not created (`create`), there are never
   * any.
   */
  watch(
    id: string | null,
    options: { readonly listener: WatchListener; readonly signal: AbortSignal },
  ): Promise<WatchEnd>;
  /**
   * Reports the present state of a task and its descendants, and follows them beyond their ends, until `signal`
   * aborts. Rejects if the logs cannot be read.
   */
  follow(
    id: string,
    options: { readonly listener: TreeListener; readonly signal: AbortSignal },
  ): Promise<void>;
  /**
   * Reruns a task and its descendants from their logs alone, and reports where that would take another course. Nobody
   * is asked, nothing is run and nothing is written.
   */
  rerun(id: string): Promise<TreeRerun>;
  /**
   * Plans to put a task back to one of its events, with the conversations and files of it and its descendants, or to
   * undo that. Changes nothing. Throws `CONFLICT` while one of them runs.
   */
  planRewind(id: string, request: RewindRequest): Promise<RewindPlan>;
  /** Carries out a plan, or nothing if anything differs from it: `CONFLICT`. */
  rewind(plan: RewindPlan): Promise<RewindOutcome>;
  /** Lists the open questions of all trees, the oldest first. */
  questions(): Promise<readonly AskedQuestion[]>;
  /**
   * Returns an open question by its id or a unique beginning. Throws `CONFLICT` if it is settled.
   */
  question(id: string): Promise<AskedQuestion>;
  /**
   * Answers a question in the process that owns its task, or says which task must continue with the answer.
   */
  answer(id: string, request: AnswerRequest): Promise<AnswerOutcome>;
  /** Stops a task and its descendants in any process. Resolves when it has ended. */
  stop(id: string, because: string): Promise<StopOutcome>;
  /** Returns the living process that receives a message for a task, or null. */
  processFor(id: string): Promise<TaskOwner | null>;
  /**
   * Sends a message to a task through the process that owns it or its nearest running ancestor. Returns null if there is
   * none.
   */
  tell(id: string, message: TaskMessage): Promise<SentMessage | null>;
  /** Sends a foreground task to the background. */
  detach(id: string): Promise<SentMessage>;
  /** Exports a task and its descendants as the text of one file, in pieces. */
  exportTree(id: string): AsyncIterable<string>;
  /**
   * Imports such a file if the data directory has tasks or was opened with `create`. Returns the ids of its tasks,
   * the root first. Throws `CONFLICT`: see TaskStore.
   */
  importTree(text: AsyncIterable<string>): Promise<readonly string[]>;
  /**
   * Deletes tasks with their descendants, or none: `CONFLICT` while one runs. Returns the deleted tasks.
   */
  delete(ids: readonly string[]): Promise<readonly DeletedTask[]>;
  /**
   * Deletes the trees that ended before a time (milliseconds since the epoch). Returns the deleted tasks.
   */
  prune(endedBefore: number): Promise<readonly DeletedTask[]>;
  close(): Promise<void>;
}
