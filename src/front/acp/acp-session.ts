import {
  RequestError,
  methods,
  type AgentContext,
  type PromptRequest,
  type PromptResponse,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import { loadConversations, type QuotedItems, type Run, type Session } from '../../api/index.ts';
import { deferred, type Deferred } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { modelName } from '../../protocol/model.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { ClientQuestions } from './client-questions.ts';
import type { ClientFeatures } from './client-features.ts';
import { readPromptContent } from './prompt-content.ts';
import { readChange } from './read-change.ts';
import { replayConversation } from './replay-conversation.ts';
import type { ClientUpdate } from './call-updates.ts';
import { ContextWindows } from './context-windows.ts';
import { SessionUpdates } from './session-updates.ts';
import { toStopReason } from './stop-reason.ts';
import { waitForServers } from './wait-for-servers.ts';
import { UpdateSender } from './update-sender.ts';
import { toClientCallId } from './shown-tasks.ts';

export interface AcpSessionOptions {
  readonly session: Session;
  readonly client: AgentContext;
  readonly features: ClientFeatures;
  readonly id: string;
  /** True if the conversation exists. Otherwise it begins with the first prompt. */
  readonly hasBegun: boolean;
  /** The conversation of which this one becomes a copy with the first prompt. Default: none. */
  readonly forkOf?: { readonly id: string; readonly at: number };
  /** Called when too many updates wait for a client that does not read. */
  readonly onOverflow: () => void;
}

/** A conversation of a client: its prompts, the updates about it, and the questions of its tasks. */
export class AcpSession {
  readonly id: string;
  readonly session: Session;
  /** The name of the main agent; null for the default one. It is fixed with the first prompt. */
  agent: string | null = null;
  readonly #options: AcpSessionOptions;
  readonly #updates: SessionUpdates;
  readonly #sender: UpdateSender;
  readonly #questions: ClientQuestions;
  readonly #windows: ContextWindows;
  readonly #turns = new Set<Deferred<StopReason>>();
  readonly #stopListening: () => void;
  #run: Run | null = null;
  #hasBegun: boolean;
  #fork: AcpSessionOptions['forkOf'];
  #mode: PermissionMode;
  /** The mode that the next activation gets; null if it keeps its own. */
  #chosenMode: PermissionMode | null = null;
  /** The mode in which the conversation was at work in this process. It has precedence over that of a flag. */
  #lastMode: PermissionMode | null = null;
  #isCancelled = false;
  /** The limit that the present turn has reached; null if it has reached none. */
  #limit: string | null = null;
  /** The messages are started one after another, so that a second one finds the conversation that the first began. */
  #starting: Promise<unknown> = Promise.resolve();

  constructor(options: AcpSessionOptions) {
    const { session, client, features } = options;
    this.#options = options;
    this.session = session;
    this.id = options.id;
    this.#hasBegun = options.hasBegun;
    this.#fork = options.forkOf;
    this.#mode = session.mode;
    this.#windows = new ContextWindows(session);
    this.#updates = this.#createUpdates({ isReplay: false });
    this.#sender = new UpdateSender({
      send: (update) => this.#notify(update),
      onOverflow: options.onOverflow,
    });
    this.#questions = new ClientQuestions(session, {
      client,
      whenUpdated: () => this.#sender.drained(),
      hasForms: features.hasForms,
      place: ({ task, callId }) => ({
        sessionId: this.#updates.sessionOf(task),
        toolCallId: toClientCallId(task, callId),
      }),
      onWords: (question) => {
        if (question.kind === 'input') this.#say(`${question.text}\n`);
        this.#settle('end_turn');
      },
    });
    this.#stopListening = session.watchSignals((signal) => {
      this.#send(this.#updates.addSignal(signal));
      if (signal.type === 'task_waiting' && signal.task === this.id)
        this.#settle(this.#isCancelled ? 'cancelled' : 'end_turn');
    });
    void this.#windows.read(modelName(session.mainModel()));
  }

  /** True once the conversation has its first message. Its agent cannot change any more then. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get mode(): PermissionMode {
    return this.#chosenMode ?? this.#mode;
  }

  /** Changes the permission mode: of the running turn, and of those that follow. Throws MusterError. */
  setMode(mode: PermissionMode): void {
    if (this.#run !== null) this.session.setMode(this.id, mode);
    else this.#chosenMode = mode;
    this.#mode = mode;
  }

  /**
   * Passes a prompt on to the conversation. Resolves when the main agent has given its final answer. Tasks in the background go on,
   * and the client is told about their ends. A prompt that arrives meanwhile is read in the next request of the main agent.
   * Rejects with the errors of the conversation.
   */
  async prompt({ prompt }: Pick<PromptRequest, 'prompt'>): Promise<PromptResponse> {
    const content = readPromptContent(prompt);
    const turn = deferred<StopReason>();
    // A turn that fails before anybody waits for it must not end the process.
    turn.promise.catch(() => {});
    this.#isCancelled = false;
    this.#limit = null;
    this.#turns.add(turn);
    try {
      if (!this.#questions.takeWords(content.words)) {
        const begin = () => this.#begin(content);
        const started = this.#starting.then(begin, begin);
        this.#starting = started.catch(() => {});
        await started;
      }
      this.#questions.begin();
      const stopReason = await turn.promise;
      await this.#sender.drained();
      return { stopReason };
    } finally {
      this.#turns.delete(turn);
      if (this.#turns.size === 0) this.#questions.pause();
    }
  }

  /** Ends the work in the foreground. Tasks in the background go on. Does nothing if nothing runs. */
  cancel(): void {
    if (this.#turns.size === 0) return;
    this.#isCancelled = true;
    this.#questions.cancel();
    if (this.#run === null) return;
    try {
      this.session.interrupt(this.id);
    } catch (thrown) {
      // The turn has just ended by itself.
      if (!(thrown instanceof MusterError)) throw thrown;
    }
  }

  /** Stops a subagent with everything below it. */
  async cancelTask(id: string): Promise<void> {
    await this.session.stopTask(id, 'the user stopped it in the editor');
  }

  /** Returns whether a task belongs to this conversation. */
  hasTask(id: string): boolean {
    return this.#updates.hasTask(id);
  }

  /** Sends the whole conversation as updates. */
  async replay(): Promise<void> {
    await this.#readMode(this.id);
    const past = this.#createUpdates({ isReplay: true });
    for await (const event of replayConversation(this.session.store, this.id)) {
      if (event.type === 'task.created') await this.#windows.read(modelName(event.spec.model));
      // The live updates must know the tasks and calls, too.
      this.#updates.add(event);
      this.#send(past.add(event));
      await this.#sender.drained();
    }
  }

  /** Learns the tasks of the conversation without telling the client about them. */
  async recall(): Promise<void> {
    await this.#readMode(this.#fork?.id ?? this.id);
    for await (const event of replayConversation(this.session.store, this.id))
      this.#updates.add(event);
  }

  /** Shows a line about the session to a client that shows notices. Others have it in the log of the program. */
  notice(line: string): void {
    if (!this.#options.features.hasNotices) return;
    this.announce({ sessionUpdate: 'notice', severity: 'warning', title: sanitizeLine(line) });
  }

  /** Learns the mode in which a stored conversation goes on. */
  async #readMode(id: string): Promise<void> {
    this.#mode = (await this.session.listRules(id)).mode;
  }

  /** Sends an update of the conversation itself. */
  announce(update: SessionUpdate): void {
    this.#sender.add({ sessionId: this.id, update });
  }

  /** Stops everything of the conversation, and releases it. */
  async close(): Promise<void> {
    this.#questions.close();
    this.#stopListening();
    await this.session.close();
    this.#settle('cancelled');
  }

  async #begin({ words, images, resources }: ReturnType<typeof readPromptContent>): Promise<void> {
    const to = this.#hasBegun ? this.id : null;
    const enclosed = await this.session.enclose({
      to,
      words,
      outputs: [],
      images,
      ...dropMissing({ agent: this.agent, mode: this.#chosenMode }),
    });
    for (const problem of enclosed.problems) this.#say(`${problem}\n`);
    const items: QuotedItems = { ...enclosed, enclosures: [...enclosed.enclosures, ...resources] };
    const { isSent } = await loadConversations();
    const run = this.#run;
    if (run !== null) {
      if (isSent(() => this.session.send(this.id, words, items))) return;
      await run.result;
    }
    if (this.#isCancelled) {
      this.#settle('cancelled');
      return;
    }
    this.#follow(await this.#start(words, items));
  }

  async #start(words: string, items: QuotedItems): Promise<Run> {
    const terms = dropMissing({ mode: this.#chosenMode ?? this.#lastMode });
    const onEvent = (event: TaskEvent, state: TaskState): void => this.#onEvent(event, state);
    if (this.#fork !== undefined) {
      const { id, at } = this.#fork;
      const branch = { id, at, branch: this.id, prompt: words, ...terms };
      const enclosed = { ...items, task: this.id };
      const run = await this.session.branch({ ...branch, enclosed }, onEvent);
      this.#fork = undefined;
      this.#hasBegun = true;
      this.#chosenMode = null;
      return run;
    }
    if (this.#hasBegun) {
      const run = await this.session.resume(
        { id: this.id, prompt: words, enclosed: items, ...terms },
        onEvent,
      );
      this.#chosenMode = null;
      return run;
    }
    await waitForServers(this.session, this.agent);
    const request = { id: this.id, prompt: words, source: 'acp' as const, ...terms };
    const agent = dropMissing({ agent: this.agent });
    const run = this.session.start(
      { ...request, ...agent, enclosed: { ...items, task: this.id } },
      onEvent,
    );
    this.#hasBegun = true;
    this.#chosenMode = null;
    return run;
  }

  #follow(run: Run): void {
    this.#run = run;
    void run.result.then(
      (result) => this.#end(result),
      (thrown: unknown) => {
        this.#run = null;
        for (const turn of this.#turns) turn.reject(thrown);
      },
    );
  }

  #end({ data: { status }, error }: ResultEnvelope): void {
    this.#run = null;
    if (status === 'failed' && error !== null) {
      const failure = new RequestError(-32_603, error.message, { code: error.code });
      for (const turn of this.#turns) turn.reject(failure);
    } else this.#settle(this.#isCancelled ? 'cancelled' : toStopReason(status, this.#limit));
    this.announce({
      sessionUpdate: 'session_info_update',
      updatedAt: new Date().toISOString(),
      _meta: { muster: { state: 'idle' } },
    });
  }

  #settle(reason: StopReason): void {
    for (const turn of this.#turns) turn.resolve(reason);
  }

  #onEvent(event: TaskEvent, state: TaskState): void {
    if (event.type !== 'task.created') this.#updates.learn(state.spec);
    this.#send(this.#updates.add(event));
    if (event.task !== this.id) return;
    if (event.type === 'task.created') {
      const title = event.spec.description;
      this.announce({
        sessionUpdate: 'session_info_update',
        title,
        updatedAt: new Date(event.ts).toISOString(),
      });
    }
    if (event.type === 'limit.reached') this.#limit = event.limit;
    if (event.type === 'turn.started') void this.#windows.read(modelName(state.spec.model));
    const { mode } = state.spec.rights;
    this.#lastMode = mode;
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.announce({ sessionUpdate: 'current_mode_update', currentModeId: mode });
  }

  #createUpdates({ isReplay }: { readonly isReplay: boolean }): SessionUpdates {
    const { features, session } = this.#options;
    return new SessionUpdates({
      root: this.id,
      hasChildSessions: features.hasChildSessions,
      hasNotices: features.hasNotices,
      isReplay,
      contextWindow: (model) => this.#windows.get(model),
      readChange: (change) => readChange(session.store, change),
    });
  }

  #say(text: string): void {
    this.announce({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  #send(updates: readonly ClientUpdate[]): void {
    for (const update of updates) this.#sender.add(update);
  }

  /** Sends an update. A client that has gone ends the connection, which is how the server learns of it. */
  async #notify({ sessionId, update }: ClientUpdate): Promise<void> {
    await this.#options.client
      .notify(methods.client.session.update, { sessionId, update })
      .catch(() => {});
  }
}
