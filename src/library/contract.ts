import type { TaskEvent } from '../protocol/events/event.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskSignal } from '../protocol/signal.ts';
import type { TaskSummary, TreeRerun } from '../api/index.ts';
import type { BranchOptions, ResumeOptions, RunOptions } from './options.ts';
import type { InferOutput, Schema } from './standard-schema.ts';

/** A value that iteration over a run yields: an event of its log, or with `deltas` also a signal between events. */
export type RunEvent = TaskEvent | TaskSignal;

/** The result of a run: the envelope, and the output with its type. */
export interface RunResult<Output = string> extends ResultEnvelope {
  /** The answer as text; with a schema, the value that matches it, or null if there is none. */
  readonly output: Output;
  /** The reasons why the answer does not fit the schema of the program. Absent if it fits, and without a schema. */
  readonly outputIssues?: readonly string[];
}

/** The output of a run by its schema. */
export type OutputOf<S> = S extends Schema ? InferOutput<S> | null : string;

/**
 * A run: a conversation that works. `await` gives its result, which describes failures too: the promise rejects only if the run
 * could not start or its messages could not be read. Iteration yields its events; an iterator that is created in the same tick as
 * the run misses none. At the end of an `await using` scope the run is stopped.
 *
 * @example
 * import type { Muster } from 'muster-agent';
 *
 * export async function report(muster: Muster, prompt: string): Promise<string> {
 *   const run = muster.run(prompt, { deltas: true, budget: { usd: 1 } });
 *   for await (const event of run) if (event.type === 'text_delta') process.stdout.write(event.text);
 *   return (await run).output;
 * }
 */
export interface MusterRun<Output = string>
  extends PromiseLike<RunResult<Output>>, AsyncIterable<RunEvent>, AsyncDisposable {
  /** The id of its main task. */
  readonly id: string;
  /**
   * Sends a message to the main task, which reads it in its next request. Rejects with MusterError `NOT_FOUND` if the task has
   * ended; `Muster.resume` continues it then.
   */
  send(message: string): Promise<void>;
  /** Stops the run with all its tasks. Resolves when they have ended. Default of `reason`: `stopped by the program`. */
  stop(reason?: string): Promise<void>;
}

/** An instance of Muster. Several instances in one process share nothing. */
export interface Muster extends AsyncDisposable {
  /**
   * Starts a run. With an iterable as prompt, the first message starts it, further messages are sent while it works, and continue
   * it after it has ended; the run then ends with the iterable. Throws UsageError for a wrong option, and MusterError `CONFLICT` if
   * the instance is closed.
   */
  run<const S extends Schema | undefined = undefined>(
    prompt: string | AsyncIterable<string>,
    options?: RunOptions<S>,
  ): MusterRun<OutputOf<S>>;
  /**
   * Continues a task from its log, with all tasks below it that have not ended. `id` may be a unique beginning of an id. Without a
   * prompt, a completed task gives its result again, and another one goes on. Throws MusterError `NOT_FOUND` for an unknown id, and
   * `INVALID_PARAM` for a beginning that several tasks have.
   */
  resume(id: string, prompt?: string, options?: ResumeOptions): MusterRun;
  /** Continues a task after one of its events, in a new task. Throws the same errors as `resume`. */
  branch(id: string, options: BranchOptions): MusterRun;
  /**
   * Reruns a task with all tasks below it from their logs alone, and reports each difference. Calls no model and no tool. Rejects
   * with MusterError if the log of the task itself cannot be read.
   */
  rerun(id: string): Promise<TreeRerun>;
  /** Sends a message to any running task, by its full id. Throws MusterError `NOT_FOUND` if it does not run here. */
  send(id: string, message: string): void;
  /**
   * Stops any running task with all tasks below it, by its full id. Resolves when it has ended, and at once if it does not run here.
   * Default of `reason`: `stopped by the program`.
   */
  stop(id: string, reason?: string): Promise<void>;
  /**
   * Sends a task, for which its parent waits, to the background. Throws MusterError `NOT_FOUND` if it does not run here, and
   * `INVALID_PARAM` if no task waits for it.
   */
  background(id: string): void;
  /** Lists the tasks in the store, the newest first. */
  listTasks(): readonly TaskSummary[];
  /**
   * Reads the events of a task from a number on. They must not be changed. Default of `from`: 0, the first event. Throws the same errors as `resume`.
   */
  readEvents(id: string, from?: number): AsyncIterable<TaskEvent>;
  /** The agents that runs can use. */
  readonly agents: readonly { readonly name: string; readonly description: string }[];
  /** Stops all runs, and releases every process, file and lock. Afterwards every other method throws. Can be called again. */
  close(): Promise<void>;
}
