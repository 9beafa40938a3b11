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
 * The connection of one client. Reads one request line, passes the request on, sends the reply, and waits until the
 * client closes the connection. Failures of a client never throw. A request that has been read is handled completely,
 * even if the client has disconnected.
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
      // The client has closed the connection. The event `close` follows, and no client remains to which the error could
      // be reported.
    });
    socket.once('close', () => clearTimeout(this.#timer));
  }

  /** Resolves when the connection is closed and its request (if there was one) has been handled. */
  async serve(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    const line = this.#state === 'reading' ? await this.#readLine() : undefined;
    if (line !== undefined) this.#answer(await this.#replyTo(line));
    await closed;
  }

  /** Answers immediately with an error, whatever the client sends. */
  refuse(error: MusterError): void {
    this.#answer({ ok: false, error: error.toInfo() });
  }

  /**
   * Ends the connection because the server closes. A client that is still sending is disconnected, and a client that
   * waits for an answer gets an error.
   */
  end(): void {
    if (this.#state === 'reading') this.#socket.destroy();
    else this.refuse(CLOSING);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /**
   * Reads the request line. Returns undefined if there is no request to handle, because an error was sent or the client
   * has disconnected.
   */
  #readLine(): Promise<Buffer | undefined> {
    const { requestBytes, requestMs } = this.#ports.limits;
    const buffer = new LineBuffer(requestBytes);
    return new Promise((resolve) => {
      const fail = (error: MusterError): void => {
        this.refuse(error);
        resolve(undefined);
      };
      this.#startTimer(requestMs, () => fail(createTimeoutError(requestMs)));
      this.#socket.on('data', (chunk: Buffer) => {
        // Data after the request line is read and ignored.
        if (this.#state !== 'reading') return;
        const lines = buffer.push(chunk);
        if (lines === 'too-long') return fail(createLengthError(requestBytes));
        const [line] = lines;
        if (line === undefined) return;
        this.#state = 'handling';
        clearTimeout(this.#timer);
        resolve(line);
      });
      this.#socket.once('end', () => {
        if (this.#state === 'reading') fail(INCOMPLETE_REQUEST);
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
    this.#startTimer(this.#ports.limits.lingerMs, () => this.#socket.destroy());
    if (this.#socket.writable) this.#socket.end(encodeReply(reply));
  }

  /** Starts the connection's only timer. The timer does not keep the process alive. */
  #startTimer(ms: number, run: () => void): void {
    clearTimeout(this.#timer);
    if (this.#socket.destroyed) return;
    this.#timer = setTimeout(run, ms);
    this.#timer.unref();
  }
}

const INCOMPLETE_REQUEST = new MusterError('INVALID_PARAM', 'the request ended without a newline');

const CLOSING = new MusterError(
  'CANCELLED',
  'the Muster process ends before the request is finished: check with `muster tasks show` how much was done',
);

function createTimeoutError(ms: number): MusterError {
  return new MusterError('TIMEOUT', `no complete request line arrived within ${ms} ms`);
}

function createLengthError(bytes: number): MusterError {
  return new MusterError('LIMIT_EXCEEDED', `the request line is longer than ${bytes} bytes`);
}
