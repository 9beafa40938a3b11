import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { deferred } from '../base/async.ts';
import { systemErrorCode } from '../base/errors.ts';
import type { HttpRequest, HttpResponse, TrafficObserver } from './http-types.ts';
import { PlainHeaders } from './plain-headers.ts';

interface HttpModule {
  readonly Agent: new (options: object) => Agent;
  request(url: URL, options: RequestOptions): ClientRequest;
}

/** Idle connections outlive a usual tool call; one that the server closed meanwhile is noticed. */
const AGENT_OPTIONS = { keepAlive: true, maxSockets: Infinity, scheduling: 'lifo' };

/** A client that keeps its connections: no proxy, no redirect, no time limit, no cap on sockets. */
export class DirectClient {
  private readonly agents = new Map<string, Agent>();

  /** Rejects as `fetch` does: a TypeError `fetch failed` with the cause, or the signal's reason. */
  async fetch(
    url: URL,
    request: HttpRequest,
    observer: TrafficObserver | undefined,
  ): Promise<HttpResponse> {
    request.signal?.throwIfAborted();
    const http = moduleFor(url);
    try {
      return await this.send(http, url, request, observer);
    } catch (thrown) {
      if (request.signal?.aborted === true) throw request.signal.reason;
      if (!(thrown instanceof StaleConnection)) throw failed(thrown);
    }
    // The server had closed the kept connection before it read anything.
    try {
      return await this.send(http, url, request, observer);
    } catch (thrown) {
      throw failed(thrown);
    }
  }

  private async send(
    http: HttpModule,
    url: URL,
    { method = 'GET', headers = {}, body, signal }: HttpRequest,
    observer: TrafficObserver | undefined,
  ): Promise<HttpResponse> {
    const content = body === undefined ? undefined : Buffer.from(body);
    const sent = http.request(url, {
      method,
      agent: this.agentFor(http, url),
      headers: content === undefined ? headers : { ...headers, 'content-length': content.length },
      ...(signal === undefined ? {} : { signal }),
    });
    const answered = deferred<IncomingMessage>();
    sent.once('socket', (socket) => {
      const connected = () => observer?.connected?.();
      if (!socket.connecting) connected();
      else socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
    });
    sent.once('response', answered.resolve);
    sent.on('error', (error) => {
      const stale = sent.reusedSocket && systemErrorCode(error) === 'ECONNRESET';
      answered.reject(stale ? new StaleConnection(error) : error);
    });
    sent.end(content);
    return new DirectResponse(await answered.promise, observer);
  }

  private agentFor(http: HttpModule, url: URL): Agent {
    const known = this.agents.get(url.protocol);
    if (known !== undefined) return known;
    const agent = new http.Agent(AGENT_OPTIONS);
    this.agents.set(url.protocol, agent);
    return agent;
  }
}

class StaleConnection extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Not by `import`, which runs every getter among a module's exports: one loads all of `fetch`. */
function moduleFor({ protocol }: URL): HttpModule {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

function failed(cause: unknown): Error {
  const reason = cause instanceof StaleConnection ? cause.cause : cause;
  return new TypeError('fetch failed', { cause: reason });
}

class DirectResponse implements HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: PlainHeaders;
  readonly body: ReadableStream<Uint8Array>;

  constructor(message: IncomingMessage, observer: TrafficObserver | undefined) {
    this.status = message.statusCode ?? 0;
    this.statusText = message.statusMessage ?? '';
    this.ok = this.status >= 200 && this.status < 300;
    this.headers = new PlainHeaders(pairs(message.rawHeaders));
    this.body = bodyOf(message, observer);
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    const reader = this.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true });
    }
    return text + decoder.decode();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

function* pairs(raw: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] ?? '', raw[at + 1] ?? ''];
}

/** The body as a web stream: read as fast as it is taken; an end before its end is an error. */
function bodyOf(
  message: IncomingMessage,
  observer: TrafficObserver | undefined,
): ReadableStream<Uint8Array> {
  let over = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (finish: () => void) => {
        if (over) return;
        over = true;
        finish();
      };
      message.on('data', (chunk: Buffer) => {
        observer?.bytes?.();
        if (over) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) message.pause();
      });
      message.once('end', () => end(() => controller.close()));
      message.on('error', (error) => end(() => controller.error(failed(error))));
      message.once('close', () => {
        end(() => controller.error(failed(new Error('other side closed'))));
      });
    },
    pull: () => void message.resume(),
    cancel: () => {
      over = true;
      message.destroy();
    },
  });
}
