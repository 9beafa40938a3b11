import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readPageFile } from '../../../src/front/web/page-files.ts';
import { PAGE_HEADERS } from '../../../src/front/web/responses.ts';
import {
  API_PATHS,
  type ChangeMessages,
  KEY_HEADER,
  type CompareReply,
  type DiffReply,
  type LoggedEvent,
  type Overview,
  type SearchReply,
  type StartForm,
  type TaskReportReply,
  type TimelineReply,
  type UsageReply,
} from '../../../src/front/web/wire.ts';

/** The data that a server of a test answers with. */
export interface FixtureData {
  overview: Overview;
  readonly events: Map<string, LoggedEvent[]>;
  readonly texts: Map<string, string>;
  readonly report: TaskReportReply;
  readonly diff: DiffReply;
  readonly timeline: TimelineReply;
  readonly usage: UsageReply;
  readonly compare: CompareReply;
  readonly search: (text: string) => SearchReply;
  readonly startForm: StartForm;
}

/** A request that the page has sent to change something. */
export interface SentRequest {
  readonly path: string;
  readonly body: unknown;
}

/** The key without which the server refuses to change anything. */
const KEY = 'hamster-key';
const PAGE = new URL('../../../dist/web/', import.meta.url);

/** A server with the protocol of `muster web`, whose data and interruptions a test decides. */
export class FixtureServer implements AsyncDisposable {
  readonly sent: SentRequest[] = [];
  /** The paths of all requests. */
  readonly paths: string[] = [];
  data: FixtureData;
  /** While it is true, requests for data end as if nobody listened. */
  isDown = false;
  /** While it is set, requests for data are refused as if the page had no cookie. */
  lockedOut: { readonly status: 401 | 403; readonly message: string } | null = null;
  /** The reply to the next POST; default: 200. */
  nextRefusal: { readonly status: number; readonly message: string } | null = null;
  /** Called before an event of a log is sent; returns false to cut the connection in its place. */
  onLogEvent: (seq: number) => boolean = () => true;
  private readonly server = createServer(
    (request, response) => void this.answer(request, response),
  );
  private readonly changes = new Set<ServerResponse>();
  private readonly logs = new Map<ServerResponse, { readonly id: string; next: number }>();
  private count = 0;

  constructor(data: FixtureData) {
    this.data = data;
  }

