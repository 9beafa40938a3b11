import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  PARSE_ERROR,
  readRequestBody,
} from '@modelcontextprotocol/server';
import type { Session } from '../../../api/index.ts';
import { onAbort } from '../../../base/async.ts';
import { errorMessage } from '../../../base/errors.ts';
import { isLoopback, toUrlHost, type HttpAddress } from '../../../sys/http/http-address.ts';
import { listen } from '../../../sys/http/listen.ts';
import { sendResponse, toWebRequest } from '../../../sys/http/node-exchange.ts';
import { createTaskServer, type TaskServerOptions } from '../create-server.ts';
import { createServedClient } from '../served-client.ts';
import { ClientSessions } from './client-sessions.ts';
import { createGate, MCP_PATH } from './gate.ts';
import { refuse } from './refuse.ts';

export interface ServeHttpOptions extends TaskServerOptions {
  readonly address: HttpAddress;
  /** The token that each request must have. */
  readonly token: string;
  /** Called with the address of the server when it listens. */
  readonly onListening: (url: string) => void;
  /** Called with one line for each message that could not be used. */
  readonly onNotice: (line: string) => void;
  /** Ends the server when it aborts. */
  readonly signal: AbortSignal;
  /** The maximum number of sessions of clients. Default: 64. */
  readonly maxSessions?: number;
  /** The time after which a session ends that nothing uses. Default: one hour. */
  readonly idleMs?: number;
}

const MAX_SESSIONS = 64;
const IDLE_MS = 60 * 60 * 1000;
/** The maximum size of the body of a request, which is that of a message over stdio as well. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Answers a web request. `send` resolves when the response is sent or the client has gone. */
type AnswerRequest = (
  request: Request,
  send: (response: Response) => Promise<void>,
) => Promise<void>;

/**
 * Offers the agents of a session to MCP clients over HTTP, until the signal aborts. All tasks are then stopped. Rejects with
 * MusterError `CONFLICT` if the address cannot be used.
 */
export async function serveTasksOverHttp(
  session: Session,
  options: ServeHttpOptions,
): Promise<void> {
  const { address, onListening, onNotice, signal } = options;
  const { maxSessions = MAX_SESSIONS, idleMs = IDLE_MS } = options;
  const sessions = new ClientSessions(session, { ...options, maxSessions, idleMs });
  // Clients of the newest revision have no sessions, so all of them share their tasks, and reach each only by its id.
  const shared = createServedClient(session, { areListed: false });
  const handler = createMcpHandler(() => createTaskServer(session, shared, options), {
    legacy: 'reject',
    // A stream shows signs of life while a task is at work.
    responseMode: 'sse',
    onerror: (error) => onNotice(`a message of a client: ${errorMessage(error)}`),
  });
  const gate = createGate(address, options.token);
  const answer: AnswerRequest = async (request, send) => {
    const refused = await gate(request);
    if (refused !== null) {
      await send(refused);
      return;
    }
    const body = await readBody(request);
    if (body instanceof Response) await send(body);
    else if (await isLegacyRequest(request, body)) await sessions.answer(request, body, send);
    else await send(await handler.fetch(request, { parsedBody: body }));
  };
  const server = createServer(
    (incoming, outgoing) => void exchange(incoming, outgoing, { answer, onNotice }),
  );
  if (!isLoopback(address)) {
    onNotice(
      `other machines reach ${address.host}, and nothing encrypts the token and the tasks on the way. Listen on 127.0.0.1 behind a tunnel or a proxy with TLS instead`,
    );
  }
  try {
    const port = await listen(server, address, '--http');
    onListening(`http://${toUrlHost(address.host)}:${port}${MCP_PATH}`);
    await new Promise<void>((resolve) => {
      onAbort(signal, resolve);
    });
  } finally {
    server.close();
    await Promise.all([sessions.close(), handler.close()]);
    shared.asker.close();
    server.closeAllConnections();
    await session.stop({ by: 'client', because: 'the MCP server has ended' });
  }
}

/** Reads and parses the body of a POST. Returns undefined if the request has none, or the response that refuses it. */
async function readBody(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined;
  if (!isJsonContentType(request.headers.get('content-type')))
    return refuse(415, 'The header Content-Type must be application/json.');
  const read = await readRequestBody(request, MAX_BODY_BYTES);
  if (read.tooLarge)
    return refuse(
      413,
      `The body of the request has more than ${MAX_BODY_BYTES} bytes, which is the limit.`,
    );
  try {
    return JSON.parse(read.text) as unknown;
  } catch (thrown) {
    return refuse(400, `The body is not valid JSON: ${errorMessage(thrown)}`, PARSE_ERROR);
  }
}

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { answer, onNotice }: { readonly answer: AnswerRequest } & Pick<ServeHttpOptions, 'onNotice'>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const send = async (response: Response): Promise<void> => await sendResponse(response, outgoing);
  try {
    const request = toWebRequest(incoming, gone.signal);
    await answer(request, send);
  } catch (thrown) {
    if (gone.signal.aborted) return;
    onNotice(`a request of a client: ${errorMessage(thrown)}`);
    if (outgoing.headersSent) outgoing.destroy();
    else await send(refuse(400, 'The request could not be read.'));
  }
}
