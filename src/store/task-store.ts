import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { TaskStatus } from '../protocol/result.ts';
import type { Ledger } from '../protocol/state/ledger.ts';
import type { TaskSource, TaskSpec } from '../protocol/task.ts';

/** The data of a task that a listing shows. A summary fits in one line of the index. */
export interface TaskSummary {
  readonly id: string;
  readonly root: string;
  readonly parent: string | null;
  readonly depth: number;
  /** Name of the agent definition. */
  readonly agent: string;
  /** At most 120 code points. */
  readonly description: string;
  readonly status: TaskStatus;
  /** The model that answered last, as `provider/id`. Before the first answer, the model in the specification. */
  readonly model: string;
  readonly cwd: string;
  readonly source: TaskSource;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Milliseconds since the epoch; null while the task has not ended. */
  readonly ended: number | null;
  /** Number of answers that ended. */
  readonly turns: number;
  /** Input tokens that were not read from a cache, plus output tokens, as the provider reports them. */
  readonly paidTokens: number;
  /** The cost of all answers in USD; null after an answer without a known price. */
  readonly costUsd: number | null;
  /**
   * The reason why the task waits before its start or its next request. Absent if it does not wait. `untilMs` is in
   * milliseconds since the epoch; null if unknown.
   */
  readonly heldBy?: { readonly because: string; readonly untilMs: number | null };
  /**
   * The usage of the task, by day and model. Absent if an old version wrote the index line and the log was not read.
   */
  readonly ledger?: Ledger;
  /** The id of the task whose result was reused for this task. Absent if no result was reused. */
  readonly reused?: string;
  /** The key of work that may reuse the result of this task. Absent if the result must not be reused. */
  readonly reuseKey?: string;
  /** Absent if no question is open. */
  readonly questions?: readonly OpenQuestionSummary[];
}

export interface ListTasksOptions {
  /** True if each summary must have its ledger. The first such listing may have to read more logs. */
  readonly withLedgers: boolean;
}

/** An open question of a task. Its text is in the log. */
export interface OpenQuestionSummary {
  readonly id: string;
  readonly callId: string;
  /** True if the task is parked until the question is answered. */
  readonly parks: boolean;
}

/** A part of a log that could not be used. The rest of the log still loads. */
export interface LogProblem {
  /**
   * `missing`: events are missing, with no damaged line in their place. `fenced`: a former owner wrote the line, so it
   * is ignored. `torn_tail`: the last line is incomplete.
   */
  readonly code: 'damaged' | 'missing' | 'fenced' | 'lost_blob' | 'torn_tail';
  /** Line number from 1, including the header. */
  readonly line: number;
  /** The fault of the line, and the events that are lost. */
  readonly message: string;
}

/** The living process that owns a task. */
export interface TaskOwner {
  readonly pid: number;
  readonly host: string;
  /** The `token` of the owning store. */
  readonly token: string;
}

/** Follows a log that any process may write to. */
export interface LogTail {
  /**
   * Visits the events that were added since the last call, and all events at the first call, in order and in bounded
   * memory. If nothing was added, only the size of the file is checked. Visits nothing if there is no log.
   */
  read(visit: (event: TaskEvent) => void): void;
}

export interface StoreSweepOptions {
  /** A task expires if it ended, or was last written, before this time. Milliseconds since the epoch. */
  readonly endedBefore: number;
  /**
   * The maximum number of tasks that one call deletes. Only complete trees are deleted; the oldest tree may be larger.
   */
  readonly maxTasks: number;
}

/** The log of a task, as its only owner uses it. */
export interface TaskLog {
  readonly id: string;
  /** Grows by one with each owner. */
  readonly epoch: number;
  /** The events that opening the log has written: `task.created`, `task.claimed`, and warnings about repairs. */
  readonly opening: readonly TaskEvent[];
  /**
   * Writes a batch of events, all or none of them. Returns the logged events: stamped, and with secrets redacted. These
   * events are not lost if this process is killed afterwards. If nothing was written, throws a MusterError that names
   * the path and the cause.
   */
  append(bodies: readonly EventBody[]): readonly TaskEvent[];
  /** Makes everything that was appended before durable. Does nothing if durability is `fast`. */
  sync(): Promise<void>;
  /** Gives up ownership. A second call does nothing. */
  close(): void;
}

export interface BlobOptions {
  /** Default true. False for texts that must stay byte-identical: request prefixes. */
  readonly redact?: boolean;
}

/**
 * The storage of tasks. Every method checks its ids: throws `INVALID_PARAM` for a malformed id and `NOT_FOUND` for an
 * unknown id.
 */
