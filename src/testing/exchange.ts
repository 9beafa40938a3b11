import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestOutcome } from './wire-request.ts';

/**
 * Returns the time in milliseconds since the epoch, with fractions. The times of different processes of one machine can be
 * compared.
 */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * One request and its answer on the wire. Every wait ends when the client closes the connection, so that nothing remains
 * of a closed exchange.
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
  /** Resolves when the exchange is over, with or without an error. */
  readonly ended: Promise<void>;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private isClosed = false;
  private isBrokenByServer = false;
  private wake: (() => void) | null = null;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { onClosed }: { readonly onClosed: () => void },
  ) {
    this.request = request;
    this.response = response;
    // A write to a closed socket fails. The error is ignored, because the event `close` follows.
    response.on('error', () => {});
    this.ended = new Promise((resolve) => {
      response.once('close', () => {
        this.isClosed = true;
        this.outcome.endedAt = preciseNow();
        this.outcome.abortedByClient = !response.writableFinished && !this.isBrokenByServer;
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

  writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.isClosed) return;
    this.outcome.status = status;
    this.response.writeHead(status, headers);
  }

  /**
   * Sends a text; an empty text sends only the headers. Resolves when more can be written: at once, unless the client
   * reads too slowly.
   */
  write(text: string): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    if (text === '') this.response.flushHeaders();
    const hasRoom = text === '' || this.response.write(text);
    this.recordTimes();
    if (hasRoom) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        this.wake = null;
        this.response.off('drain', finish);
        resolve();
      };
      this.wake = finish;
      this.response.once('drain', finish);
    });
  }

  end(text = ''): void {
    if (this.isClosed) return;
    this.response.end(text, () => this.recordTimes());
    this.recordTimes();
  }

  /** Writes a text directly to the socket, so that headers can be sent without end. */
  writeRaw(text: string): void {
    if (!this.isClosed) this.request.socket.write(text);
  }

  destroy(): void {
    this.isBrokenByServer = true;
    this.request.socket.destroy();
  }

  /** Resets the connection after everything that was written before has been sent. */
  async reset(): Promise<void> {
    this.isBrokenByServer = true;
    await new Promise((resolve) => setImmediate(resolve));
    this.request.socket.resetAndDestroy();
  }

  /** Records the times of the first and the last byte. */
  private recordTimes(): void {
    const now = preciseNow();
    this.outcome.firstByteAt ??= now;
    this.outcome.lastByteAt = now;
  }
}
