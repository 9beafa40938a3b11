import type { EventListener, Muster, ResumeRequest, Run } from '../../../api/index.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';
import type { Enclosed } from '../../../api/enclosing.ts';
import { errorMessage, MusterError } from '../../../base/errors.ts';

/** What is said, with what goes along. */
interface Said {
  readonly text: string;
  readonly enclosed?: Enclosed | undefined;
}

type ConversationMuster = Pick<Muster, 'resume' | 'resumeBelow' | 'send' | 'start'>;

/** What the screen needs of a conversation, wherever that is at work. */
export interface ConversationPort {
  /** The id of its main task; null: nothing was said yet. */
  readonly id: string | null;
  /** Whether it is at work in this process. */
  readonly isAtWork: boolean;
  /** Whether it is another process's, and only looked at. */
  readonly isWatched: boolean;
  /** `mode`: that of the conversation by its log, which may have been put back. */
  continue(id: string | null, mode?: PermissionMode): void;
  say(text: string, enclosed?: Enclosed): void;
  /** One that was cut off at work goes on where it was. Nothing, where it is at work. */
  goOn(): void;
  /** An ended task below it goes on; `text`: its next message, null: it is told to go on. */
  wake(task: string, text: string | null): void;
}

export interface ConversationOptions {
  readonly onEvent: EventListener;
  /** Something that no event of a task tells. */
  readonly onNote: (level: 'info' | 'error', text: string) => void;
  /** Nothing of it is at work any more, and nothing waits to be said. */
  readonly onIdle: () => void;
  /** The definition that it runs as; null: the main agent. */
  readonly agent: string | null;
  /** The mode that the person has chosen for what is said next; null: the one that it has. */
  readonly chosenMode: () => PermissionMode | null;
  /** It has that mode now. */
  readonly onModeTaken: (mode: PermissionMode) => void;
}

type WokenTask = NonNullable<ResumeRequest['below']>;

/** The conversation that a person has: begun, steered and gone on with by the library's own doors. */
export class Conversation implements ConversationPort {
  readonly isWatched = false;
  private readonly muster: ConversationMuster;
  private readonly options: ConversationOptions;
  private run: Run | null = null;
  private task: string | null = null;
  /** Said while it was about to begin, or to end. */
  private readonly unsaid: Said[] = [];
  /** Woken while it was about to begin. */
  private readonly unwoken: WokenTask[] = [];
  private isBeginning = false;
  /** Of the main task that was at work here last. */
  private held: { readonly task: string; readonly mode: PermissionMode } | null = null;

  constructor(muster: ConversationMuster, options: ConversationOptions) {
    this.muster = muster;
    this.options = options;
  }

  /** The id of its main task; null: nothing was said yet. */
  get id(): string | null {
    return this.task;
  }

  get isAtWork(): boolean {
    return this.run !== null || this.isBeginning;
  }

  /** The next message is for this one, of earlier; null: for a new one. Not while it is at work. */
  continue(id: string | null, mode?: PermissionMode): void {
    this.task = id;
    const { held } = this;
    if (held === null || held.task !== id || mode === undefined) return;
    // The narrower one: an approval that was taken back gives nothing, and what was set here stays.
    const narrower = PERMISSION_MODES.find((each) => each === held.mode || each === mode);
    this.held = { task: id, mode: narrower ?? held.mode };
  }

  /** Says something: the first message, one that steers it, or one that makes it go on. */
  say(text: string, enclosed?: Enclosed): void {
    if (this.isBeginning) {
      this.unsaid.push({ text, enclosed });
      return;
    }
    if (this.run === null) {
      void this.begin({ text, enclosed });
      return;
    }
    try {
      this.muster.send(this.run.id, text, enclosed);
    } catch (thrown) {
      if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
      this.unsaid.push({ text, enclosed });
    }
  }

  goOn(): void {
    if (this.task !== null && !this.isAtWork) void this.begin({ text: '' });
  }

