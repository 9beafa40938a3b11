import { plural } from '../../../base/text.ts';
import type { ShellEntry } from '../model/entry.ts';
import type { ShellProcess } from './shell-process.ts';
import type { CommandOutput } from '../../../api/index.ts';

/** The output that the screen shows; the message gets more of it. */
const SHOWN_CHARACTERS = 4_096;
/** Outputs that wait for the next message. Beyond that, the oldest are dropped with a hint. */
const MAX_WAITING = 8;
/** Output arrives in very many pieces; they are shown together. */
const SHOW_MS = 60;

interface ShellOptions {
  readonly cwd: string;
  readonly onOutput: (
    key: number,
    change: Pick<ShellEntry, 'output' | 'outputLines' | 'outcome'>,
  ) => void;
  readonly onEnded: (output: CommandOutput) => void;
  readonly onHint: (text: string) => void;
}

/** Runs the user's own shell commands, one at a time. Their outputs wait for the next message. */
export class ShellCommands {
  private readonly options: ShellOptions;
  private running: ShellProcess | null = null;
  private isStopped = false;
  private waiting: readonly CommandOutput[] = [];
  private isShowing = false;

  constructor(options: ShellOptions) {
    this.options = options;
  }

  /** `key` names the entry that shows the command. If `isShared`, the output goes with the next message. */
  async run(
    command: string,
    { key, isShared }: { readonly key: number; readonly isShared: boolean },
  ): Promise<void> {
    const { cwd, onOutput, onEnded } = this.options;
    this.isStopped = false;
    const { startShellProcess } = await import('./shell-process.ts');
    const show = (outcome: string | null) =>
      onOutput(key, {
        output: running.output.lastOf(SHOWN_CHARACTERS),
        outputLines: running.output.lines,
        outcome,
      });
    const running = startShellProcess(command, {
      cwd,
      onOutput: () => {
        if (this.isShowing) return;
        this.isShowing = true;
        setTimeout(() => {
          this.isShowing = false;
          if (this.running === running) show(null);
        }, SHOW_MS).unref();
      },
    });
    this.running = running;
    if (this.isStopped) void running.end();
    const outcome = await running.ended;
    this.running = null;
    show(outcome);
    const ended = { command, outcome, text: running.output.text };
    onEnded(ended);
    if (isShared) this.keep(ended);
  }

  /** Asks the running command to end, and kills it if it does not within 2 s. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running?.end();
  }

  /** Kills the running command at once, because the process is about to end. */
  kill(): void {
    void this.running?.end(0);
  }

  /** Returns the outputs that wait for a message, once. */
  takeOutputs(): readonly CommandOutput[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  private keep(output: CommandOutput): void {
    const all = [...this.waiting, output];
    this.waiting = all.slice(-MAX_WAITING);
    const dropped = all.length - this.waiting.length;
    if (dropped === 0) return;
    this.options.onHint(
      `${plural(dropped, 'earlier output')} not attached: a message takes at most ${MAX_WAITING}`,
    );
  }
}
