import type {
  EventListener,
  Session,
  ResumeRequest,
  RuleChange,
  Run,
  QuotedItems,
} from '../../../api/index.ts';
import type { UiMessage } from '../update/message.ts';
import { errorMessage, MusterError } from '../../../base/errors.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';

/** A message with its attachments. */
interface OutgoingMessage {
  readonly text: string;
  readonly enclosed?: QuotedItems | undefined;
}

type ConversationLibrary = Pick<
  Session,
  'listAwaitedServers' | 'prepareServers' | 'resume' | 'resumeBelow' | 'send' | 'start' | 'withdraw'
>;

/** The time for which the first message waits for MCP servers that have never said which tools they have. */
const MAX_SERVER_WAIT_MS = 10_000;

/** The operations of a conversation that this process runs, or that another process runs and this one watches. */
export interface ConversationPort {
  /** The id of the main task; null before the first message. */
  readonly id: string | null;
  /** Whether this process runs the conversation. */
  readonly isAtWork: boolean;
  /** Whether the conversation belongs to another process and is only watched. */
  readonly isWatched: boolean;
  /**
   * Chooses the conversation that the next message continues; null for a new conversation. `mode` is the mode of the
   * conversation according to its log, which an undo may have changed.
   */
  select(id: string | null, mode?: PermissionMode): void;
  send(text: string, enclosed?: QuotedItems): void;
  /** Takes back the messages that no request contains yet, and returns their texts, the oldest first. */
  withdraw(): readonly string[];
  /** Continues a conversation that was cut off. Does nothing if the conversation is at work. */
  continueWork(): void;
  /** Sends a message that waits for MCP servers without waiting on. Absent if none can wait. */
  skipServers?(): void;
  /** Continues an ended task of the conversation. `text` is the next message of the task; null for no message. */
  resumeTask(task: string, text: string | null): void;
}

export interface ConversationOptions {
  readonly dispatch: (message: UiMessage) => void;
  /** The agent definition that the conversation runs as; null for the main agent. */
  readonly agent: string | null;
  /** Returns the mode that the user chose for the next message; null if the current mode stays. */
  readonly chosenMode: () => PermissionMode | null;
  /** Returns the rules that the user has set for a new conversation. Default: none. */
  readonly newRules?: () => readonly RuleChange[];
}

type ResumedTask = NonNullable<ResumeRequest['below']>;

/** Starts, steers and continues the user's conversation through the library. */
export class ConversationRunner implements ConversationPort {
  readonly isWatched = false;
  private readonly library: ConversationLibrary;
  private readonly options: ConversationOptions;
  private run: Run | null = null;
  private task: string | null = null;
  /** Messages that were sent while the conversation was starting or ending. */
  private readonly unsent: OutgoingMessage[] = [];
  /** Tasks to resume once the conversation has started. */
  private readonly unresumed: ResumedTask[] = [];
  private isStarting = false;
  /** Ends the wait for MCP servers; null if there is none. */
  private endWait: ((end: 'skipped') => void) | null = null;
  /** The mode of the main task that this process ran last. */
  private lastMode: { readonly task: string; readonly mode: PermissionMode } | null = null;

  constructor(library: ConversationLibrary, options: ConversationOptions) {
    this.library = library;
    this.options = options;
  }

  get id(): string | null {
    return this.task;
  }

  get isAtWork(): boolean {
    return this.run !== null || this.isStarting;
  }

  select(id: string | null, mode?: PermissionMode): void {
    this.task = id;
    this.reportStatus();
    const { lastMode } = this;
    if (lastMode === null || lastMode.task !== id || mode === undefined) return;
    // Take the narrower mode: an approval that an undo took back must grant nothing, and a narrower mode that the user
    // set in this process must stay in force.
    const narrower = PERMISSION_MODES.find((each) => each === lastMode.mode || each === mode);
    this.lastMode = { task: id, mode: narrower ?? lastMode.mode };
  }

  send(text: string, enclosed?: QuotedItems): void {
    const message = { text, enclosed };
    if (this.run === null) {
      if (this.isStarting) this.unsent.push(message);
      else void this.begin(message);
      return;
    }
    try {
      this.library.send(this.run.id, text, enclosed);
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown;
      this.unsent.push(message);
    }
  }

  withdraw(): readonly string[] {
    return [...this.withdrawSent(), ...this.unsent.splice(0)].map(({ text }) => text);
  }

  private withdrawSent(): readonly { readonly text: string }[] {
    try {
      return this.run === null ? [] : this.library.withdraw(this.run.id);
    } catch (thrown) {
      // The run has just ended, and its messages with it.
      if (!isNotFound(thrown)) throw thrown;
      return [];
    }
  }

  continueWork(): void {
    if (this.task !== null && !this.isAtWork) void this.begin({ text: '' });
  }

  skipServers(): void {
    this.endWait?.('skipped');
  }

  private listAwaited(): readonly string[] {
    return this.library.listAwaitedServers(this.options.agent ?? undefined);
  }

  /**
   * Waits until the MCP servers have said which tools they have, so that a new conversation gets these tools. The user
   * can end the wait.
   */
  private async waitForServers(names: readonly string[]): Promise<void> {
    const { dispatch, agent } = this.options;
    const ended = Promise.withResolvers<'answered' | 'skipped' | 'late'>();
    this.endWait = ended.resolve;
    const timer = setTimeout(() => ended.resolve('late'), MAX_SERVER_WAIT_MS);
    void this.library.prepareServers(agent ?? undefined).then(() => ended.resolve('answered'));
    dispatch({ type: 'servers-awaited', names, end: null });
    const end = await ended.promise;
    clearTimeout(timer);
    this.endWait = null;
    dispatch({ type: 'servers-awaited', names: [], end });
  }

