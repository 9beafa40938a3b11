import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './program.ts';

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The time after which the program is killed. */
const TIME_LIMIT_MS = 60_000;
const BETWEEN_KEYS_MS = 50;

/** A program in a terminal of 80 × 24, which `script` (of util-linux) provides. */
export class PseudoTerminal implements AsyncDisposable {
  readonly startedAt = now();
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly ended: Promise<void>;
  private waiting: { readonly text: string; readonly resolve: (at: number) => void } | null = null;
  private drawn = '';

  /** Starts `node ARGS`. */
  constructor(args: readonly string[], options: TerminalOptions) {
    const quoted = [process.execPath, ...args].map((argument) => `'${argument}'`).join(' ');
    const command = `stty rows 24 cols 80; exec ${quoted}`;
    this.child = spawn('script', ['-qfec', command, '/dev/null'], { ...options, stdio: 'pipe' });
    const timeLimit = setTimeout(() => this.child.kill('SIGKILL'), TIME_LIMIT_MS);
    this.child.stdout.on('data', (chunk: Buffer) => this.draw(chunk.toString('utf8')));
    // The program may have ended before a key reaches it.
    this.child.stdin.on('error', () => {});
    this.ended = new Promise<void>((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', () => resolve());
    }).then(() => clearTimeout(timeLimit));
  }

  /** The process of `script`, which has started the program. */
  get pid(): number {
    return this.child.pid ?? -1;
  }

  /**
   * Waits until a text is drawn that was not drawn before this call, and resolves to that time (milliseconds since the
   * epoch). Rejects if the program ends before. Only one call may wait at a time.
   */
  async sees(text: string): Promise<number> {
    this.drawn = '';
    const seen = new Promise<number>((resolve) => (this.waiting = { text, resolve }));
    const ended = this.ended.then(() => {
      throw new Error(`${text} was never drawn: ${this.drawn.slice(0, 500)}`);
    });
    // Once the text was seen, the end of the program is no error.
    ended.catch(() => {});
    return Promise.race([seen, ended]);
  }

  type(keys: string): void {
    this.child.stdin.write(keys);
  }

  /** Types keys one after the other, and waits for the end of the program. */
  async leave(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await sleep(BETWEEN_KEYS_MS);
      this.type(key);
    }
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  private draw(text: string): void {
    if (this.waiting === null) return;
    this.drawn += text;
    if (!this.drawn.includes(this.waiting.text)) return;
    this.waiting.resolve(now());
    this.waiting = null;
  }
}
