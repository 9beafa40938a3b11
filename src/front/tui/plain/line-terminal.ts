import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline';

/** The input and the output of the UI in plain lines. They are a terminal, or streams that act like one. */
export interface LineStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Whether the terminal can move its cursor. If it can't, the operating system edits the typed line. */
  readonly canMove: boolean;
}

export interface LineClient {
  /** Called with a line that the user sent. Several lines that arrive at once, such as a paste, are joined. */
  onLine(line: string): void;
  /** Called for Ctrl+C on an empty line. */
  onInterrupt(): void;
  /** Called when the typed line is empty again. */
  onFree(): void;
  /** Called at the end of the input. */
  onEnd(): void;
}

const PROMPT = '> ';
/** The time between two lines below which they count as one paste. */
const PASTE_MS = 20;
/** The maximum number of lines that wait while the user types. If there are more, the oldest lines are only counted. */
const MAX_UNWRITTEN = 1_000;

/**
 * Reads and writes lines. Written lines are never changed. While the user types, no lines are written; they follow when
 * the typed line is sent or cleared, so that a screen reader does not read the typed line again and again.
 */
export class LineTerminal {
  private readonly streams: LineStreams;
  private readonly client: LineClient;
  private readonly unwritten: string[] = [];
  private omitted = 0;
  private wasTyping = false;
  private lines: Interface | null = null;
  /** Lines that the user sent and that are not reported yet, because they may be the beginning of a paste. */
  private readonly sent: string[] = [];
  private sending: NodeJS.Timeout | null = null;
  private hasStopped = false;
  private isTerminalLent = false;

  constructor(streams: LineStreams, client: LineClient) {
    this.streams = streams;
    this.client = client;
  }

  /** Whether the typed line is empty, so that lines are written at once. */
  get isFree(): boolean {
    return !this.isTerminalLent && this.sent.length === 0 && (this.lines?.line ?? '') === '';
  }

  /** Whether another program has the terminal, so that nothing may be written and Ctrl+C is meant for that program. */
  get isLent(): boolean {
    return this.isTerminalLent;
  }

  /** Gives the terminal to a program while `use` runs. Lines that are written meanwhile follow afterwards. */
  readonly lend = async <Result>(use: () => Promise<Result>): Promise<Result> => {
    this.isTerminalLent = true;
    this.close();
    // Keys of the other program arrive as signals as well, because it is in the same process group.
    const ignore = (): void => {};
    process.on('SIGQUIT', ignore);
    try {
      return await use();
    } finally {
      process.off('SIGQUIT', ignore);
      this.isTerminalLent = false;
      if (!this.hasStopped) {
        this.start();
        this.client.onFree();
      }
    }
  };

  start(): void {
    const { input, output, canMove } = this.streams;
    const prompt = canMove ? PROMPT : '';
    const lines = createInterface({ input, output, terminal: canMove, prompt });
    this.lines = lines;
    lines.on('line', (line) => {
      this.sent.push(line);
      if (this.sending !== null) clearTimeout(this.sending);
      this.sending = setTimeout(() => this.reportSent(), PASTE_MS);
    });
    lines.on('SIGINT', () => {
      if (this.isFree) this.client.onInterrupt();
      // Clear the typed line.
      else {
        lines.write(null, { ctrl: true, name: 'e' });
        lines.write(null, { ctrl: true, name: 'u' });
      }
    });
    lines.on('close', () => {
      this.reportSent();
      if (this.lines !== null) this.client.onEnd();
    });
    input.on('keypress', this.onKey);
    this.release();
  }

  /** Writes lines without escape sequences. */
  write(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.unwritten.push(...lines);
    const extra = this.unwritten.length - MAX_UNWRITTEN;
    if (extra > 0 && !this.isFree) {
      this.unwritten.splice(0, extra);
      this.omitted += extra;
    }
    if (this.isFree) this.release();
  }

  stop(): void {
    this.hasStopped = true;
    this.close();
  }

  private close(): void {
    const { lines } = this;
    this.lines = null;
    this.streams.input.off('keypress', this.onKey);
    lines?.close();
  }

  /** Reports the lines of a paste as one text, so that no line of it answers a question or becomes a message of its own. */
  private reportSent(): void {
    if (this.sending !== null) clearTimeout(this.sending);
    this.sending = null;
    const lines = this.sent.splice(0);
    if (lines.length === 0 || this.lines === null) return;
    this.client.onLine(lines.join('\n'));
    this.release();
    this.checkLine();
  }

  /** Checks the typed line after the key has changed it. */
  private readonly onKey = (): void => {
    setImmediate(() => this.checkLine());
  };

  private checkLine(): void {
    const { isFree } = this;
    if (isFree && this.wasTyping) {
      if (this.unwritten.length > 0) this.release();
      this.client.onFree();
    }
    this.wasTyping = !isFree;
  }

  private release(): void {
    if (this.isTerminalLent) return;
    const { output, canMove } = this.streams;
    const gone = this.omitted === 0 ? [] : [`${this.omitted} older lines left out.`];
    this.omitted = 0;
    const lines = [...gone, ...this.unwritten.splice(0)];
    if (canMove && this.lines !== null) {
      cursorTo(output, 0);
      clearLine(output, 0);
    }
    if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
    this.lines?.prompt(true);
  }
}