  /** The main agent gets a notice when the task ends. If the main agent is idle, it waits for the task without asking its model. */
  resumeTask(task: string, text: string | null): void {
    void this.resumeBelow({ id: task, ...(text === null ? {} : { prompt: text }) });
  }

  private async resumeBelow(task: ResumedTask): Promise<void> {
    const { id, ...message } = task;
    try {
      while (this.run !== null) {
        try {
          await this.library.resumeBelow(id, message);
          return;
        } catch (thrown) {
          if (!isNotFound(thrown)) throw thrown;
          // The conversation has just ended or is about to end.
          await this.run?.result;
        }
      }
    } catch (thrown) {
      this.note('error', errorMessage(thrown));
      return;
    }
    if (this.isStarting) this.unresumed.push(task);
    // Before the first message there is no task below that could be resumed.
    else if (this.task !== null) await this.begin({ text: '' }, task);
  }

  private async begin(message: OutgoingMessage, below?: ResumedTask): Promise<void> {
    this.isStarting = true;
    this.reportStatus();
    try {
      const awaited = this.task === null ? this.listAwaited() : [];
      if (awaited.length > 0) await this.waitForServers(awaited);
      const run = await this.startOrRestoreMode(message, below);
      this.run = run;
      this.task = run.id;
      this.isStarting = false;
      this.reportStatus();
      for (const early of this.unsent.splice(0)) this.send(early.text, early.enclosed);
      for (const task of this.unresumed.splice(0)) void this.resumeBelow(task);
      const envelope = await run.result;
      if (/^\/compact(\s|$)/.test(message.text)) this.note('info', envelope.text);
    } catch (thrown) {
      this.note('error', errorMessage(thrown));
    } finally {
      this.run = null;
      this.isStarting = false;
    }
    const following = joinMessages(this.unsent.splice(0));
    const resumed = following === null ? this.unresumed.shift() : undefined;
    if (following !== null || resumed !== undefined) {
      await this.begin(following ?? { text: '' }, resumed);
      return;
    }
    this.reportStatus();
    this.options.dispatch({ type: 'conversation-idle' });
  }

  private note(level: 'info' | 'error', text: string): void {
    this.options.dispatch({ type: 'note', level, text });
  }

  private reportStatus(): void {
    const { id, isAtWork } = this;
    this.options.dispatch({ type: 'conversation-changed', status: { id, isAtWork } });
  }

  /** Starts a run. If the start fails, the last mode is restored, because events of the failed start may have changed it. */
  private async startOrRestoreMode(message: OutgoingMessage, below?: ResumedTask): Promise<Run> {
    const { lastMode } = this;
    const chosen = below === undefined ? this.options.chosenMode() : null;
    try {
      const run = await this.start(message, chosen, below);
      if (chosen !== null) this.options.dispatch({ type: 'mode-taken', mode: chosen });
      return run;
    } catch (thrown) {
      this.lastMode = lastMode;
      throw thrown;
    }
  }

  private async start(
    { text: prompt, enclosed }: OutgoingMessage,
    chosen: PermissionMode | null,
    below: ResumedTask | undefined,
  ): Promise<Run> {
    const { agent } = this.options;
    const onEvent: EventListener = (event, state) => {
      const { id: task, parent, rights } = state.spec;
      if (parent === null) this.lastMode = { task, mode: rights.mode };
      this.options.dispatch({ type: 'task-event', event, task: state });
    };
    // A mode that the user set or approved in this process takes precedence over the mode of the command line.
    const last =
      this.task !== null && this.lastMode?.task === this.task ? this.lastMode.mode : null;
    const inMode = (mode: PermissionMode | null) => (mode === null ? {} : { mode });
    if (this.task !== null && below !== undefined) {
      return this.library.resume({ id: this.task, below, ...inMode(last) }, onEvent);
    }
    const terms = {
      ...inMode(chosen ?? last),
      ...(enclosed === undefined ? {} : { enclosed }),
    };
    if (this.task !== null) {
      const message = prompt === '' ? {} : { prompt };
      return this.library.resume({ id: this.task, ...message, ...terms }, onEvent);
    }
    const definition = agent === null ? {} : { agent };
    const rules = this.options.newRules?.() ?? [];
    const withRules = rules.length === 0 ? {} : { rules };
    const request = { prompt, source: 'cli', ...definition, ...terms, ...withRules } as const;
    const run = this.library.start(request, onEvent);
    if (rules.length > 0) this.options.dispatch({ type: 'rules-taken', rules });
    return run;
  }
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof MusterError && thrown.code === 'NOT_FOUND';
}

/** Joins the messages that were sent while no task could receive them; null if there are no such messages. */
function joinMessages(messages: readonly OutgoingMessage[]): OutgoingMessage | null {
  if (messages.length === 0) return null;
  const text = messages.map((each) => each.text).join('\n\n');
  const all = messages.flatMap(({ enclosed }) => enclosed ?? []);
  const [enclosed] = all;
  if (enclosed === undefined) return { text };
  const enclosures = all.flatMap((each) => each.enclosures);
  return { text, enclosed: { ...enclosed, enclosures } };
}
