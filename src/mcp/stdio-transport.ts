import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { errorMessage } from '../base/errors.ts';
import { collapseWhitespace } from '../base/text.ts';
import {
  MessageLines,
  type MessageLimits,
  type ReceivedLine,
} from '../sys/processes/message-lines.ts';
import { ErrorOutput, type ServerProcess } from '../sys/processes/server-process.ts';

/** The time for the rest of the output of a process that has ended. */
const DRAIN_MS = 500;
/** The length of the part of stderr that is quoted in an error. */
const QUOTED_STDERR_LENGTH = 600;

/**
 * The transport to a server over the stdin and stdout of its process. It takes the place of the SDK's own one, which
 * ends only the process itself and not those that it started. The SDK recognizes a transport over stdio by the
 * properties `pid` and `stderr`.
 */
export class StdioServerTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly stderr: ErrorOutput;
  private readonly process: ServerProcess;
  private readonly lines: MessageLines;
  private reason: string | null = null;
  private isClosed = false;

  constructor(process: ServerProcess, limits: MessageLimits) {
    this.process = process;
    this.stderr = new ErrorOutput(process.stderr);
    this.lines = new MessageLines(limits);
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** The reason for the end of the connection, with the end of stderr. Null while the connection is open. */
  get endReason(): string | null {
    return this.reason === null ? null : this.reason + this.quoteStderr();
  }

  /** Returns the end of stderr for the end of an error message. */
  quoteStderr(): string {
    const stderr = collapseWhitespace(this.stderr.read(QUOTED_STDERR_LENGTH));
    return stderr === '' ? '' : `; the end of its stderr: ${stderr}`;
  }

  async start(): Promise<void> {
    const { stdin, stdout, ended, started } = this.process;
    stdout.on('data', (chunk: Buffer) => {
      for (const line of this.lines.push(chunk)) this.receive(line);
    });
    stdout.on('error', (error) => this.fail(`its stdout failed: ${error.message}`));
    stdout.on('end', () => void this.failAfterEnd('it closed its stdout'));
    stdin.on('error', (error) => void this.failAfterEnd(`it closed its stdin (${error.message})`));
    void ended.then((phrase) => this.failAfterEnd(phrase, DRAIN_MS));
    try {
      await started;
    } catch (thrown) {
      this.reason = errorMessage(thrown);
      throw thrown;
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.isClosed) return Promise.reject(new Error(this.reason ?? 'the connection is closed'));
    const { stdin } = this.process;
    // The write is not awaited until it is flushed: a server that reads nothing is found by the limit of the call.
    stdin.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.fail('the connection was closed');
    await this.process.end();
  }

  private receive(line: ReceivedLine): void {
    if (this.isClosed) return;
    switch (line.type) {
      case 'message':
        // The SDK checks the message itself.
        this.onmessage?.(line.message as unknown as JSONRPCMessage);
        break;
      case 'garbage':
        this.onerror?.(new Error(`it printed a line that is no message: ${line.text}`));
        break;
      case 'overflow':
        this.fail(line.reason);
        break;
      default:
        line satisfies never;
    }
  }

  /** Ends the connection after a moment, in which more output or a better reason may arrive. */
  private async failAfterEnd(reason: string, waitMs = DRAIN_MS / 2): Promise<void> {
    const { stdout, ended } = this.process;
    const timer = Promise.withResolvers<null>();
    const timeout = setTimeout(() => timer.resolve(null), waitMs);
    const isDrained = stdout.readableEnded
      ? Promise.resolve()
      : new Promise<void>((resolve) => void stdout.once('close', resolve));
    const phrase = await Promise.race([timer.promise, isDrained.then(() => ended)]);
    clearTimeout(timeout);
    this.fail(phrase ?? reason);
  }

  /** Ends the connection. Only the first call has an effect. */
  private fail(reason: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.reason ??= reason;
    void this.process.end();
    this.onclose?.();
  }
}
