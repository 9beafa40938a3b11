import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import type { AdapterDeps } from '../../../src/model/adapters/adapter.ts';
import type { Message } from '../../../src/protocol/message.ts';
import type { ModelPart, ModelRequest } from '../../../src/protocol/model.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Connections made so far. */
  readonly connections: () => number;
}

export type Respond = (
  response: ServerResponse,
  seen: SeenRequest,
  index: number,
) => void | Promise<void>;

/** A server on 127.0.0.1 that keeps what it was sent. */
export async function serve(respond: Respond): Promise<TestServer> {
  const requests: SeenRequest[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const seen: SeenRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    const index = requests.push(seen) - 1;
    await respond(response, seen, index);
  });
  server.on('connection', () => (connections += 1));
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    [Symbol.asyncDispose]: () => close(server),
  };
}

export async function listen(server: Server | import('node:net').Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

export async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** Events as SSE; a string goes out as it is, with its own name line where the protocol has one. */
export function sse(events: readonly unknown[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return event;
      const type = (event as { type?: string }).type;
      const name = type === undefined ? '' : `event: ${type}\n`;
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

export function answerWith(events: readonly unknown[]): Respond {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse(events));
  };
}

export function refuseWith(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Respond {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

export function adapterDeps(): AdapterDeps {
  return {
    fetch: createHttpFetch({}),
    clock: systemClock,
    deadlines: new Deadlines(systemClock),
    version: '1.2.3',
  };
}

export function request(
  messages: readonly Message[],
  overrides: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    model: { provider: 'test', id: 'claude-sonnet-5', chain: [] },
    prefix: {
      system: ['You are Muster.', 'Task: look around'],
      tools: [
        { name: 'Read', description: 'Reads.', inputSchema: READ_SCHEMA },
        { name: 'Glob', description: 'Finds.', inputSchema: { type: 'object', properties: {} } },
      ],
    },
    messages,
    toolChoice: 'auto',
    ...overrides,
  };
}

export const READ_SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer' } },
  required: ['path'],
  additionalProperties: false,
};

export async function collect(
  port: { stream(asked: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> },
  asked: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of port.stream(asked, signal)) parts.push(part);
  return parts;
}

/** The parts that carry something; pings come and go with the packages. */
export function withoutPings(parts: readonly ModelPart[]): ModelPart[] {
  return parts.filter((part) => part.type !== 'ping');
}

export function finished(parts: readonly ModelPart[]): Extract<ModelPart, { type: 'finished' }> {
  const last = parts.at(-1);
  if (last?.type !== 'finished') throw new Error(`not finished: ${JSON.stringify(last)}`);
  return last;
}

export function failed(
  parts: readonly ModelPart[],
): Extract<ModelPart, { type: 'failed' }>['failure'] {
  const last = parts.at(-1);
  if (last?.type !== 'failed') throw new Error(`not failed: ${JSON.stringify(last)}`);
  return last.failure;
}
