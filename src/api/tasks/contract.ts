import type { BoardFinding } from '../../protocol/board.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { ListTasksOptions, LogTail, TaskOwner, TaskSummary } from '../../store/task-store.ts';
import type { Environment } from '../../sys/env.ts';
import type { DeletedTask } from './delete-tasks.ts';
import type { AtifTrajectory } from '../../report/atif-format.ts';
import type { TreeReport } from '../../report/tree-report.ts';
import type { RewindOutcome } from '../../engine/rewind/rewind.ts';
import type { TreeRerun } from '../../replay/rerun-tree.ts';
import type { StoredWorkspaces } from '../workspaces/contract.ts';
import type { WorkspaceSummary } from '../../workspaces/landing-state.ts';
import type { TaskContext } from './task-context.ts';
import type { ChangesDiff } from './task-diff.ts';
import type { SentTrace } from './task-trace.ts';
import type { JsonObject } from '../../base/json.ts';
import type { AnswerOutcome, AskedQuestion } from './questions.ts';
import type { StopOutcome } from './stop-task.ts';
import type { TaskMessage, SentMessage } from './send-message.ts';
import type { UsageQuery, UsageReport } from './usage-report.ts';
import type { WatchEnd, WatchOptions } from './watch-tasks.ts';
import type { TreeListener } from './follow-tree.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { AnswerRequest } from '../../engine/questions/parse-answer.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan-rewind.ts';

export interface TasksOptions {
  /**
   * The data directory. Default: `MUSTER_DATA_DIR`, else a directory below the XDG data directory. A directory that
   * is given here must exist.
   */
  readonly dataDir?: string;
  /**
   * True to create the data directory if it is missing or empty, to import tasks or to wait for the first task.
   * Default: false.
   */
  readonly create?: boolean;
  readonly environment?: Environment;
  /**
   * Called with one line for each problem that does not stop the work, such as damage in logs. Default: the lines are
   * dropped.
   */
  readonly onNotice?: (line: string) => void;
}

/**
 * The tasks of a data directory, for use in another terminal than the one in which they run. Every `id` may be a unique
 * prefix of an id. All methods throw MusterError: `NOT_FOUND` for an unknown id, `INVALID_PARAM` for a prefix of
 * several ids.
 */
