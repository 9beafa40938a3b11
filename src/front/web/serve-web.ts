import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Session, Tasks } from '../../api/index.ts';
import { onAbort } from '../../base/async.ts';
import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import type { HttpAddress } from '../../sys/http/http-address.ts';
import { toUrlHost } from '../../sys/http/http-address.ts';
import { listen } from '../../sys/http/listen.ts';
import { sendResponse, toWebRequest } from '../../sys/http/node-exchange.ts';
import { WebGate, type Admission, type KnockingRequest } from './gate.ts';
import { OverviewFeed } from './overview-feed.ts';
import { PAGE_DIRECTORY } from './page-files.ts';
import { errorResponse, PAGE_HEADERS, refusal } from './responses.ts';
import { createRoutes, type RequestConnection } from './routes.ts';
import { TaskActions } from './task-actions.ts';
import { KEY_HEADER, type WebQuestion } from './wire.ts';

export interface ServeWebOptions {
  readonly tasks: Tasks;
  /** Opens the session in which tasks start or continue that no other process works on. Called at most once. */
  readonly openSession: () => Promise<Session>;
  /** Called with each question that is new. */
  readonly onAsked: (question: WebQuestion) => void;
  readonly address: HttpAddress;
  /** True if the next ports are tried when the port is in use. */
  readonly triesNextPorts: boolean;
  /**
   * Called when the server listens. `url` has the token, and `ticketUrl` a token that can be used once, within a minute, for
   * the program that opens the page.
   */
  readonly onListening: (urls: { readonly url: string; readonly ticketUrl: string }) => void;
  /** Called with one line for each problem that does not stop the server. */
  readonly onNotice: (line: string) => void;
  /** Ends the server when it aborts. */
  readonly signal: AbortSignal;
  /** The directory with the files of the page. Default: that of the build. */
  readonly pageDirectory?: URL;
}

/** The number of ports that are tried one after the other. */
const TRIED_PORTS = 20;
/** The time for the headers and the body of a request. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Answers an admitted request. */
type Answer = (request: Request, connection: RequestConnection) => Response | Promise<Response>;

/**
 * Serves the page with all tasks of a data directory until the signal aborts. Rejects with MusterError `CONFLICT` if the
 * address cannot be used.
 */
export async function serveWeb(options: ServeWebOptions): Promise<void> {
  const { tasks, address, onAsked, onListening, onNotice, signal } = options;
  const ending = new AbortController();
  const feed = new OverviewFeed({ tasks, onNotice, onAsked });
  const { questions } = feed;
  let session: Promise<Session> | null = null;
  const openSession = (): Promise<Session> =>
    (session ??= options.openSession().catch((thrown: unknown) => {
      // The configuration may be right at the next attempt.
      session = null;
      throw thrown;
    }));
  const routes = createRoutes({
    tasks,
    feed,
    actions: new TaskActions({ tasks, questions, openSession, onNotice }),
    pageDirectory: options.pageDirectory ?? PAGE_DIRECTORY,
    onNotice,
  });
  const answer: Answer = (request, connection) => routes.fetch(request, connection);
  let gate: WebGate | null = null;
  const server = createServer((incoming, outgoing) => {
    if (gate === null) outgoing.destroy();
    else void exchange(incoming, outgoing, { gate, answer, onNotice });
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  try {
    await feed.begin(ending.signal);
    const port = await listenOnPorts(server, options);
    gate = new WebGate({ ...address, port });
    const home = `http://${toUrlHost(address.host)}:${port}/`;
    const toUrl = (token: string) => `${home}?token=${token}`;
    onListening({ url: toUrl(gate.token), ticketUrl: toUrl(gate.createTicket()) });
    await new Promise<void>((resolve) => {
      onAbort(signal, resolve);
    });
  } finally {
    ending.abort();
    server.close();
    server.closeAllConnections();
  }
}

/** Resolves to the port on which the server listens: the given one or, if it is in use, one of the next ones. */
async function listenOnPorts(
  server: Server,
  { address, triesNextPorts }: ServeWebOptions,
): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await listen(server, { ...address, port: address.port + tries }, '--port');
    } catch (thrown) {
      const { cause } = thrown as MusterError;
      const isInUse = systemErrorCode(cause) === 'EADDRINUSE';
      if (!triesNextPorts || !isInUse || tries === TRIED_PORTS) throw thrown;
    }
  }
}

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  {
    gate,
    answer,
    onNotice,
  }: { readonly gate: WebGate; readonly answer: Answer } & Pick<ServeWebOptions, 'onNotice'>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  for (const [name, value] of Object.entries(PAGE_HEADERS)) outgoing.setHeader(name, value);
  const { url = '' } = incoming;
  try {
    const admission = PATH.test(url)
      ? gate.admit(toKnockingRequest(incoming, url))
      : ({ kind: 'refused', status: 400, message: 'the path of the request is invalid' } as const);
    const connection = { disconnect: () => void outgoing.destroy() };
    const serve = () => answer(toWebRequest(incoming, gone.signal), connection);
    await sendResponse(await respond(admission, serve), outgoing);
  } catch (thrown) {
    if (gone.signal.aborted) return;
    onNotice(`a request of the page failed: ${errorMessage(thrown)}`);
    if (outgoing.headersSent) outgoing.destroy();
    else
      await sendResponse(refusal(500, 'the request failed; muster web has printed why'), outgoing);
  }
}

/** Matches a path, and no address with another host. */
const PATH = /^\/(?![/\\])[\x21-\x7e]*$/;

function toKnockingRequest(
  { method = 'GET', headers }: IncomingMessage,
  url: string,
): KnockingRequest {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const readHeader = (name: string): string | null => {
    const value = headers[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    method,
    path: pathname,
    token: searchParams.get('token'),
    host: headers.host ?? null,
    origin: headers.origin ?? null,
    fetchSite: readHeader('sec-fetch-site'),
    cookie: headers.cookie ?? null,
    authorization: headers.authorization ?? null,
    contentType: headers['content-type'] ?? null,
    key: readHeader(KEY_HEADER),
  };
}

async function respond(
  admission: Admission,
  serve: () => Response | Promise<Response>,
): Promise<Response> {
  switch (admission.kind) {
    case 'refused':
      return refusal(admission.status, admission.message);
    case 'login': {
      const headers = { location: admission.location, 'set-cookie': admission.cookie };
      return new Response(null, { status: 303, headers });
    }
    case 'served':
      try {
        return await serve();
      } catch (thrown) {
        if (thrown instanceof MusterError) return errorResponse(thrown);
        throw thrown;
      }
  }
}