  /** The main agent is told of its end; one that is idle waits for that, and asks its model nothing before. */
  wake(task: string, text: string | null): void {
    void this.wakeBelow({ id: task, ...(text === null ? {} : { prompt: text }) });
  }

  private async wakeBelow(task: WokenTask): Promise<void> {
    const { id, ...message } = task;
    try {
      while (this.run !== null) {
        try {
          await this.muster.resumeBelow(id, message);
          return;
        } catch (thrown) {
          if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
          // It has ended just now, or is about to.
          await this.run?.result;
        }
      }
    } catch (thrown) {
      this.options.onNote('error', errorMessage(thrown));
      return;
    }
    if (this.isBeginning) this.unwoken.push(task);
    // Where nothing was said yet, nothing is below it.
    else if (this.task !== null) await this.begin({ text: '' }, task);
  }

  private async begin(said: Said, below?: WokenTask): Promise<void> {
    const { text } = said;
    this.isBeginning = true;
    try {
      const run = await this.startOrKeep(said, below);
      this.run = run;
      this.task = run.id;
      this.isBeginning = false;
      for (const early of this.unsaid.splice(0)) this.say(early.text, early.enclosed);
      for (const task of this.unwoken.splice(0)) void this.wakeBelow(task);
      const envelope = await run.result;
      if (/^\/compact(\s|$)/.test(text)) this.options.onNote('info', envelope.text);
    } catch (thrown) {
      this.options.onNote('error', errorMessage(thrown));
    } finally {
      this.run = null;
      this.isBeginning = false;
    }
    const next = together(this.unsaid.splice(0));
    const woken = next === null ? this.unwoken.shift() : undefined;
    if (next === null && woken === undefined) this.options.onIdle();
    else await this.begin(next ?? { text: '' }, woken);
  }

  /** Where it comes to nothing, a mode that its log told of is none that it was given here. */
  private async startOrKeep(said: Said, below?: WokenTask): Promise<Run> {
    const { held } = this;
    const chosen = below === undefined ? this.options.chosenMode() : null;
    try {
      const run = await this.start(said, { chosen, below });
      if (chosen !== null) this.options.onModeTaken(chosen);
      return run;
    } catch (thrown) {
      this.held = held;
      throw thrown;
    }
  }

  private async start(
    { text: prompt, enclosed }: Said,
    {
      chosen,
      below,
    }: { readonly chosen: PermissionMode | null; readonly below: WokenTask | undefined },
  ): Promise<Run> {
    const { agent } = this.options;
    const onEvent: EventListener = (event, state) => {
      const { id: task, parent, rights } = state.spec;
      if (parent === null) this.held = { task, mode: rights.mode };
      this.options.onEvent(event, state);
    };
    // What the person has set or approved since the start goes before what a flag of the start asks for.
    const held = this.task !== null && this.held?.task === this.task ? this.held.mode : null;
    const asMode = (wanted: PermissionMode | null) => (wanted === null ? {} : { mode: wanted });
    if (this.task !== null && below !== undefined) {
      return this.muster.resume({ id: this.task, below, ...asMode(held) }, onEvent);
    }
    const terms = {
      ...asMode(chosen ?? held),
      ...(enclosed === undefined ? {} : { enclosed }),
    };
    if (this.task !== null) {
      const message = prompt === '' ? {} : { prompt };
      return this.muster.resume({ id: this.task, ...message, ...terms }, onEvent);
    }
    const named = agent === null ? {} : { agent };
    return this.muster.start({ prompt, source: 'cli', ...named, ...terms }, onEvent);
  }
}

/** What was said while nobody could hear it is one message; null: nothing was. */
function together(said: readonly Said[]): Said | null {
  const [first] = said;
  if (first === undefined) return null;
  const all = said.flatMap(({ enclosed }) => enclosed ?? []);
  const [enclosed] = all;
  const text = said.map((each) => each.text).join('\n\n');
  if (enclosed === undefined) return { text };
  return {
    text,
    enclosed: { ...enclosed, enclosures: all.flatMap(({ enclosures }) => enclosures) },
  };
}
