import { loadConversations, type Run, type Session } from '../../api/index.ts';
import { deferred, type Deferred } from '../../base/async.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { newId } from '../../base/ids.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { Question } from '../../protocol/question.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';

/** A task that a client of the server has started, with all tasks below it. */
export interface ServedTask {
  readonly id: string;
  readonly agent: string;
  /** The first words of its prompt. */
  readonly description: string;
  /** Its result; null while it runs. */
  readonly result: ResultEnvelope | null;
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

interface Entry {
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  /** The name of the agent of the task and of each task below it. */
  readonly agents: Map<string, string>;
  readonly listeners: Set<AgentEventListener>;
  run: Run | null;
  result: ResultEnvelope | null;
  /** The error with which the run could not start or failed; null if there is none. */
  error: MusterError | null;
  /** Resolves when the run has ended. */
  ended: Deferred<void>;
}

/** The tasks that the clients of one server have started. A client reaches no other task. */
export class ServedTasks {
  readonly #session: Session;
  readonly #entries = new Map<string, Entry>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Starts a task. Throws MusterError if the prompt is empty or there is no such agent. */
  start({ prompt, agent }: StartTask): string {
    const entry: Entry = {
      id: newId(),
      agent,
      description: prompt.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_DESCRIPTION),
      agents: new Map(),
      listeners: new Set(),
      run: null,
      result: null,
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
    if (entry.result === null && isSent(() => this.#session.send(id, message))) return 'sent';
    await entry.ended.promise;
    entry.result = null;
    entry.error = null;
    entry.ended = deferred();
    try {
      this.#follow(
        entry,
        await this.#session.resume({ id, prompt: message }, this.#listener(entry)),
      );
    } catch (thrown) {
      this.#end(entry, { error: toMusterError(thrown) });
      throw thrown;
    }
    return 'continued';
  }

  /** Stops a task with all tasks below it, and returns its result. Rejects with MusterError. */
  async stop(id: string): Promise<ResultEnvelope> {
    const entry = this.#find(id);
    entry.run?.stop('stopped by the client of the MCP server');
    await entry.ended.promise;
    return resultOf(entry);
  }

  /** Waits until a task ends or asks something, the time is over or the signal aborts. Rejects with MusterError. */
  async wait(id: string, { signal, ms, onEvent }: WaitOptions): Promise<WaitOutcome> {
    const entry = this.#find(id);
    const changed = deferred<void>();
    const limit = ms === undefined ? null : setTimeout(() => changed.resolve(), ms);
    const onAbort = (): void => changed.resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    const stopWatching = this.#session.watchQuestions(() => {
      if (this.#questionOf(entry) !== undefined) changed.resolve();
    });
    if (onEvent !== undefined) entry.listeners.add(onEvent);
    try {
      const isWaiting =
        entry.result === null && entry.error === null && this.#questionOf(entry) === undefined;
      if (isWaiting && !signal.aborted) await Promise.race([entry.ended.promise, changed.promise]);
      if (entry.result !== null || entry.error !== null)
        return { kind: 'ended', result: resultOf(entry) };
      const question = this.#questionOf(entry);
      return question === undefined ? { kind: 'runs' } : { kind: 'asks', question };
    } finally {
      if (limit !== null) clearTimeout(limit);
      signal.removeEventListener('abort', onAbort);
      stopWatching();
      if (onEvent !== undefined) entry.listeners.delete(onEvent);
    }
  }

  list(): readonly ServedTask[] {
    return [...this.#entries.values()].map(({ id, agent, description, result }) => ({
      id,
      agent,
      description,
      result,
    }));
  }

  /** Returns the newest open question of a task or of the tasks below it. */
  #questionOf({ agents }: Entry): Question | undefined {
    return this.#session.questions().find(({ question }) => agents.has(question.task))?.question;
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
      (result) => this.#end(entry, { result }),
      (thrown: unknown) => this.#end(entry, { error: toMusterError(thrown) }),
    );
  }

  #end(entry: Entry, end: Partial<Pick<Entry, 'result' | 'error'>>): void {
    Object.assign(entry, dropMissing(end));
    entry.ended.resolve();
  }

  #find(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry !== undefined) return entry;
    const known = [...this.#entries.keys()].slice(-5).join(', ');
    const hint = known === '' ? 'none has been started' : `started: ${known}`;
    throw new MusterError(
      'NOT_FOUND',
      `no task ${JSON.stringify(id)} was started through this server; ${hint}`,
    );
  }
}

function resultOf({ result, error }: Entry): ResultEnvelope {
  if (result !== null) return result;
  throw error ?? new MusterError('INTERNAL_ERROR', 'the task has no result');
}

function toMusterError(thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  return new MusterError('INTERNAL_ERROR', errorMessage(thrown), { cause: thrown });
}
