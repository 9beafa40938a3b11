import type { Socket } from 'node:net';
import { errorInfo, MusterError } from '../base/errors.ts';
import { LineBuffer } from './line-buffer.ts';
import type { ControlLimits, ControlReply, ControlRequest } from './protocol.ts';
import { encodeReply } from './reply-line.ts';
import { decodeRequest } from './request-line.ts';

/** The functions that a connection needs from its server. */
export interface ConnectionPorts {
  readonly limits: ControlLimits;
  handle(request: ControlRequest): Promise<ControlReply>;
}

/**
 * One client: reads one request line, passes it on, answers, and waits for the client to hang up. No failure of a
 * client throws. A request that was read is handled to its end even if its client is gone.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #ports: ConnectionPorts;
  #state: 'reading' | 'handling' | 'answered' = 'reading';
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, ports: ConnectionPorts) {
    this.#socket = socket;
    this.#ports = ports;
    socket.unref();
    socket.on('error', () => {
      // The client hung up on us; `close` follows, and there is nobody left to tell.
    });
    socket.once('close', () => clearTimeout(this.#timer));
  }

  /** Resolves when the connection is closed and its request, if there was one, is handled. */
  async serve(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    const line = this.#state === 'reading' ? await this.#readLine() : undefined;
    if (line !== undefined) this.#answer(await this.#replyTo(line));
    await closed;
  }

  /** Answers at once with an error, whatever the client sends. */
  refuse(error: MusterError): void {
    this.#answer({ ok: false, error: error.toInfo() });
  }

  /**
   * Ends the connection because the server closes. A client that is still sending is cut off, and one that waits for
   * an answer gets an error.
   */
  end(): void {
    if (this.#state === 'reading') this.#socket.destroy();
    else this.refuse(CLOSING);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /**
   * Reads the request line. Returns undefined if there is none to handle, because an error was answered or the client
   * is gone.
   */
  #readLine(): Promise<Buffer | undefined> {
    const { requestBytes, requestMs } = this.#ports.limits;
    const buffer = new LineBuffer(requestBytes);
    return new Promise((resolve) => {
      const fail = (error: MusterError): void => {
        this.refuse(error);
        resolve(undefined);
      };
      this.#after(requestMs, () => fail(tooSlow(requestMs)));
      this.#socket.on('data', (chunk: Buffer) => {
        if (this.#state !== 'reading') return; // What follows the line is read away and means nothing.
        const lines = buffer.push(chunk);
        if (lines === 'too-long') return fail(tooLong(requestBytes));
        const [line] = lines;
        if (line === undefined) return;
        this.#state = 'handling';
        clearTimeout(this.#timer);
        resolve(line);
      });
      this.#socket.once('end', () => {
        if (this.#state === 'reading') fail(CUT_SHORT);
      });
      this.#socket.once('close', () => resolve(undefined));
    });
  }

  async #replyTo(line: Buffer): Promise<ControlReply> {
    try {
      return await this.#ports.handle(decodeRequest(line));
    } catch (thrown) {
      return { ok: false, error: errorInfo(thrown) };
    }
  }

  #answer(reply: ControlReply): void {
    if (this.#state === 'answered') return;
    this.#state = 'answered';
    this.#socket.resume();
    this.#after(this.#ports.limits.lingerMs, () => this.#socket.destroy());
    if (this.#socket.writable) this.#socket.end(encodeReply(reply));
  }

  /** Starts the one timer of the connection, which does not keep the process alive. */
  #after(ms: number, run: () => void): void {
    clearTimeout(this.#timer);
    if (this.#socket.destroyed) return;
    this.#timer = setTimeout(run, ms);
    this.#timer.unref();
  }
}

const CUT_SHORT = new MusterError('INVALID_PARAM', 'the request ended before its newline');

const CLOSING = new MusterError(
  'CANCELLED',
  'the Muster process ends and has not finished what was asked: `muster tasks show` tells how far it came',
);

function tooSlow(ms: number): MusterError {
  return new MusterError('TIMEOUT', `no whole request line came within ${ms} ms`);
}

function tooLong(bytes: number): MusterError {
  return new MusterError('LIMIT_EXCEEDED', `the request line is longer than ${bytes} bytes`);
}