  async listen(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.server.listen(0, '127.0.0.1', resolve);
    await promise;
    return this.url;
  }

  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
  }

  /** The address that redirects to the page with its key. */
  get loginUrl(): string {
    return `${this.url}?token=any`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.server.close(() => resolve());
    this.server.closeAllConnections();
    await promise;
  }

  /** Reports a change to all pages. */
  change<K extends keyof ChangeMessages>(name: K, data: ChangeMessages[K]): void {
    this.count += 1;
    const text = `event: ${name}\nid: run:${this.count}\ndata: ${JSON.stringify(data)}\n\n`;
    this.history.push(text);
    for (const response of this.changes) response.write(text);
  }

  private readonly history: string[] = [];

  /** Adds events to a log, and sends them to the pages that follow it. */
  append(id: string, events: readonly LoggedEvent[]): void {
    const log = this.data.events.get(id) ?? [];
    this.data.events.set(id, log);
    for (const event of events) log.push(event);
    for (const [response, follower] of this.logs) {
      if (follower.id === id) this.sendLog(response, follower);
    }
  }

  /** The number of pages that follow a log. */
  get followers(): number {
    return this.logs.size;
  }

  /** Cuts all connections. */
  cut(): void {
    this.server.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    this.paths.push(url.pathname);
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    if (request.method === 'POST') await this.post(request, url.pathname, response);
    else if (url.searchParams.has('token')) {
      response.writeHead(303, { location: `/#key=${KEY}` }).end();
    } else if (!url.pathname.startsWith('/api/')) await this.file(url.pathname, response);
    else if (this.isDown) response.destroy();
    else if (this.lockedOut !== null) {
      refuse(response, this.lockedOut.status, this.lockedOut.message);
    } else this.get(url, request, response);
  }

  private async file(path: string, response: ServerResponse): Promise<void> {
    const file = await readPageFile(path === '/' ? 'index.html' : path.slice(1), PAGE);
    if (file === null) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': file.type }).end(file.bytes);
  }

  private get(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = url;
    const { data } = this;
    const [, , kind = '', id = '', part = '', seq = ''] = pathname.split('/');
    if (pathname === API_PATHS.overview) {
      json(response, { ...data.overview, cursor: `run:${this.count}` });
    } else if (pathname === API_PATHS.changes) {
      this.followChanges(searchParams.get('after') ?? '', request, response);
    } else if (pathname === API_PATHS.search)
      json(response, data.search(searchParams.get('q') ?? ''));
    else if (pathname === API_PATHS.compare) json(response, data.compare);
    else if (pathname === API_PATHS.start) json(response, data.startForm);
    else if (kind === 'timeline') json(response, data.timeline);
    else if (kind === 'usage') json(response, data.usage);
    else if (part === 'report') json(response, data.report);
    else if (part === 'diff') json(response, data.diff);
    else if (part === 'events' && seq !== '') {
      const text = data.texts.get(`${id} ${seq} ${searchParams.get('pointer')}`) ?? '';
      const from = Number(searchParams.get('from'));
      json(response, { text: text.slice(from, from + 16_384), from, length: text.length });
    } else if (part === 'events') this.followLog(id, searchParams.get('after'), response);
    else refuse(response, 404, `there is nothing at ${pathname}`);
  }

  private followChanges(after: string, request: IncomingMessage, response: ServerResponse): void {
    stream(response);
    for (const text of this.history.slice(Number(after.split(':')[1]))) response.write(text);
    this.changes.add(response);
    request.on('close', () => this.changes.delete(response));
  }

  private followLog(id: string, after: string | null, response: ServerResponse): void {
    stream(response);
    const seen = Number(after ?? -1);
    const log = this.data.events.get(id) ?? [];
    const follower = { id, next: log.filter(({ event }) => event.seq <= seen).length };
    this.logs.set(response, follower);
    response.on('close', () => this.logs.delete(response));
    this.sendLog(response, follower);
    if (this.logs.has(response)) {
      const seq = log[follower.next - 1]?.event.seq ?? -1;
      response.write(`event: live\ndata: {"seq":${seq}}\n\n`);
    }
  }

  private sendLog(response: ServerResponse, follower: { readonly id: string; next: number }): void {
    const log = this.data.events.get(follower.id) ?? [];
    for (const logged of log.slice(follower.next)) {
      const { seq } = logged.event;
      if (!this.onLogEvent(seq)) {
        // Cut after what was sent before, in the middle of an event.
        this.logs.delete(response);
        response.write(`event: log\nid: ${seq}\ndata: {"ev`, () => response.destroy());
        return;
      }
      response.write(`event: log\nid: ${seq}\ndata: ${JSON.stringify(logged)}\n\n`);
      follower.next += 1;
    }
  }

  private async post(
    request: IncomingMessage,
    path: string,
    response: ServerResponse,
  ): Promise<void> {
    if (request.headers[KEY_HEADER] !== KEY) {
      refuse(response, 403, 'the key of the page is missing: open the printed address again');
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    this.sent.push({ path, body: JSON.parse(Buffer.concat(chunks).toString()) });
    const refusal = this.nextRefusal;
    this.nextRefusal = null;
    if (refusal !== null) refuse(response, refusal.status, refusal.message);
    else if (path === API_PATHS.start) json(response, { id: this.data.overview.tasks[0]?.id });
    else json(response, { text: `done: ${path.split('/').at(-1)}` });
  }
}

function json(response: ServerResponse, value: unknown): void {
  response
    .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(value));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { code: 'CONFLICT', message } }));
}

function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.write('retry: 1000\n\n');
}
