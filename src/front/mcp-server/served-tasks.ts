import { loadConversations, type Run, type Session } from '../../api/index.ts';
import { deferred, type Deferred } from '../../base/async.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { Question } from '../../protocol/question.ts';
import type { ResultEnvelope, TaskStatus } from '../../protocol/result.ts';

/** A task that a client of the server has started, with all tasks below it. */
export interface ServedTask {
  readonly id: string;
  readonly agent: string;
  /** The first words of its prompt. */
  readonly description: string;
  readonly status: TaskStatus;
  /** The time of the call that has started it, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The time of its start, end or continuation, whichever is the newest. */
  readonly changedAt: number;
}

export interface StartTask {
  readonly prompt: string;
  /** The name of an agent. */
  readonly agent: string;
}

/** The outcome of a wait for a task. */
export type WaitOutcome =
  | { readonly kind: 'ended'; readonly result: ResultEnvelope }
  | { readonly kind: 'asks'; readonly question: Question }
  | { readonly kind: 'runs' };

export type AgentEventListener = (event: TaskEvent, agent: string) => void;

export interface WaitOptions {
  readonly signal: AbortSignal;
  /** The maximum time in milliseconds. Default: until the task ends or asks. */
  readonly ms?: number;
  /** Called with each event of the task and of the tasks below it, and with the name of the agent of that task. */
  readonly onEvent?: AgentEventListener;
}

/** The maximum length of the description of a task, in characters. */
const MAX_DESCRIPTION = 80;

/** The state of a task that a client has started. It does not hold the result, which is read from the log. */
interface Entry {
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  readonly startedAt: number;
  changedAt: number;
  status: TaskStatus;
  /** The name of the agent of the task and of each task below it. */
  readonly agents: Map<string, string>;
  readonly listeners: Set<AgentEventListener>;
  /** The run; null before its start and after its end. */
  run: Run | null;
  /** The error with which the run could not continue; null if there is none. */
  error: MusterError | null;
  /** Resolves when the run has ended. */
  ended: Deferred<void>;
}

/** The parts of a session with which tasks are served. */
export type ServingSession = Pick<
  Session,
  'questions' | 'readResult' | 'resume' | 'send' | 'start' | 'watchQuestions'
>;

/** The tasks that one client of the server has started. It reaches no other task. */
export class ServedTasks {
  /** False if several clients share the tasks, so that a client may reach a task only by its id. */
  readonly areListed: boolean;
  readonly #session: ServingSession;
  readonly #entries = new Map<string, Entry>();

  constructor(session: ServingSession, options: { readonly areListed: boolean }) {
    this.#session = session;
    this.areListed = options.areListed;
  }

