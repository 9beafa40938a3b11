import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import type { Ledger } from '../protocol/state/ledger.ts';
import type { TaskStatus } from '../protocol/result.ts';
import type { TaskSource, TaskSpec } from '../protocol/task.ts';

/** What a listing shows of a task: all of it stands in one line of the index. */
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
  /** `provider/id`: the one that answered last, before the first answer the one decided on. */
  readonly model: string;
  readonly cwd: string;
  readonly source: TaskSource;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Null while it has not ended. */
  readonly ended: number | null;
  /** Answers that ended. */
  readonly turns: number;
  /** Input not read from cache, plus output, as the provider says. */
  readonly paidTokens: number;
  /** USD of those; null once an answer had no known price. */
  readonly costUsd: number | null;
  /** Absent: nothing holds it. `untilMs` since the epoch; null: not known. */
  readonly heldBy?: { readonly because: string; readonly untilMs: number | null };
  /** What it has used. Absent: the index is from before there were ledgers, and the log was not read. */
  readonly ledger?: Ledger;
  /** The task whose result was reused for it. Absent: none. */
  readonly reused?: string;
  /** Its own result may be reused for work of this key. Absent: it may not. */
  readonly reuseKey?: string;
  /** Absent: none waits for an answer. */
  readonly questions?: readonly OpenQuestionSummary[];
}

export interface ListTasksOptions {
  readonly withLedgers: boolean;
}

/** That a question of a task is open; its log says what it asks. */
export interface OpenQuestionSummary {
  readonly id: string;
  readonly callId: string;
  /** Whether the task is parked until it is answered. */
  readonly parks: boolean;
}

/** Something in a log that could not be used. The rest of the log still loads. */
export interface LogProblem {
  /** `missing`: events are not there, and no damaged line stands in their place. */
  readonly code: 'damaged' | 'missing' | 'fenced' | 'lost_blob' | 'torn_tail';
  /** From 1, the header counted. */
  readonly line: number;
  /** The fault of the line, and the events that it loses. */
  readonly message: string;
}

/** Who has a task: a living process on this data directory. */
export interface TaskOwner {
  readonly pid: number;
  readonly host: string;
  /** The owning store's `token`. */
  readonly token: string;
}

/** What a log grows by, whoever writes it. */
export interface LogTail {
  /**
   * Visits the events that came since the last call, at the first one all there are, in order and in
   * bounded memory. Costs one look at the file when nothing came; visits nothing where there is no log.
   */
  read(visit: (event: TaskEvent) => void): void;
}

export interface StoreSweepOptions {
  /** Milliseconds since the epoch: what ended, or was written last, before it has expired. */
  readonly endedBefore: number;
  /** Tasks that one call deletes. A tree goes whole: the oldest one goes even if it is larger. */
  readonly maxTasks: number;
}

/** The log of one task in the hands of its one owner. */
export interface TaskLog {
  readonly id: string;
  /** Grows by one with each owner. */
  readonly epoch: number;
  /** What taking the log has written: `task.created` and `task.claimed`, warnings about repairs. */
  readonly opening: readonly TaskEvent[];
  /**
   * Writes a batch in one piece and returns it as it stands in the log: stamped, secrets redacted.
   * Synchronous: once it returns, killing this process loses none of it. All of the batch is written
   * or nothing; then a MusterError names path and cause.
   */
  append(bodies: readonly EventBody[]): readonly TaskEvent[];
  /** Makes all that was appended before it survive a power loss; does nothing when durability is fast. */
  sync(): Promise<void>;
  /** Gives up ownership. Calling it again does nothing. */
  close(): void;
}

export interface BlobOptions {
  /** Default true. False for what must stay byte-identical: request prefixes. */
  readonly redact?: boolean;
}

/**
 * Where tasks live. Ids are checked before use: a malformed one is `INVALID_PARAM`, an unknown one
 * `NOT_FOUND`.
 */
