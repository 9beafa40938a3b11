import type { CommandOutput } from '../../../api/enclosing.ts';
import { plural } from '../../../base/text.ts';
import { addShell, updateShell, type Transcript } from '../model/transcript.ts';
import type { ShellCommand } from './shell-process.ts';

/** On the screen; more of it goes along with the message. */
const SHOWN_CHARACTERS = 4_096;
/** Outputs that wait for a message: of more, the oldest are left behind, and told. */
const MOST_WAITING = 8;

interface Parts {
  readonly cwd: string;
  readonly transcript: Transcript;
  readonly changed: () => void;
  readonly hint: (text: string) => void;
  /** For who tells of it in another way than by its block. */
  readonly onEnded?: (output: CommandOutput) => void;
}

/** Commands that a person runs themselves, one at a time; what they came to waits for the next message. */
export class OwnCommands {
  private readonly parts: Parts;
  private running: ShellCommand | null = null;
  private isStarting = false;
  private waiting: readonly CommandOutput[] = [];

  constructor(parts: Parts) {
    this.parts = parts;
  }

  get isRunning(): boolean {
    return this.running !== null;
  }

  /** `isShared`: what it came to goes along with the next message. False where one runs already. */
  start(command: string, { isShared }: { readonly isShared: boolean }): boolean {
    if (this.running !== null || this.isStarting) return false;
    this.isStarting = true;
    void this.run(command, { isShared });
    return true;
  }

  /** Asks what runs to end, and kills what does not within 2 s. */
  async stop(): Promise<void> {
    await this.running?.end();
  }

  /** At once, where the process is about to end. */
  kill(): void {
    void this.running?.end(0);
  }

  /** What has come of those that ended, once. */
  take(): readonly CommandOutput[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  private async run(command: string, { isShared }: { readonly isShared: boolean }): Promise<void> {
    const { cwd, transcript, changed } = this.parts;
    const key = addShell(transcript, { command, isShared });
    changed();
    const { startShellCommand } = await import('./shell-process.ts');
    const show = (outcome: string | null) => {
      updateShell(transcript, key, {
        output: running.output.lastOf(SHOWN_CHARACTERS),
        outputLines: running.output.lines,
        outcome,
      });
      changed();
    };
    const running = startShellCommand(command, {
      cwd,
      onOutput: () => this.soon(() => show(null)),
    });
    this.running = running;
    this.isStarting = false;
    const outcome = await running.ended;
    this.running = null;
    this.pending = null;
    show(outcome);
    const ended = { command, outcome, text: running.output.text };
    this.parts.onEnded?.(ended);
    if (isShared) this.keep(ended);
  }

  private pending: (() => void) | null = null;

  /** Output comes in thousands of pieces: they are shown together. */
  private soon(show: () => void): void {
    const isAsked = this.pending !== null;
    this.pending = show;
    if (isAsked) return;
    setTimeout(() => {
      const { pending } = this;
      this.pending = null;
      pending?.();
    }, SHOW_MS).unref();
  }

  private keep(output: CommandOutput): void {
    const all = [...this.waiting, output];
    this.waiting = all.slice(-MOST_WAITING);
    const left = all.length - this.waiting.length;
    if (left > 0) {
      this.parts.hint(
        `${plural(left, 'earlier output')} will not go along: a message takes ${MOST_WAITING}`,
      );
    }
  }
}

const SHOW_MS = 60;