  /** Starts a task. Throws MusterError if the prompt is empty or there is no such agent. */
  start({ prompt, agent }: StartTask): string {
    const now = Date.now();
    const entry: Entry = {
      id: newId(),
      agent,
      description: prompt.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_DESCRIPTION),
      startedAt: now,
      changedAt: now,
      status: 'running',
      agents: new Map(),
      listeners: new Set(),
      run: null,
      error: null,
      ended: deferred(),
    };
    const { id } = entry;
    entry.agents.set(id, agent);
    const run = this.#session.start({ id, prompt, agent, source: 'mcp' }, this.#listener(entry));
    this.#entries.set(id, entry);
    this.#follow(entry, run);
    return id;
  }

  /** Sends a message to a task; one that has ended continues with it. Rejects with MusterError. */
  async send(id: string, message: string): Promise<'sent' | 'continued'> {
    const entry = this.#find(id);
    if (message.trim() === '') throw new MusterError('INVALID_PARAM', 'the message is empty');
    const { isSent } = await loadConversations();
    while (isAtWork(entry)) {
      if (isSent(() => this.#session.send(id, message))) return 'sent';
      // It is about to end, and another message may continue it first.
      await entry.ended.promise;
    }
    const { status } = entry;
    entry.error = null;
    entry.ended = deferred();
    changeStatus(entry, 'running');
    try {
      this.#follow(
        entry,
        await this.#session.resume({ id, prompt: message }, this.#listener(entry)),
      );
    } catch (thrown) {
      end(entry, status, toMusterError(thrown));
      throw thrown;
    }
    return 'continued';
  }

  /** Stops a task with all tasks below it, and returns its result. Rejects with MusterError. */
  async stop(id: string): Promise<ResultEnvelope> {
    const entry = this.#find(id);
    entry.run?.stop('stopped by the client of the MCP server');
    await entry.ended.promise;
    return this.#readResult(entry);
  }

  /** Stops all tasks, and waits until they have ended. */
  async stopAll(because: string): Promise<void> {
    const working = [...this.#entries.values()].filter(isAtWork);
    for (const { run } of working) run?.stop(because);
    await Promise.all(working.map(({ ended }) => ended.promise));
  }

  /** Waits until a task ends or asks something, the time is over or the signal aborts. Rejects with MusterError. */
  async wait(id: string, { signal, ms, onEvent }: WaitOptions): Promise<WaitOutcome> {
    const entry = this.#find(id);
    const changed = deferred<void>();
    const limit = ms === undefined ? null : setTimeout(() => changed.resolve(), ms);
    const onAbort = (): void => changed.resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    const stopWatching = this.#session.watchQuestions(() => {
      if (this.question(id) !== undefined) changed.resolve();
    });
    if (onEvent !== undefined) entry.listeners.add(onEvent);
    try {
      const isWaiting = isAtWork(entry) && this.question(id) === undefined;
      if (isWaiting && !signal.aborted) await Promise.race([entry.ended.promise, changed.promise]);
      if (!isAtWork(entry)) return { kind: 'ended', result: this.#readResult(entry) };
      const question = this.question(id);
      return question === undefined ? { kind: 'runs' } : { kind: 'asks', question };
    } finally {
      if (limit !== null) clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
      stopWatching();
      if (onEvent !== undefined) entry.listeners.delete(onEvent);
    }
  }

  /** Lists the tasks that the client may see, the oldest first. */
  list(): readonly ServedTask[] {
    return this.areListed ? this.#listEntries().map(describe) : [];
  }

  /** Returns a task. Throws MusterError if this client has not started it. */
  get(id: string): ServedTask {
    return describe(this.#find(id));
  }

  /** Checks whether a task, or a task below one of the tasks, belongs to this client. */
  includes(id: string): boolean {
    return this.#entries.has(id) || this.#listEntries().some(({ agents }) => agents.has(id));
  }

  /** Reads the result of a task. Throws MusterError. */
  result(id: string): ResultEnvelope {
    return this.#readResult(this.#find(id));
  }

  /** Returns the oldest open question of a task or of the tasks below it. Throws MusterError. */
  question(id: string): Question | undefined {
    const { agents } = this.#find(id);
    return this.#session.questions().find(({ question }) => agents.has(question.task))?.question;
  }

  /** Lists the open questions of all tasks, each with the id of the task that this client has started. */
  openQuestions(): readonly { readonly task: string; readonly question: Question }[] {
    return this.#session.questions().flatMap(({ question }) => {
      const entry = this.#listEntries().find(({ agents }) => agents.has(question.task));
      return entry === undefined ? [] : [{ task: entry.id, question }];
    });
  }

  /** Whether a task is at work, which it is not while it waits for the answer to a question. */
  get isBusy(): boolean {
    return this.#listEntries().some(
      (entry) => isAtWork(entry) && this.question(entry.id) === undefined,
    );
  }

  #listEntries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  #listener(entry: Entry): (event: TaskEvent) => void {
    return (event) => {
      if (event.type === 'task.created') entry.agents.set(event.task, event.spec.agent.name);
      const agent = entry.agents.get(event.task) ?? entry.agent;
      for (const listener of entry.listeners) listener(event, agent);
    };
  }

  #follow(entry: Entry, run: Run): void {
    entry.run = run;
    run.result.then(
      ({ data }) => end(entry, data.status),
      (thrown: unknown) => end(entry, 'failed', toMusterError(thrown)),
    );
  }

  #readResult({ id, error }: Entry): ResultEnvelope {
    if (error !== null) throw error;
    return this.#session.readResult(id);
  }

  #find(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry !== undefined) return entry;
    const known = this.list().map((task) => task.id);
    const hint = known.length === 0 ? '' : `; started: ${known.slice(-5).join(', ')}`;
    throw new MusterError(
      'NOT_FOUND',
      `no task ${JSON.stringify(id)} was started through this server${hint}`,
    );
  }
}

function isAtWork({ status }: Entry): boolean {
  return status === 'running';
}

function end(entry: Entry, status: TaskStatus, error: MusterError | null = null): void {
  entry.run = null;
  entry.error = error;
  changeStatus(entry, status);
  entry.ended.resolve();
}

function changeStatus(entry: Entry, status: TaskStatus): void {
  entry.status = status;
  entry.changedAt = Date.now();
}

function describe({ id, agent, description, status, startedAt, changedAt }: Entry): ServedTask {
  return { id, agent, description, status, startedAt, changedAt };
}

function toMusterError(thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  return new MusterError('INTERNAL_ERROR', errorMessage(thrown), { cause: thrown });
}
