import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { deferred, onAbort } from '../../base/async.ts';
import { LoopQueue } from '../../base/loop-queue.ts';
import { byteLength } from '../../base/text.ts';
import { createFetchError, IncomingBody } from './response-body.ts';
import type { HttpRequest, HttpResponse, TrafficObserver } from './http-types.ts';
import { HeaderMap } from './header-map.ts';

interface HttpModule {
  readonly Agent: new (options: object) => Agent;
  request(url: URL, options: RequestOptions): ClientRequest;
}

/**
 * All idle connections are kept for as long as the server keeps them. By default an agent keeps at most 256 idle
 * connections and closes the rest, so that a thousand tasks whose answers end together would have to connect again.
 */
const AGENT_OPTIONS = {
  keepAlive: true,
  maxSockets: Infinity,
  maxFreeSockets: Infinity,
  scheduling: 'lifo',
};

/**
 * An HTTP client that keeps its connections open. It uses no proxy, follows no redirects, and has no time limit and
 * no limit on sockets.
 */
export class DirectClient {
  private readonly agents = new Map<string, Agent>();
  private readonly bodies = new LoopQueue();

  /**
   * Sends a request. Rejects like `fetch`: with a TypeError `fetch failed` that has a cause, or with the
   * signal's reason.
   */
  async fetch(
    url: URL,
    request: HttpRequest,
    observer: TrafficObserver | undefined,
  ): Promise<HttpResponse> {
    request.signal?.throwIfAborted();
    try {
      return await this.send(loadHttpModule(url), url, request, observer);
    } catch (thrown) {
      if (request.signal?.aborted === true) throw request.signal.reason;
      throw createFetchError(thrown);
    }
  }

  private async send(
    http: HttpModule,
    url: URL,
    { method = 'GET', headers = {}, body, signal }: HttpRequest,
    observer: TrafficObserver | undefined,
  ): Promise<HttpResponse> {
    const size = typeof body === 'string' ? byteLength(body) : body?.byteLength;
    const sent = http.request(url, {
      method,
      agent: this.agentFor(http, url),
      headers: size === undefined ? headers : { ...headers, 'content-length': size },
    });
    if (signal !== undefined) abortOnSignal(sent, signal);
    const answered = deferred<IncomingMessage>();
    sent.once('socket', (socket) => {
      const connected = () => observer?.connected?.();
      if (!socket.connecting) connected();
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
    });
    // A request that changes the protocol gets neither a response nor an error.
    const onClose = () => answered.reject(new Error('other side closed'));
    sent.once('close', onClose);
    sent.once('response', (message) => {
      // Every request is eventually closed, and creating an error for each of them would be slow.
      sent.off('close', onClose);
      answered.resolve(message);
    });
    sent.on('error', answered.reject);
    // ASCII text is the same in both encodings, and for UTF-8 Node would allocate a buffer of three times the size.
    if (typeof body === 'string') sent.end(body, size === body.length ? 'latin1' : 'utf8');
    else sent.end(body);
    return new DirectResponse(await answered.promise, this.bodies, observer);
  }

  private agentFor(http: HttpModule, url: URL): Agent {
    const known = this.agents.get(url.protocol);
    if (known !== undefined) return known;
    const agent = new http.Agent(AGENT_OPTIONS);
    this.agents.set(url.protocol, agent);
    return agent;
  }
}

/**
 * Aborts a request when the signal aborts. Node's own `signal` option does the same, but with a dozen listeners for
 * each request.
 */
function abortOnSignal(sent: ClientRequest, signal: AbortSignal): void {
  const removeListener = onAbort(signal, () => sent.destroy(abortError(signal.reason)));
  sent.once('close', removeListener);
}

function abortError(cause: unknown): Error {
  return Object.assign(new Error('The operation was aborted', { cause }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}

/**
 * Returns Node's module for a protocol. An `import` would run all getters of the module's exports, and one of them
 * loads all of `fetch`.
 */
function loadHttpModule({ protocol }: URL): HttpModule {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

class DirectResponse implements HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: HeaderMap;
  readonly body: IncomingBody;

  constructor(message: IncomingMessage, queue: LoopQueue, observer: TrafficObserver | undefined) {
    this.status = message.statusCode ?? 0;
    this.statusText = message.statusMessage ?? '';
    this.ok = this.status >= 200 && this.status < 300;
    this.headers = toHeaderMap(message.rawHeaders);
    this.body = new IncomingBody(decodeBody(message, this.headers), queue, observer);
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for (let piece = await this.body.read(); piece !== null; piece = await this.body.read()) {
      text += decoder.decode(piece, { stream: true });
    }
    return text + decoder.decode();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

/** Builds headers from a list of alternating names and values. */
function toHeaderMap(raw: readonly string[]): HeaderMap {
  const headers = new HeaderMap();
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '');
  return headers;
}

type Zlib = typeof import('node:zlib');

/** Decoders by content encoding. Requests never ask for compression, but some proxies compress anyway. */
const DECODERS: Readonly<Record<string, (zlib: Zlib) => Duplex>> = {
  gzip: (zlib) => zlib.createGunzip(),
  'x-gzip': (zlib) => zlib.createGunzip(),
  deflate: (zlib) => zlib.createInflate(),
  br: (zlib) => zlib.createBrotliDecompress(),
};

/**
 * Decodes the body. The encoding is read from `headers`, because Node builds the message's own headers anew for
 * each access.
 */
function decodeBody(message: IncomingMessage, headers: HeaderMap): Readable {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  const createDecoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (createDecoder === undefined) return message;
  // The pipeline passes the end and any error of the message on to the decoder, which is read.
  const { pipeline } = process.getBuiltinModule('node:stream');
  return pipeline(message, createDecoder(process.getBuiltinModule('node:zlib')), () => {});
}