export interface Tasks {
  /** Lists all tasks, the newest first. */
  list(options?: ListTasksOptions): readonly TaskSummary[];
  /** Reports the tokens and costs of all tasks, or of one task with its descendants, from the ledgers of their logs. */
  usage(query: UsageQuery): Promise<UsageReport>;
  /**
   * Returns the current state of a task. A task without an end and without an owner is `interrupted`, unless it is
   * parked.
   */
  state(id: string): TaskState;
  /** Returns the result of a task in the form for programs. */
  envelope(state: TaskState): ResultEnvelope;
  /**
   * Reports a task with its descendants and how they spent their time, from their logs. Calls `visit` once with each
   * event.
   */
  report(id: string, visit?: (event: TaskEvent) => void): Promise<TreeReport>;
  /** Reports at most `maxTasks` tasks of a tree, with pauses for other work. */
  boundedReport(id: string, maxTasks: number): Promise<TreeReport>;
  /**
   * Returns the files that a task has changed as a unified diff, without secrets, of at most `maxLength` UTF-16 units.
   */
  diff(id: string, maxLength: number): Promise<ChangesDiff>;
  /**
   * Returns the content of the request of a turn; null means the newest request. Throws `NOT_FOUND` if there is no such
   * turn.
   */
  context(id: string, turn: number | null): Promise<TaskContext>;
  /** Returns the findings of the whole tree to which a task belongs, in the order in which they were posted. */
  board(id: string): Promise<readonly BoardFinding[]>;
  /** Reads the events of a task from number `fromSeq` on. Default: from the first event. */
  events(id: string, fromSeq?: number): AsyncIterable<TaskEvent>;
  /** Follows the log of a task, for a caller that knows when it may have grown. */
  tail(id: string): LogTail;
  /**
   * Follows a task with its descendants until the task has ended or has lost its owner. With null, follows all running
   * and new tasks until `signal` aborts. If the data directory was missing or empty, and `create` is not set, no task
   * is ever found.
   */
  watch(id: string | null, options: WatchOptions): Promise<WatchEnd>;
  /**
   * Reports the current state of a task and its descendants, and follows them until `signal` aborts, even after they
   * have ended. Rejects if the logs cannot be read.
   */
  follow(
    id: string,
    options: { readonly listener: TreeListener; readonly signal: AbortSignal },
  ): Promise<void>;
  /** Returns the spans of a task and its descendants as one request of OTLP in JSON (docs/telemetry.md). */
  trace(id: string): Promise<JsonObject>;
  /**
   * Sends the spans of a task and its descendants to the receiver of the environment or the user's configuration. Throws
   * UsageError if there is none, and `PROVIDER_ERROR` if it does not accept them.
   */
  sendTrace(id: string): Promise<SentTrace>;
  /**
   * Reruns a task and its descendants from their logs alone, and reports each difference from the logs. Asks nobody,
   * runs nothing and writes nothing.
   */
  rerun(id: string): Promise<TreeRerun>;
  /**
   * Plans to rewind a task to one of its events, with the conversations and files of the task and its descendants, or
   * to undo a rewind. Changes nothing. Throws `CONFLICT` while one of these tasks runs.
   */
  planRewind(id: string, request: RewindRequest): Promise<RewindPlan>;
  /** Carries out a plan. If anything has changed since the plan was made, changes nothing and throws `CONFLICT`. */
  rewind(plan: RewindPlan): Promise<RewindOutcome>;
  /** Lists the open questions of all trees, the oldest first. */
  questions(): Promise<readonly AskedQuestion[]>;
  /**
   * Returns an open question by its id or a unique prefix of the id. Throws `CONFLICT` if the question is settled.
   */
  question(id: string): Promise<AskedQuestion>;
  /**
   * Answers a question in the process that owns its task. If no process owns the task, returns the task that the caller
   * must resume with the answer.
   */
  answer(id: string, request: AnswerRequest): Promise<AnswerOutcome>;
  /** Stops a task and its descendants in any process. Resolves when the task has ended. */
  stop(id: string, because: string): Promise<StopOutcome>;
  /** Returns the running process that would receive a message for a task, or null if there is none. */
  processFor(id: string): Promise<TaskOwner | null>;
  /**
   * Sends a message to a task through the process that owns the task or its nearest running ancestor. Returns null if
   * there is no such process.
   */
  tell(id: string, message: TaskMessage): Promise<SentMessage | null>;
  /** Sends a foreground task to the background. */
  detach(id: string): Promise<SentMessage>;
  /** Exports a task and its descendants as the text of one file, in pieces. */
  exportTree(id: string): AsyncIterable<string>;
  /** Builds the trajectory of a task and its descendants in the Agent Trajectory Interchange Format. */
  exportTrajectory(id: string): Promise<AtifTrajectory>;
  /**
   * Imports the text of an exported file, if the data directory has tasks or was opened with `create`. Returns the ids
   * of the imported tasks, the root first. Throws `CONFLICT` as `TaskStore.importTree` does.
   */
  importTree(text: AsyncIterable<string>): Promise<readonly string[]>;
  /**
   * Deletes tasks with their descendants, and returns the deleted tasks. While one of them runs, deletes nothing and
   * throws `CONFLICT`.
   */
  delete(ids: readonly string[]): Promise<readonly DeletedTask[]>;
  /** Opens the workspaces of the tasks. An abort of the signal ends what its methods do. */
  workspaces(signal: AbortSignal): Promise<StoredWorkspaces>;
  /** Lists the workspaces of tasks with what has become of their changes, from their directories alone. */
  workspaceSummaries(): Promise<readonly WorkspaceSummary[]>;
  /**
   * Deletes the trees that ended before a time (milliseconds since the epoch). Returns the deleted tasks.
   */
  prune(endedBefore: number): Promise<readonly DeletedTask[]>;
  close(): Promise<void>;
}
