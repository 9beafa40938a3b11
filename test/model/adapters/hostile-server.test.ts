import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createAdapter } from '../../../src/model/adapters/adapter.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import type { ModelPart } from '../../../src/protocol/model.ts';
import { adapterDeps, collect, failed, finished, listen, request, serve, sse } from './support.ts';
import { WIRES, type Wire } from './wires.ts';

type Pieces = readonly (string | Uint8Array)[];

function head(status: string, headers: readonly string[] = []): string {
  return [`HTTP/1.1 ${status}`, 'connection: close', ...headers, '', ''].join('\r\n');
}

const STREAM = 'content-type: text/event-stream';
const JSON_TYPE = 'content-type: application/json';
const CHUNKED = 'transfer-encoding: chunked';

/** What comes of a request that is answered with these bytes, whatever they are. */
async function answered(wire: Wire, pieces: Pieces): Promise<ModelPart[]> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // Who sends nonsense is hung up on.
    socket.on('error', () => {});
    socket.once('data', () => {
      for (const piece of pieces) socket.write(piece);
      socket.end();
    });
  });
  const baseUrl = `http://127.0.0.1:${await listen(server)}`;
  const endpoint = { name: 'test', baseUrl, apiKey: null };
  const model = { provider: 'test', id: wire.model, chain: [] };
  try {
    return await collect(
      createAdapter(wire.dialect, endpoint, adapterDeps()),
      request([userMessage('Hi')], { model }),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

/** Ways to send a whole answer that few servers take. */
const WHOLE: Readonly<Record<string, (body: string) => Pieces>> = {
  'after 100 and 103': (body) => [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n',
    head('200 OK', [STREAM]),
    body,
  ],
  'with trailers': (body) => [
    head('200 OK', [STREAM, CHUNKED, 'trailer: x-end']),
    `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\nx-end: 1\r\n\r\n`,
  ],
  'as gzip': (body) => [head('200 OK', [STREAM, 'content-encoding: gzip']), gzipSync(body)],
  'as deflate': (body) => [
    head('200 OK', [STREAM, 'content-encoding: Deflate']),
    deflateSync(body),
  ],
  'as brotli': (body) => [
    head('200 OK', [STREAM, 'content-encoding: br']),
    brotliCompressSync(body),
  ],
  'of no type': (body) => [head('200 OK'), body],
  'with zero bytes before it': (body) => [head('200 OK', [STREAM]), '\0\0\n\n', body],
};

/** What goes wrong otherwise, and what is made of it. */
const WRONG: readonly (readonly [string, Pieces, object])[] = [
  ['nothing that is HTTP', ['SSH-2.0-Server\r\n'], { kind: 'connect', retryable: true }],
  [
    'a change of protocol',
    [head('101 Switching Protocols', ['upgrade: websocket', 'connection: upgrade'])],
    { kind: 'connect', retryable: true },
  ],
  [
    'headers without end',
    [head('200 OK', [`x-long: ${'y'.repeat(100_000)}`])],
    { kind: 'connect', retryable: true },
  ],
  [
    'chunks that are none',
    [head('200 OK', [STREAM, CHUNKED]), 'zz\r\nabc'],
    { kind: 'connect', retryable: true },
  ],
  [
    'half of what is packed',
    [
      head('200 OK', [STREAM, 'content-encoding: gzip']),
      gzipSync('data: 1\n\n'.repeat(99)).subarray(0, 30),
    ],
    { retryable: true },
  ],
  [
    'another 2xx that breaks off',
    [head('201 Created', [STREAM, 'content-length: 99999']), ': hello\n\n'],
    { kind: 'connect', retryable: true },
  ],
  [
    'a web page in capitals',
    [head('200 OK', ['content-type: Text/HTML']), '<html>Log in</html>'],
    { kind: 'bad_request', retryable: false },
  ],
  [
    'an error as JSON under 200',
    [head('200 OK', [JSON_TYPE]), '{"error":{"message":"slow down","code":429}}'],
    {
      kind: 'rate_limit',
      retryable: true,
      status: 429,
      message: expect.stringContaining('slow down'),
    },
  ],
  [
    'a wrong key as JSON under 200',
    [head('200 OK', [JSON_TYPE]), '{"error":{"message":"no such key","code":401}}'],
    { kind: 'auth', retryable: false, status: 401 },
  ],
  [
    'JSON instead of a stream',
    [head('200 OK', [JSON_TYPE]), '{"id":"1","choices":[]}'],
    {
      kind: 'bad_request',
      retryable: false,
      message: expect.stringContaining('instead of a stream: {"id":"1"'),
    },
  ],
  [
    'a 400 whose reason breaks off',
    [head('400 Bad Request', [JSON_TYPE, 'content-length: 5000']), '{"error":{"message":"no such'],
    {
      kind: 'bad_request',
      retryable: false,
      status: 400,
      message: expect.stringContaining('no such'),
    },
  ],
  [
    'a 401 in chunks that are none',
    [head('401 Unauthorized', [CHUNKED]), 'zz\r\nabc'],
    { kind: 'auth', retryable: false, status: 401 },
  ],
  [
    'a packed 403',
    [head('403 Forbidden', [JSON_TYPE, 'content-encoding: gzip']), gzipSync('{"error":"go away"}')],
    { kind: 'auth', retryable: false, message: expect.stringContaining('go away') },
  ],
  [
    '304 without being asked',
    [head('304 Not Modified')],
    { kind: 'bad_request', retryable: false, status: 304 },
  ],
  [
    'a 429 with two times to wait',
    [head('429 Too Many Requests', ['retry-after: 5', 'retry-after: 60', 'content-length: 0'])],
    { kind: 'rate_limit', retryable: true, status: 429 },
  ],
];

/** A server that sends blanks as a text of no known kind until the client hangs up. */
function serveBlanks() {
  const blanks = Buffer.alloc(65_536, ' ');
  return serve((response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const send = (): void => {
      while (!response.destroyed && response.write(blanks));
    };
    response.on('drain', send);
    send();
  });
}

describe.each(WIRES)('over $name', (wire) => {
  it('blanks without end are stopped', async () => {
    await using server = await serveBlanks();
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: null };
    const model = { provider: 'test', id: wire.model, chain: [] };
    const parts = await collect(
      createAdapter(wire.dialect, endpoint, adapterDeps()),
      request([userMessage('Hi')], { model }),
    );
    expect(failed(parts)).toMatchObject({
      kind: 'too_large',
      retryable: false,
      message: expect.stringContaining('answer_event_bytes'),
    });
  });

  it.each(Object.keys(WHOLE))('an answer is accepted %s', async (name) => {
    const pieces = WHOLE[name]?.(sse(wire.answer)) ?? [];
    expect(finished(await answered(wire, pieces)).message).toEqual(wire.message);
  });

  it.each(WRONG)('%s', async (_, pieces, failure) => {
    expect(failed(await answered(wire, pieces))).toMatchObject(failure);
  });
});
