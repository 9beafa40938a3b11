import type { AnyMessage, ClientApp, ClientConnection } from '@agentclientprotocol/sdk';
import { collapseWhitespace } from '../../base/text.ts';
import { errorMessage } from '../../base/errors.ts';
import { MessageLines, type MessageLimits } from '../../sys/processes/message-lines.ts';
import { ErrorOutput, type ServerProcess } from '../../sys/processes/server-process.ts';

/** The limits of what a program may print. A message may hold a whole file. */
const LIMITS: MessageLimits = {
  maxMessageBytes: 32 * 1024 * 1024,
  maxGarbageLines: 1000,
  maxGarbageBytes: 1024 * 1024,
};
/** The number of messages that wait for the connection before the program has to wait. */
const MAX_WAITING_MESSAGES = 1000;
/** The length of the part of stderr that is quoted in an error. */
const QUOTED_STDERR_LENGTH = 600;

/** The connection to a program over its stdin and stdout. */
export interface ProgramConnection {
  readonly agent: ClientConnection['agent'];
  /** Resolves to the reason for the end of the connection, with the end of stderr. */
  readonly ended: Promise<string>;
  /** True when the connection or the program has ended. */
  readonly isEnded: boolean;
  /** Returns the end of stderr for the end of an error message. May be empty. */
  quoteStderr(): string;
  /** Ends the program and all processes that it started. Resolves when they have ended. */
  end(): Promise<void>;
}

/** Connects to a program. The memory for what it prints is bounded by `LIMITS`, whatever it prints. */
export function connectProgram(process: ServerProcess, app: ClientApp): ProgramConnection {
  const { stdin, stdout, ended: exited, started } = process;
  const stderr = new ErrorOutput(process.stderr);
  const lines = new MessageLines(LIMITS);
  const end = Promise.withResolvers<string>();
  let isEnded = false;
  let hasExited = false;
  let controller: ReadableStreamDefaultController<AnyMessage> | null = null;
  const quoteStderr = (): string => {
    const text = collapseWhitespace(stderr.read(QUOTED_STDERR_LENGTH));
    return text === '' ? '' : `; the end of its stderr: ${text}`;
  };
  const fail = (reason: string): void => {
    if (isEnded) return;
    isEnded = true;
    controller?.close();
    end.resolve(reason + quoteStderr());
    void process.end();
  };
  const readable = new ReadableStream<AnyMessage>(
    {
      start: (created) => void (controller = created),
      pull: () => void stdout.resume(),
      cancel: () => fail('the connection was closed'),
    },
    new CountQueuingStrategy({ highWaterMark: MAX_WAITING_MESSAGES }),
  );
  stdout.on('data', (chunk: Buffer) => {
    for (const line of lines.push(chunk)) {
      if (isEnded) return;
      if (line.type === 'overflow') fail(line.reason);
      // The SDK checks the message itself. Lines that are no messages are counted by `lines`.
      else if (line.type === 'message') controller?.enqueue(line.message as unknown as AnyMessage);
    }
    if ((controller?.desiredSize ?? 1) <= 0) stdout.pause();
  });
  stdout.on('error', (error) => fail(`its stdout failed: ${error.message}`));
  stdin.on('error', () => {
    // The end of the process says what happened.
  });
  const writable = new WritableStream<AnyMessage>({
    write: (message) => void stdin.write(`${JSON.stringify(message)}\n`),
  });
  // The rest of what it printed explains its end, and arrives shortly after the end.
  const failLater = (phrase: string): void => {
    hasExited = true;
    setTimeout(() => fail(`it ${phrase}`), DRAIN_MS);
  };
  void exited.then(failLater);
  started.catch((thrown: unknown) => fail(`it could not be started: ${errorMessage(thrown)}`));
  const connection = app.connect({ readable, writable });
  return {
    agent: connection.agent,
    ended: end.promise,
    get isEnded() {
      return isEnded || hasExited;
    },
    quoteStderr,
    async end() {
      fail('it was ended');
      await process.end();
    },
  };
}

/** The time for the rest of the output of a process that has ended. */
const DRAIN_MS = 100;
