import type { EventListener, Muster, Run } from '../../api/index.ts';
import { errorMessage, MusterError } from '../../base/errors.ts';

type ConversationMuster = Pick<Muster, 'resume' | 'send' | 'start'>;

export interface ConversationOptions {
  readonly onEvent: EventListener;
  /** Something that no event of a task tells. */
  readonly onNote: (level: 'info' | 'error', text: string) => void;
  /** Nothing of it is at work any more, and nothing waits to be said. */
  readonly onIdle: () => void;
  /** The definition that it runs as; null: the main agent. */
  readonly agent: string | null;
}

/** The conversation that a person has: begun, steered and gone on with by the library's own doors. */
export class Conversation {
  private readonly muster: ConversationMuster;
  private readonly options: ConversationOptions;
  private run: Run | null = null;
  private task: string | null = null;
  /** Said while it was about to begin, or to end. */
  private readonly unsaid: string[] = [];
  private isBeginning = false;

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
  continue(id: string | null): void {
    this.task = id;
  }

  /** Says something: the first message, one that steers it, or one that makes it go on. */
  say(text: string): void {
    if (this.isBeginning) {
      this.unsaid.push(text);
      return;
    }
    if (this.run === null) {
      void this.begin(text);
      return;
    }
    try {
      this.muster.send(this.run.id, text);
    } catch (thrown) {
      if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
      this.unsaid.push(text);
    }
  }

  private async begin(text: string): Promise<void> {
    this.isBeginning = true;
    try {
      const run = await this.start(text);
      this.run = run;
      this.task = run.id;
      this.isBeginning = false;
      for (const early of this.unsaid.splice(0)) this.say(early);
      const envelope = await run.result;
      if (/^\/compact(\s|$)/.test(text)) this.options.onNote('info', envelope.text);
    } catch (thrown) {
      this.options.onNote('error', errorMessage(thrown));
    } finally {
      this.run = null;
      this.isBeginning = false;
    }
    const next = this.unsaid.splice(0).join('\n\n');
    if (next === '') this.options.onIdle();
    else await this.begin(next);
  }

  private async start(prompt: string): Promise<Run> {
    const { onEvent, agent } = this.options;
    if (this.task !== null) return this.muster.resume({ id: this.task, prompt }, onEvent);
    const named = agent === null ? {} : { agent };
    return this.muster.start({ prompt, source: 'cli', ...named }, onEvent);
  }
}
