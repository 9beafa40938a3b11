import type { AnswerRequest } from '../../engine/questions/read-answer.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { TaskOwner, TaskSummary } from '../../store/task-store.ts';
import type { Environment } from '../../sys/env.ts';
import type { DeletedTask } from './delete-tasks.ts';
import type { TreeReport } from '../../report/tree-report.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan.ts';
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

export interface TasksOptions {
  /** Default: `MUSTER_DATA_DIR`, else below the XDG data directory. One that is named must be there. */
  readonly dataDir?: string;
  /**
   * Whether a data directory that is missing, or empty, is made one: for those who bring tasks, or watch for
   * the first. Default: false.
   */
  readonly create?: boolean;
  readonly environment?: Environment;
  /**
   * Called with a line for each thing that went wrong and stops nothing, damage in the logs that are read
   * among them. Default: nobody is told.
   */
  readonly onNotice?: (line: string) => void;
}

/**
 * The tasks of a data directory, for another terminal than the one they run in. Every `id` may be a
 * unique beginning of one. All methods throw MusterError: `NOT_FOUND` for an unknown id, `INVALID_PARAM`
 * for one that means several tasks.
 */
export interface Tasks {
  /** Newest first. */
  list(): readonly TaskSummary[];
  /** What tasks have used, by the ledgers of their logs; of a task, with all below it. */
  usage(query: UsageQuery): Promise<UsageReport>;
  /** A task as its log tells it by now; `interrupted` when it has no end, nobody works on it and it is not parked. */
  state(id: string): TaskState;
  /** The result of a task, for programs. */
  envelope(state: TaskState): ResultEnvelope;
  /** A task with all below it and where their time went, from their logs. `visit` is told each event once. */
  report(id: string, visit?: (event: TaskEvent) => void): Promise<TreeReport>;
  /** What stood in the request of a turn, null: the newest. `NOT_FOUND`: there is no such turn. */
  context(id: string, turn: number | null): Promise<TaskContext>;
  /** From an event number on. */
  events(id: string, fromSeq?: number): AsyncIterable<TaskEvent>;
  /**
   * Follows a task with all below it until it has ended or nobody works on it any more; null: all that
   * are at work or begin, until `signal` aborts. Where the data directory was missing or empty and not made
   * (`create`), none ever begins.
   */
  watch(
    id: string | null,
    options: { readonly listener: WatchListener; readonly signal: AbortSignal },
  ): Promise<WatchEnd>;
  /**
   * Tells how a task and all below it stand, and follows them over their ends, until `signal` aborts.
   * Rejects where the logs can't be read.
   */
  follow(
    id: string,
    options: { readonly listener: TreeListener; readonly signal: AbortSignal },
  ): Promise<void>;
  /**
   * Runs a task and all below it again from their logs alone, and says where that would go another way.
   * Nobody is asked, nothing is run and nothing is written.
   */
  rerun(id: string): Promise<TreeRerun>;
  /**
   * What it would take to put a task back to how it was after one of its events, conversation and files of
   * it and all below it, or to undo that. Touches nothing. `CONFLICT` while one of them is at work.
   */
  planRewind(id: string, wish: RewindRequest): Promise<RewindPlan>;
  /** Does what such a plan shows; nothing where anything is not as it was shown: `CONFLICT`. */
  rewind(plan: RewindPlan): Promise<RewindOutcome>;
  /** What waits for an answer, of all trees, the oldest first. */
  questions(): Promise<readonly AskedQuestion[]>;
  /** An open question, by its id or a unique beginning. `CONFLICT`: it is settled. */
  question(id: string): Promise<AskedQuestion>;
  /** Answers one where its task lives; where that is nowhere, says which task is to go on with it. */
  answer(id: string, wish: AnswerRequest): Promise<AnswerOutcome>;
  /** Stops a task and all below it, wherever it lives; resolves when it has ended. */
  stop(id: string, because: string): Promise<StopOutcome>;
  /** The living process that a message for a task goes to; null: there is none. */
  processFor(id: string): Promise<TaskOwner | null>;
  /** Tells a task something in the process where it, or one above it, lives; null: in none. */
  tell(id: string, message: TaskMessage): Promise<SentMessage | null>;
  /** Sends a task that its parent waits for to the background. */
  detach(id: string): Promise<SentMessage>;
  /** A task and all below it as the text of one file, in pieces. */
  exportTree(id: string): AsyncIterable<string>;
  /**
   * Takes in such a file, where the data directory has tasks or was opened with `create`; returns the ids of its
   * tasks, the top first. `CONFLICT`: see TaskStore.
   */
  importTree(text: AsyncIterable<string>): Promise<readonly string[]>;
  /** Deletes tasks with all below them, or none: `CONFLICT` while one is at work. Returns what went. */
  delete(ids: readonly string[]): Promise<readonly DeletedTask[]>;
  /** Deletes the trees that ended before (milliseconds since the epoch). Returns what went. */
  prune(endedBefore: number): Promise<readonly DeletedTask[]>;
  close(): Promise<void>;
}
