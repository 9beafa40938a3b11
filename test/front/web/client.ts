import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { KEY_HEADER } from '../../../src/front/web/wire.ts';

/** A running server of the page, and the cookie and the key of a browser that has opened it. */
export interface PageServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly token: string;
  readonly cookie: string;
  readonly key: string;
}

export interface SentRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with exactly these headers besides `Host`, which they can replace. */
export async function send(
  origin: string,
  { method = 'GET', path, headers = {}, body }: SentRequest,
): Promise<Received> {
  const response = await open(origin, {
    method,
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const isZipped = response.headers['content-encoding'] === 'gzip';
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: (isZipped ? gunzipSync(bytes) : bytes).toString('utf8'),
  };
}

function open(
  origin: string,
  { method = 'GET', path, headers = {}, body }: SentRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const sent = request({ host: hostname, port, method, path, headers, agent: false }, resolve);
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Opens the address that `muster web` prints, as a browser does. */
export async function logIn(url: string): Promise<PageServer> {
  const { origin, searchParams, pathname, search } = new URL(url);
  const { status, headers } = await send(origin, { path: `${pathname}${search}` });
  const [cookie = ''] = headers['set-cookie'] ?? [];
  const key = /^\/#key=([\w-]+)$/.exec(headers.location ?? '')?.[1];
  if (status !== 303 || cookie === '' || key === undefined) throw new Error(`no login: ${status}`);
  const token = searchParams.get('token') ?? '';
  return { origin, token, cookie: cookie.split(';')[0] ?? '', key };
}

export async function getJson<T>(server: PageServer, path: string): Promise<T> {
  const { status, body } = await send(server.origin, {
    path,
    headers: { cookie: server.cookie, 'accept-encoding': 'gzip' },
  });
  if (status !== 200) throw new Error(`${status} ${body}`);
  return JSON.parse(body) as T;
}

/** Sends a POST as the page does. */
export function post(server: PageServer, path: string, body: object): Promise<Received> {
  return send(server.origin, {
    method: 'POST',
    path,
    headers: {
      cookie: server.cookie,
      origin: server.origin,
      'sec-fetch-site': 'same-origin',
      [KEY_HEADER]: server.key,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
}

/** A message of a stream of events. */
export interface StreamedMessage {
  readonly event: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** A client of a stream of events, which notes each message. */
export class StreamClient {
  readonly messages: StreamedMessage[] = [];
  readonly #response: IncomingMessage;
  /** Resolves when the stream has ended, for whatever reason. */
  readonly ended: Promise<void>;
  #waiting = Promise.withResolvers<void>();
  #listener: ((message: StreamedMessage) => void) | null = null;

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.ended = new Promise((resolve) => {
      response.once('close', resolve);
      response.once('error', () => resolve());
    });
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) this.#add(part);
    });
  }

  /** @param lastId the id of the last message that was read, as a browser sends it when it connects again */
  static async open(server: PageServer, path: string, lastId: string | null = null) {
    const headers = {
      cookie: server.cookie,
      ...(lastId === null ? {} : { 'last-event-id': lastId }),
    };
    const response = await open(server.origin, { path, headers });
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    return new StreamClient(response);
  }

  get lastId(): string | null {
    return this.messages.findLast(({ id }) => id !== null)?.id ?? null;
  }

  /** Resolves to the first message that fits, now or later. Rejects if the stream ends before. */
  async find(fits: (message: StreamedMessage) => boolean): Promise<StreamedMessage> {
    for (;;) {
      const found = this.messages.find(fits);
      if (found !== undefined) return found;
      const news = this.#waiting.promise.then(() => true);
      if (!(await Promise.race([news, this.ended.then(() => false)])) && !this.messages.some(fits))
        throw new Error('the stream has ended');
    }
  }

  /** Calls the listener with each message, those that have come already first. */
  onMessage(listener: (message: StreamedMessage) => void): void {
    for (const message of this.messages) listener(message);
    this.#listener = listener;
  }

  /** Cuts the connection. */
  cut(): void {
    this.#response.socket.destroy();
  }

  #add(part: string): void {
    const fields = new Map(
      part.split('\n').map((line) => {
        const at = line.indexOf(': ');
        return [line.slice(0, at), line.slice(at + 2)];
      }),
    );
    const event = fields.get('event');
    if (event === undefined) return;
    const data: unknown = JSON.parse(fields.get('data') ?? '');
    const message = { event, id: fields.get('id') ?? null, data };
    this.messages.push(message);
    this.#listener?.(message);
    this.#waiting.resolve();
    this.#waiting = Promise.withResolvers();
  }
}
