import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline';

/** What is read from and written to: a terminal, or anything that does as one. */
export interface LineStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Whether it knows cursor moves: otherwise the system's own line editing has to do. */
  readonly canMove: boolean;
}

export interface LineClient {
  /** Without its end; several lines that came at once, as a paste brings them, are one. */
  onLine(line: string): void;
  /** Ctrl+C with nothing typed. */
  onInterrupt(): void;
  /** What was typed is sent or cleared. */
  onFree(): void;
  /** The end of the input. */
  onEnd(): void;
}

const PROMPT = '> ';
/** Lines that come closer to each other than a person sends them were pasted. */
const PASTE_MS = 20;
/** Of lines that wait for what is being typed; of more, the oldest ones are counted. */
const MOST_HELD = 1_000;

/**
 * Lines out, lines in. Lines are only ever added, and none while something is typed: what comes meanwhile
 * follows when that is sent or cleared, so that a reader does not read the typed line again and again.
 */
export class LineTerminal {
  private readonly streams: LineStreams;
  private readonly client: LineClient;
  private readonly held: string[] = [];
  private lost = 0;
  private wasTyping = false;
  private lines: Interface | null = null;
  /** Sent, and not told of yet: more of a paste may follow. */
  private readonly sent: string[] = [];
  private sending: NodeJS.Timeout | null = null;

  constructor(streams: LineStreams, client: LineClient) {
    this.streams = streams;
    this.client = client;
  }

  /** Whether lines that are written now are seen now. */
  get isFree(): boolean {
    return this.sent.length === 0 && (this.lines?.line ?? '') === '';
  }

  start(): void {
    const { input, output, canMove } = this.streams;
    const lines = createInterface({
      input,
      output,
      terminal: canMove,
      prompt: canMove ? PROMPT : '',
    });
    this.lines = lines;
    lines.on('line', (line) => {
      this.sent.push(line);
      if (this.sending !== null) clearTimeout(this.sending);
      this.sending = setTimeout(() => this.tellSent(), PASTE_MS);
    });
    lines.on('SIGINT', () => {
      if (this.isFree) this.client.onInterrupt();
      // What was typed is cleared.
      else {
        lines.write(null, { ctrl: true, name: 'e' });
        lines.write(null, { ctrl: true, name: 'u' });
      }
    });
    lines.on('close', () => {
      this.tellSent();
      if (this.lines !== null) this.client.onEnd();
    });
    input.on('keypress', this.onKey);
    this.release();
  }

  /** Each without escape sequences, and one line. */
  write(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.held.push(...lines);
    const extra = this.held.length - MOST_HELD;
    if (extra > 0 && !this.isFree) {
      this.held.splice(0, extra);
      this.lost += extra;
    }
    if (this.isFree) this.release();
  }

  stop(): void {
    const { lines } = this;
    this.lines = null;
    this.streams.input.off('keypress', this.onKey);
    lines?.close();
  }

  /** As one: a line in the middle of a paste is no answer to a question, and no message of its own. */
  private tellSent(): void {
    if (this.sending !== null) clearTimeout(this.sending);
    this.sending = null;
    const lines = this.sent.splice(0);
    if (lines.length === 0 || this.lines === null) return;
    this.client.onLine(lines.join('\n'));
    this.release();
    this.look();
  }

  /** After the key has changed the line. */
  private readonly onKey = (): void => {
    setImmediate(() => this.look());
  };

  private look(): void {
    const { isFree } = this;
    if (isFree && this.wasTyping) {
      if (this.held.length > 0) this.release();
      this.client.onFree();
    }
    this.wasTyping = !isFree;
  }

  private release(): void {
    const { output, canMove } = this.streams;
    const gone = this.lost === 0 ? [] : [`${this.lost} older lines left out.`];
    this.lost = 0;
    const lines = [...gone, ...this.held.splice(0)];
    if (canMove && this.lines !== null) {
      cursorTo(output, 0);
      clearLine(output, 0);
    }
    if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
    this.lines?.prompt(true);
  }
}
