import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestOutcome } from './wire-request.ts';

/**
 * The time in milliseconds since the epoch, with fractions. It can be compared between processes of one
 * machine.
 */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * One request and its answer on the wire. Every wait ends when the client goes away, so that nothing remains of
 * a closed exchange.
 */
export class Exchange {
  readonly outcome: RequestOutcome = {
    status: null,
    fault: null,
    usage: null,
    firstByteAt: null,
    lastByteAt: null,
    endedAt: null,
    abortedByClient: false,
    problem: null,
    violations: [],
  };
  /** Resolves when the exchange is over, however it ended. */
  readonly ended: Promise<void>;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private isClosed = false;
  private brokenByUs = false;
  private wake: (() => void) | null = null;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { onClosed }: { readonly onClosed: () => void },
  ) {
    this.request = request;
    this.response = response;
    // A write to a closed socket fails. The event `close` follows and is handled.
    response.on('error', () => {});
    this.ended = new Promise((resolve) => {
      response.once('close', () => {
        this.isClosed = true;
        this.outcome.endedAt = preciseNow();
        this.outcome.abortedByClient = !response.writableFinished && !this.brokenByUs;
        this.wake?.();
        onClosed();
        resolve();
      });
    });
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** Waits for a number of milliseconds, or until the connection is closed. */
  wait(ms: number): Promise<void> {
    if (this.isClosed || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.wake?.(), ms);
      this.wake = () => {
        clearTimeout(timer);
        this.wake = null;
        resolve();
      };
    });
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.isClosed) return;
    this.outcome.status = status;
    this.response.writeHead(status, headers);
  }

  /**
   * Sends a text; an empty text sends only the headers. Resolves when more can be written, which is at once
   * unless the client reads too slowly.
   */
  write(text: string): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    if (text === '') this.response.flushHeaders();
    const free = text === '' || this.response.write(text);
    this.touch();
    if (free) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        this.wake = null;
        this.response.off('drain', settle);
        resolve();
      };
      this.wake = settle;
      this.response.once('drain', settle);
    });
  }

  end(text = ''): void {
    if (this.isClosed) return;
    this.response.end(text, () => this.touch());
    this.touch();
  }

  /** Writes a text to the socket directly, which allows headers that never end. */
  raw(text: string): void {
    if (!this.isClosed) this.request.socket.write(text);
  }

  destroy(): void {
    this.brokenByUs = true;
    this.request.socket.destroy();
  }

  /** Resets the connection after the client has got what was written before. */
  async reset(): Promise<void> {
    this.brokenByUs = true;
    await new Promise((resolve) => setImmediate(resolve));
    this.request.socket.resetAndDestroy();
  }

  private touch(): void {
    const now = preciseNow();
    this.outcome.firstByteAt ??= now;
    this.outcome.lastByteAt = now;
  }
}