export interface TaskStore {
  /** The id of this store among the owners of tasks, which never changes: 12 characters from `[a-z0-9]`. */
  readonly token: string;
  /**
   * Creates a log with the specification, owned by the caller, epoch 1. Throws `CONFLICT` if the task exists. Replaces
   * a log without a complete `task.created` event, and keeps its content in another file.
   */
  create(spec: TaskSpec): TaskLog;
  /**
   * Takes over a log to continue it: repairs its tail, and moves damaged lines to another file. Throws `CONFLICT` with
   * the pid of the owner while another owner lives. Calls `visit` with the events that were logged before, in order and
   * in bounded memory; ignore these events if the claim fails.
   */
  claim(id: string, visit?: (event: TaskEvent) => void): TaskLog;
  /**
   * Visits the events of a log, in order and in bounded memory. Returns the problems of lines that could not be used.
   */
  scan(id: string, visit: (event: TaskEvent) => void): readonly LogProblem[];
  /** Reads the events from `fromSeq` to the current end, in bounded memory. Skips damaged lines. */
  streamEvents(id: string, fromSeq: number): AsyncIterable<TaskEvent>;
  /** Follows a log, which need not exist yet. */
  openTail(id: string): LogTail;
  /**
   * Lists the ids of the tasks with a lock, in no particular order: the owner may be alive or dead. Returns the same
   * array while nothing has changed, which costs almost nothing.
   */
  listLocked(): readonly string[];
  /** Checks whether a task exists: it has a log with a complete `task.created` event. */
  exists(id: string): boolean;
  /** Returns the living owner of a task, which may be this process; null if it has none. */
  getOwner(id: string): TaskOwner | null;
  /** Checks whether a task was imported by `importTree`. Grants in its log were not given on this machine. */
  isImported(id: string): boolean;
  /**
   * Returns the number of the last imported event of a task; later events were logged on this machine. Null if the task
   * was not imported.
   */
  importedUpTo(id: string): number | null;
  /** Lists all tasks, from new to old. */
  list(options?: ListTasksOptions): readonly TaskSummary[];
  /**
   * Finds the ids of ended tasks whose results may be reused for work with this key, from new to old. The ids come from
   * the index, so the caller must check the logs.
   */
  findReusable(reuseKey: string): readonly string[];
  /**
   * Resolves a prefix to the id that begins with it. Throws `INVALID_PARAM` with up to 5 candidates if several ids
   * begin with it.
   */
  resolveId(prefix: string): string;
  /** Stores a text. Returns the sha256 (hex) of the stored text. */
  putBlob(text: string, options?: BlobOptions): string;
  getBlob(hash: string): string;
  /** Stores an image or a document without redaction. Returns its sha256 (hex). */
  putAttachment(bytes: Buffer): string;
  /** Returns a stored image or document; null if it is missing or damaged. */
  getAttachment(hash: string): Buffer | null;
  /**
   * Stores the content of a user's file before a task changes it, without redaction. Resolves once it is durable. The
   * backup is kept while a log contains its sha256. A store in memory keeps no backups.
   */
  putBackup(bytes: Buffer): Promise<void>;
  /** Returns the backup with a sha256 (hex); null if it is missing or damaged. */
  getBackup(hash: string): Buffer | null;
  /** Checks whether a backup exists. Only the name of the file is checked, not its content. */
  hasBackup(hash: string): boolean;
  /**
   * Locks tasks that nobody owns, without changing their logs. Resolves to the function that releases them. Rejects
   * with `CONFLICT` and the pid of the owner if a task has an owner; then no task is locked.
   */
  lockTasks(ids: readonly string[]): Promise<() => void>;
  /** Returns the path of the plain-text output, which grows while the task works; null for a store in memory. */
  outputPath(id: string): string | null;
  /** Appends to the output. A secret that is split between two calls is not redacted, so pass complete pieces. */
  appendOutput(id: string, text: string): void;
  /** Creates an empty private file (0600) for the output of a call, once for each call. Returns its path. */
  createSpillFile(id: string, callId: string): string;
  /** Checks whether a real path is the output or a spill file of this task, which the task may read. */
  isTaskFile(id: string, path: string): boolean;
  /** Returns the path of the event log; null for a store in memory. */
  logPath(id: string): string | null;
  /**
   * Deletes tasks with all their files. Blobs that no other task needs are deleted with them, or by a later sweep if
   * they may be in use at this moment. Rejects with `NOT_FOUND`, or with `CONFLICT` if a task has a living owner; then
   * no task is deleted.
   */
  delete(ids: readonly string[]): Promise<void>;
  /**
   * Exports a task and all its descendants as the text of one file, in pieces: logs, outputs, spill files, blobs.
   * Damaged lines are left out.
   */
  exportTree(rootId: string): AsyncIterable<string>;
  /**
   * Imports the text of an exported file, split anywhere. Resolves to the ids of its tasks. Imports all tasks or none:
   * rejects with `INVALID_PARAM` and the line number if the file is malformed, incomplete or hostile, and with
   * `CONFLICT` if a task exists with different content. A task that exists with the same content stays unchanged.
   */
  importTree(text: AsyncIterable<string>): Promise<readonly string[]>;
  /**
   * Deletes trees in which every task has expired, the oldest first, and the leftovers of killed processes. Resolves to
   * the deleted ids. Costs almost nothing if there is nothing to do. Skips tasks that a process uses or deletes.
   */
  sweep(options: StoreSweepOptions): Promise<readonly string[]>;
  /** Gives up all logs and closes all files. */
  close(): Promise<void>;
}
