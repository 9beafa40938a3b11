import {
  CancellationTokenSource,
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { deferred, onAbort, rejectOnAbort } from '../base/async.ts';
import { collapseWhitespace } from '../base/text.ts';
import { ErrorOutput, type ServerProcess } from '../sys/processes/server-process.ts';
import { BoundedStream } from './bounded-stream.ts';

/** The length of the part of stderr that is quoted in an error. */
const QUOTED_STDERR_LENGTH = 300;

/** The functions that handle the messages of a server. */
export interface MessageHandlers {
  onNotification(method: string, params: unknown): void;
  /** Returns the result of a request of the server. */
  onRequest(method: string, params: unknown): unknown;
}

/** A connection to the process of a language server. */
export interface ServerChannel {
  /** Sends a request. Rejects if the server answers with an error, if the signal aborts, and if the connection ends. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** Resolves to the reason when the connection has ended, as a clause. */
  readonly ended: Promise<string>;
  /** Aborts with this reason when the connection ends. */
  readonly closed: AbortSignal;
  /** Ends the process and the connection. */
  end(reason: string): Promise<void>;
}

/** Connects to the process of a server, whose messages are bounded in size and number. */
export function connectToServer(process: ServerProcess, handlers: MessageHandlers): ServerChannel {
  const { stdin, stdout } = process;
  const stderr = new ErrorOutput(process.stderr);
  const input = new BoundedStream();
  const connection = createMessageConnection(
    new StreamMessageReader(input),
    new StreamMessageWriter(stdin),
  );
  const ended = deferred<string>();
  const aborted = new AbortController();
  const end = async (reason: string): Promise<void> => {
    if (!aborted.signal.aborted) {
      aborted.abort(new Error(reason));
      connection.dispose();
      ended.resolve(reason);
    }
    await process.end();
  };
  const quoteStderr = (): string => {
    const quoted = collapseWhitespace(stderr.read(QUOTED_STDERR_LENGTH));
    return quoted === '' ? '' : `; the end of its stderr: ${quoted}`;
  };
  input.on('error', ({ message }) => void end(message));
  stdin.on('error', () => {});
  stdout.on('error', () => {});
  stdout.pipe(input);
  process.started.catch(() => {});
  void process.ended.then((phrase) => end(`it ${phrase}${quoteStderr()}`));
  connection.onError(() => void end('it sent something that is no message'));
  connection.onNotification((method, params) => handlers.onNotification(method, params));
  connection.onRequest((method, params) => handlers.onRequest(method, params));
  connection.onUnhandledNotification(() => {});
  connection.listen();
  return {
    ended: ended.promise,
    closed: aborted.signal,
    end,
    async request(method, params, signal) {
      const stop = AbortSignal.any([signal, aborted.signal]);
      stop.throwIfAborted();
      const source = new CancellationTokenSource();
      const removeListener = onAbort(signal, () => source.cancel());
      try {
        const response: Promise<unknown> = connection.sendRequest(method, params, source.token);
        return await rejectOnAbort(response, stop);
      } finally {
        removeListener();
      }
    },
    notify(method, params) {
      if (!aborted.signal.aborted) void connection.sendNotification(method, params).catch(() => {});
    },
  };
}
