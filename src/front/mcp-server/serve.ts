import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Readable, Writable } from 'node:stream';
import type { Session } from '../../api/index.ts';
import { deferred } from '../../base/async.ts';
import { errorMessage } from '../../base/errors.ts';
import { createTaskServer, type TaskServerOptions } from './create-server.ts';
import { ClientMessageLines } from './message-lines.ts';
import { createServedClient } from './served-client.ts';

export interface ServeOptions extends TaskServerOptions {
  readonly input: Readable;
  /** The only stream on which the protocol is written. */
  readonly output: Writable;
  /** Called with one line for each message that could not be used. */
  readonly onNotice: (line: string) => void;
  /** Ends the server when it aborts. */
  readonly signal: AbortSignal;
}

/** The maximum size of one message of a client. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/**
 * Offers the agents of a session to an MCP client over a pair of streams, until the client closes its end. All tasks that it has
 * started are then stopped.
 */
export async function serveTasks(session: Session, options: ServeOptions): Promise<void> {
  const { input, output, onNotice, signal } = options;
  const closed = deferred<void>();
  const client = createServedClient(session, { areListed: true });
  const lines = new ClientMessageLines(MAX_MESSAGE_BYTES, ({ code, problem, id }) => {
    onNotice(`a message of the client: ${problem}`);
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: problem } })}\n`);
  });
  // One message is read at a time, with its line end.
  const maxBufferSize = MAX_MESSAGE_BYTES + 1;
  const transport = new StdioServerTransport(lines, output, { maxBufferSize });
  const handle = serveStdio(() => createTaskServer(session, client, options), {
    transport,
    onerror: (error) => onNotice(`a message of the client: ${errorMessage(error)}`),
  });
  const end = (): void => closed.resolve();
  const closeConnection = transport.onclose;
  transport.onclose = () => {
    closeConnection?.();
    end();
  };
  input.once('close', end);
  input.once('error', end);
  // A client may end its messages and still read the answers. The end reaches the transport after the last message.
  input.pipe(lines);
  signal.addEventListener('abort', end, { once: true });
  await closed.promise;
  await handle.close();
  client.asker.close();
  await session.stop({ by: 'client', because: 'the MCP client has gone' });
}