export interface TaskStore {
  /** This store's own among the owners of tasks: 12 of `[a-z0-9]`, the same for its whole life. */
  readonly token: string;
  /**
   * Starts a log with the specification; the caller owns it, epoch 1. `CONFLICT` if the task exists.
   * A log that was begun and holds no whole created event is made anew, what stood in it set aside.
   */
  create(spec: TaskSpec): TaskLog;
  /**
   * Takes over a log to go on with it: repairs its tail, moves damaged lines aside. `CONFLICT`,
   * naming the owner's process, while another owner lives. `visit` gets the events that stood in it
   * before, in order and in bounded memory; when the claim fails, what it got means nothing.
   */
  claim(id: string, visit?: (event: TaskEvent) => void): TaskLog;
  /** Visits the events of a log in order and in bounded memory; returns what could not be used. */
  scan(id: string, visit: (event: TaskEvent) => void): readonly LogProblem[];
  /** The events from `fromSeq` to the end as it was reached, in bounded memory; damage is skipped. */
  streamEvents(id: string, fromSeq: number): AsyncIterable<TaskEvent>;
  /** Follows a log; it need not be there yet. */
  openTail(id: string): LogTail;
  /**
   * The ids of the tasks with a lock, in no order: those that have a living owner, and those whose
   * owner died. The same array only while nothing changes, and then it costs next to nothing.
   */
  listLocked(): readonly string[];
  /** Whether there is a task: a log with a whole created event. */
  exists(id: string): boolean;
  /** The living owner of a task, this process included; null: it has none. */
  getOwner(id: string): TaskOwner | null;
  /** Whether a task came from a file, by `importTree`: nobody here granted what its log grants. */
  isImported(id: string): boolean;
  /**
   * Number of the last event that came with such a file: what follows was written here. Null: none did.
   */
  importedUpTo(id: string): number | null;
  /** All tasks, newest first; `withLedgers`: each with its ledger, at the price of reading more logs once. */
  list(options?: ListTasksOptions): readonly TaskSummary[];
  /**
   * Ids of ended tasks whose result may be reused for work of this key, the newest first: what the index
   * says of them, which their logs may not bear out.
   */
  findReusable(reuseKey: string): readonly string[];
  /** The id that a prefix means; `INVALID_PARAM` naming at most 5 candidates when several begin so. */
  resolveId(prefix: string): string;
  /** Keeps a text under its content; returns the sha256 (hex) of what was kept. */
  putBlob(text: string, options?: BlobOptions): string;
  getBlob(hash: string): string;
  /** Keeps an image or a document as it is: nothing is redacted. Returns the sha256 (hex). */
  putAttachment(bytes: Buffer): string;
  /** What was kept so; null: it was not, or is damaged. */
  getAttachment(hash: string): Buffer | null;
  /**
   * Keeps what a file of the user holds before a task changes it, as it is: nothing is redacted.
   * Resolves once it survives a power loss. Kept as long as a log names its sha256; where nothing is
   * kept, this isn't either.
   */
  putBackup(bytes: Buffer): Promise<void>;
  /** What was kept under a sha256 (hex); null: it was not, or is damaged. */
  getBackup(hash: string): Buffer | null;
  /** Whether `former` would give something, by its name alone. */
  hasBackup(hash: string): boolean;
  /**
   * Keeps others from tasks that nobody owns, their logs as they are; returns what lets go of them.
   * `CONFLICT` naming the owner of one that has one: then none is held.
   */
  lockTasks(ids: readonly string[]): Promise<() => void>;
  /** Path of the plain text that grows as the task works; null where nothing is kept. */
  outputPath(id: string): string | null;
  /** Adds to that text. A secret split between two calls is not redacted: pass whole pieces. */
  appendOutput(id: string, text: string): void;
  /** Path of an empty private file (0600) for the output of one call; the same for the same call. */
  createSpillFile(id: string, callId: string): string;
  /** Whether a real path is the output or a spill file of this task, which it may read. */
  isTaskFile(id: string, path: string): boolean;
  /** Path of the event log; null where nothing is kept. */
  logPath(id: string): string | null;
  /**
   * Removes tasks with all that is kept of them; the blobs that no other task needs go with them, or
   * with a later sweep when they may be in use this moment. `NOT_FOUND` or, where one has a living
   * owner, `CONFLICT`: then nothing is deleted.
   */
  delete(ids: readonly string[]): Promise<void>;
  /**
   * A task and all below it as the text of one file, in pieces: logs, outputs, spill files, blobs.
   * Damaged lines are left out.
   */
  exportTree(rootId: string): AsyncIterable<string>;
  /**
   * Takes in the text of such a file, cut into pieces anywhere; returns the ids of its tasks. All of
   * it or nothing: `INVALID_PARAM` names the line of a file that is broken, cut or hostile, `CONFLICT`
   * a task that is there already with other contents. One with the same stays.
   */
  importTree(text: AsyncIterable<string>): Promise<readonly string[]>;
  /**
   * Deletes trees of which every task has expired, oldest first, and what killed processes left;
   * returns the deleted ids. Costs next to nothing while there is nothing to do. Tasks that somebody
   * uses, or deletes, are passed over.
   */
  sweep(options: StoreSweepOptions): Promise<readonly string[]>;
  /** Gives up all logs and closes all files. */
  close(): Promise<void>;
}
