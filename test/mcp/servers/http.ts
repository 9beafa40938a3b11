import { createMcpHandler } from '@modelcontextprotocol/server';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, type Writable } from 'node:stream';
import { onTestFinished } from 'vitest';

/** A request that a server has received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

/** A server for HTTP in this process. */
export interface HttpServer {
  readonly url: string;
  readonly requests: ReceivedRequest[];
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Starts a server that ends with the test. */
export async function startHttpServer(handle: Handler): Promise<HttpServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, path: url, headers });
    void (async () => handle(request, response))();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
}

/** Starts the server of `everything.mjs` over streamable HTTP, in both revisions. */
export async function startStreamingServer(
  options: { readonly before?: Handler } = {},
): Promise<HttpServer> {
  const { createServer: createEverything } = (await import('./everything.mjs' as string)) as {
    createServer: () => never;
  };
  const handler = createMcpHandler(createEverything);
  return await startHttpServer(async (request, response) => {
    await options.before?.(request, response);
    if (response.headersSent || response.destroyed) return;
    const url = `http://127.0.0.1${request.url ?? ''}`;
    const body = request.method === 'POST' ? (Readable.toWeb(request) as ReadableStream) : null;
    const headers = Object.entries(request.headers).map(
      ([name, value]) => [name, String(value)] as [string, string],
    );
    const init = { method: request.method ?? 'GET', headers, body, duplex: 'half' };
    const answer = await handler.fetch(new Request(url, init as RequestInit));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else Readable.fromWeb(answer.body as never).pipe(response);
  });
}

/** Starts a server of the old transport: a stream of events, and a path for messages. */
export async function startSseServer(): Promise<HttpServer> {
  const streams = new Map<string, ServerResponse>();
  return await startHttpServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (request.method === 'GET' && url.pathname === '/sse') {
      const id = randomUUID();
      streams.set(id, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: /message?id=${id}\n\n`);
      return;
    }
    const stream = streams.get(url.searchParams.get('id') ?? '');
    if (request.method !== 'POST' || stream === undefined) {
      response.writeHead(url.pathname === '/sse' ? 405 : 404).end();
      return;
    }
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    response.writeHead(202).end();
    const { id, method, params } = JSON.parse(text) as {
      id?: number;
      method: string;
      params?: { name?: string };
    };
    if (id === undefined) return;
    if (params?.name === 'hang-up') {
      stream.destroy();
      return;
    }
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        serverInfo: { name: 'old', version: '1' },
      },
      'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'over SSE' }] },
    };
    stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })}\n\n`);
  });
}

/** A server over HTTP that carries its calls out as tasks. */
export interface TaskServer extends HttpServer {
  /** Ends the process behind the server and starts another one, in which running requests get no answer. */
  readonly restart: () => void;
}

/** Serves `tasks.mjs` over streamable HTTP without sessions. `env`: its variables. */
export async function startTaskServer(
  env: Readonly<Record<string, string>> = {},
): Promise<TaskServer> {
  /** The requests that wait, by the id that they have in the process. */
  const waiting = new Map<number, WaitingRequest>();
  let last = 0;
  const start = (): ChildProcessByStdio<Writable, Readable, null> => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'tasks.mjs')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    });
    createInterface({ input: child.stdout }).on('line', (line) => deliver(waiting, line));
    return child;
  };
  let child = start();
  const stop = (): void => {
    child.kill('SIGKILL');
    for (const { response } of waiting.values()) response.destroy();
    waiting.clear();
  };
  onTestFinished(stop);
  const server = await startHttpServer(async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const message = JSON.parse(text) as RpcMessage;
    if (message.method === undefined || message.id === undefined) {
      child.stdin.write(`${text}\n`);
      response.writeHead(202).end();
      return;
    }
    last += 1;
    waiting.set(last, { id: message.id, response, task: message.params?.taskId });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    child.stdin.write(`${JSON.stringify({ ...message, id: last })}\n`);
  });
  const restart = (): void => {
    stop();
    child = start();
  };
  return { ...server, restart };
}

interface RpcMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly taskId?: string };
}

interface WaitingRequest {
  readonly id: number | string;
  readonly response: ServerResponse;
  /** The task that the request is about. */
  readonly task: string | undefined;
}

/** Sends a message of the process to the request that it belongs to. */
function deliver(waiting: Map<number, WaitingRequest>, line: string): void {
  const message = JSON.parse(line) as RpcMessage;
  const send = ({ response }: WaitingRequest, sent: object) =>
    response.write(`data: ${JSON.stringify(sent)}\n\n`);
  if (message.method !== undefined) {
    // A question of a task comes with the request for its result.
    const owner = [...waiting.values()].findLast(({ task }) => task === message.id);
    if (owner !== undefined) send(owner, message);
    return;
  }
  const request = waiting.get(Number(message.id));
  if (request === undefined) return;
  waiting.delete(Number(message.id));
  send(request, { ...message, id: request.id });
  request.response.end();
}
