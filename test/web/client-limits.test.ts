import type { Socket } from 'node:net';
import zlib from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MusterError } from '../../src/base/errors.ts';
import { listen, serve } from '../model/adapters/support.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import {
  expectError,
  makeClient,
  makeRequest,
  rawResponse,
  shown,
  startRawServer,
  type RawServer,
} from './support.ts';
import { createServer } from 'node:http';

/** Writes a text again and again until the connection is closed. */
function writeForever(socket: Socket, text: string | Buffer, everyMs = 0): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once('close', () => clearInterval(timer));
}

function urlOf({ port }: RawServer): string {
  return `http://site.example:${port}/`;
}

async function expectClosed({ sockets }: RawServer): Promise<void> {
  await waitUntilPasses(() => expect(sockets.map(({ closed }) => closed)).not.toContain(false));
}

const SHORT = { totalMs: 300 };
const OK = 'HTTP/1.1 200 OK\r\n';

describe('the time limit', () => {
  it.each<readonly [what: string, answer: (socket: Socket) => void]>([
    ['says nothing', () => {}],
    [
      'drips its headers',
      (socket) => {
        socket.write(`${OK}X: `);
        writeForever(socket, 'y', 20);
      },
    ],
    [
      'drips complete headers',
      (socket) => {
        socket.write(OK);
        writeForever(socket, 'X: y\r\n', 20);
      },
    ],
    [
      'sends only preliminary answers',
      (socket) => writeForever(socket, 'HTTP/1.1 102 Processing\r\n\r\n', 5),
    ],
    [
      'drips a body',
      (socket) => {
        socket.write(`${OK}Content-Length: 100000\r\n\r\n`);
        writeForever(socket, 'x', 20);
      },
    ],
    [
      'drips a body in chunks',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
        writeForever(socket, '1\r\nx\r\n', 20);
      },
    ],
    [
      'drips compressed data',
      (socket) => {
        socket.write(`${OK}Content-Encoding: gzip\r\n\r\n`);
        writeForever(socket, zlib.gzipSync('x'), 20);
      },
    ],
    ['sends half of a body', (socket) => socket.write(`${OK}Content-Length: 10\r\n\r\nhalf`)],
  ])('ends a request to a server that %s', async (_, answer) => {
    await using server = await startRawServer(answer);
    const sent = makeClient({ limits: SHORT }).send(makeRequest(urlOf(server)));
    expect(shown(await expectError(sent), server.port)).toEqual([
      'TIMEOUT',
      'http://site.example:PORT/: the answer was not complete after 300 ms, the limit of a request',
    ]);
    await expectClosed(server);
  });

  it('includes redirects and waits', async () => {
    await using server = await startRawServer((socket, index) => {
      if (index === 0) socket.end(rawResponse('302 Found', ['Location: /next']));
    });
    const sent = makeClient({ limits: SHORT }).send(makeRequest(urlOf(server)));
    expect((await expectError(sent)).code).toBe('TIMEOUT');
    await using busy = await startRawServer((socket) =>
      socket.end(rawResponse('503 Busy', ['Retry-After: 1'])),
    );
    const waiting = makeClient({ limits: SHORT }).send(makeRequest(urlOf(busy)));
    expect([(await expectError(waiting)).code, busy.connections()]).toEqual(['LIMIT_EXCEEDED', 1]);
  });

  it('of a connection ends a handshake that does not come to an end', async () => {
    await using server = await startRawServer();
    const client = makeClient({ limits: { connectMs: 200 } });
    const error = await expectError(
      client.send(makeRequest(`https://site.example:${server.port}/`)),
    );
    expect(shown(error, server.port)).toEqual([
      'TIMEOUT',
      'https://site.example:PORT/: no connection was established in time (UND_ERR_CONNECT_TIMEOUT)',
    ]);
    await expectClosed(server);
  });

  it('of a connection ends a resolver that does not answer', async () => {
    const resolve = () => new Promise<never>(() => {});
    const client = makeClient({ resolve, limits: { connectMs: 50 } });
    expect(shown(await expectError(client.send(makeRequest('http://site.example/'))))).toEqual([
      'TIMEOUT',
      'http://site.example/: the host site.example could not be resolved in time; the machine may be offline',
    ]);
  });
});

describe('the size limit', () => {
  const limits = { bodyBytes: 10_000 };

  it.each<readonly [what: string, answer: (socket: Socket) => void]>([
    [
      'without a length',
      (socket) => {
        socket.write(`${OK}\r\n`);
        writeForever(socket, 'x'.repeat(5_000));
      },
    ],
    [
      'in chunks',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
        writeForever(socket, `1388\r\n${'x'.repeat(5_000)}\r\n`);
      },
    ],
    [
      'with a huge length',
      (socket) => {
        socket.write(`${OK}Content-Length: 99999999999\r\n\r\n`);
        writeForever(socket, 'x'.repeat(5_000));
      },
    ],
  ])('cuts an endless body %s', async (_, answer) => {
    await using server = await startRawServer(answer);
    const got = await makeClient({ limits }).send(makeRequest(urlOf(server)));
    expect([got.body.length, got.isCut]).toEqual([10_000, true]);
    await expectClosed(server);
  });

  it.each([
    ['gzip', zlib.gzipSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
    ['deflate', zlib.deflateSync],
  ] as const)('cuts a bomb of %s', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(20_000_000));
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(bomb);
    });
    const got = await makeClient({ limits }).send(makeRequest(server.url));
    expect([got.body.length, got.isCut]).toEqual([10_000, true]);
  });

  it('counts compressed data that becomes no text', async () => {
    await using server = await startRawServer((socket) => {
      socket.write(`${OK}Content-Encoding: gzip\r\n\r\n`);
      writeForever(socket, Buffer.concat(Array.from({ length: 100 }, () => zlib.gzipSync(''))));
    });
    const got = await makeClient({ limits }).send(makeRequest(urlOf(server)));
    expect([got.body.length, got.isCut]).toEqual([0, true]);
    await expectClosed(server);
  });

  it.each<readonly [what: string, answer: (socket: Socket) => void]>([
    ['one large header', (socket) => socket.write(`${OK}X: ${'a'.repeat(70_000)}\r\n\r\n`)],
    [
      'endless headers',
      (socket) => {
        socket.write(OK);
        writeForever(socket, `X: ${'a'.repeat(1_000)}\r\n`);
      },
    ],
    [
      'endless trailers',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`);
        writeForever(socket, `X: ${'a'.repeat(1_000)}\r\n`);
      },
    ],
  ])('ends a request that gets %s', async (_, answer) => {
    await using server = await startRawServer(answer);
    const sent = makeClient().send(makeRequest(urlOf(server)));
    expect(shown(await expectError(sent), server.port)).toEqual([
      'LIMIT_EXCEEDED',
      'http://site.example:PORT/: the headers of the answer are larger than the limit (UND_ERR_HEADERS_OVERFLOW)',
    ]);
    await expectClosed(server);
  });
});

describe('a malformed answer', () => {
  const NOT_HTTP = /: the answer of the server is not valid HTTP \(\w+\)$/;
  const NOT_COMPLETE = /: the connection ended before the answer was complete \(\w+\)$/;
  it.each<readonly [what: string, answer: string | Buffer, message: RegExp]>([
    ['nothing', '', NOT_COMPLETE],
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n', NOT_HTTP],
    ['binary data', Buffer.from([0, 1, 2, 3, 255]), NOT_HTTP],
    ['HTTP/0.9', '<html>hello</html>', NOT_HTTP],
    ['half of the headers', `${OK}X: y`, NOT_COMPLETE],
    ['a short body', `${OK}Content-Length: 10\r\n\r\nshort`, NOT_COMPLETE],
    ['a negative length', `${OK}Content-Length: -1\r\n\r\n`, NOT_HTTP],
    ['a length that is no number', `${OK}Content-Length: ten\r\n\r\n`, NOT_HTTP],
    ['two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, NOT_COMPLETE],
    [
      'a length and chunks',
      `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
      NOT_COMPLETE,
    ],
    ['a broken chunk', `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, NOT_HTTP],
    ['half of a chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nab`, NOT_COMPLETE],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n', NOT_HTTP],
    ['a header with a NUL', `${OK}X: a\0b\r\n\r\n`, NOT_HTTP],
    [
      'an unknown encoding',
      rawResponse('200 OK', ['Content-Encoding: exi'], 'x'),
      /: the body has the encoding "exi", which is not supported$/,
    ],
    [
      'a doubled encoding',
      rawResponse('200 OK', ['Content-Encoding: gzip', 'Content-Encoding: gzip'], 'x'),
      /: the body has the encoding "gzip, gzip", which is not supported$/,
    ],
    [
      'text that is said to be compressed',
      rawResponse('200 OK', ['Content-Encoding: gzip'], 'text'),
      /: the compressed body of the answer is damaged \(Z_DATA_ERROR\)$/,
    ],
    [
      'damaged brotli',
      rawResponse('200 OK', ['Content-Encoding: br'], 'text text text'),
      /: the compressed body of the answer is damaged \(\w+\)$/,
    ],
    [
      'damaged zstd',
      rawResponse('200 OK', ['Content-Encoding: zstd'], 'text text text'),
      /: the compressed body of the answer is damaged \(\w+\)$/,
    ],
    ['an upgrade', `HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n`, /: /],
  ])('fails: %s', async (_, answer, message) => {
    await using server = await startRawServer((socket) => socket.end(answer));
    const error = await expectError(makeClient().send(makeRequest(urlOf(server))));
    expect(error.code).toBe('PROVIDER_ERROR');
    expect(error.message).toMatch(message);
  });

  it('may have a wrong type, odd headers and bytes after its end', async () => {
    const headers = ['Content-Type: image/png; charset="x', '__proto__: a', 'X-\u00e4: b'];
    await using server = await startRawServer((socket) =>
      socket.end(
        `${rawResponse('200 OK', headers.slice(0, 2), 'text')}HTTP/1.1 200 OK\r\n\r\nmore`,
      ),
    );
    const { body, headers: got } = await makeClient().send(makeRequest(urlOf(server)));
    expect([body.toString(), got.get('content-type')]).toEqual(['text', 'image/png; charset="x']);
  });
});

describe('any bytes of a server', () => {
  it('give an answer or an error that says what happened', async () => {
    let bytes = Buffer.alloc(0);
    await using server = await startRawServer((socket) => socket.end(bytes));
    const client = makeClient({ limits: { totalMs: 2_000 } });
    const piece = fc.oneof(
      fc
        .constantFrom(
          'HTTP/1.1 200 OK\r\n',
          'HTTP/1.0 301 Moved\r\n',
          'Content-Encoding: gzip\r\n',
          'Content-Encoding: br\r\n',
          'Content-Length: 5\r\n',
          'Transfer-Encoding: chunked\r\n',
          'Location: /\r\n',
          'Location: http://[\r\n',
          'Retry-After: 0\r\n',
          '\r\n',
          '5\r\nhello\r\n0\r\n\r\n',
          'hello',
        )
        .map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        bytes = Buffer.concat(pieces);
        const outcome = await client
          .send(makeRequest(urlOf(server)))
          .catch((thrown: unknown) => thrown);
        if (!(outcome instanceof Error)) return;
        expect(outcome).toBeInstanceOf(MusterError);
        expect(outcome.message).toMatch(/^http:\/\/site\.example:\d+\/: ./);
      }),
      { numRuns: 150 },
    );
    await expectClosed(server);
  });
});

describe('the connections to a host', () => {
  it('are two at a time; other requests wait, and can be aborted', async () => {
    const held: (() => void)[] = [];
    let open = 0;
    let most = 0;
    const server = createServer((_, response) => {
      open += 1;
      most = Math.max(most, open);
      held.push(() => {
        open -= 1;
        response.end('ok');
      });
    });
    const port = await listen(server);
    const client = makeClient();
    const abort = new AbortController();
    const send = (host: string, parts = {}) =>
      client.send(makeRequest(`http://${host}.example:${port}/`, parts));
    const requests = Array.from({ length: 6 }, (_, index) =>
      send('site', index === 3 ? { signal: abort.signal } : {}).then(
        ({ body }) => body.toString(),
        (problem: unknown) => problem,
      ),
    );
    await waitUntilPasses(() => expect(held.length).toBe(2));
    const other = send('other');
    await waitUntilPasses(() => expect(held.length).toBe(3));
    abort.abort('stop');
    expect(await requests[3]).toBe('stop');
    for (let answered = 0; answered < 6; answered += 1) {
      await waitUntilPasses(() => expect(held.length).toBeGreaterThan(answered));
      held[answered]?.();
    }
    expect(await Promise.all(requests)).toEqual(['ok', 'ok', 'ok', 'stop', 'ok', 'ok']);
    expect([(await other).status, most, held.length]).toEqual([200, 3, 6]);
    server.close();
  });

  it('are free again after failures', async () => {
    await using server = await startRawServer((socket, index) => {
      if (index < 4) socket.destroy();
      else socket.end(rawResponse('200 OK'));
    });
    const client = makeClient();
    for (let count = 0; count < 4; count += 1) {
      await expectError(client.send(makeRequest(urlOf(server))));
    }
    expect((await client.send(makeRequest(urlOf(server)))).status).toBe(200);
  });
});

describe('an abort', () => {
  it.each<readonly [moment: string, answer: (socket: Socket, begun: () => void) => void]>([
    ['before the headers', (_, begun) => begun()],
    [
      'in the body',
      (socket, begun) =>
        socket.write(`${OK}Content-Length: 10\r\n\r\nhalf`, () => setTimeout(begun, 20)),
    ],
    [
      'in a wait',
      (socket, begun) =>
        socket.end(rawResponse('503 Busy', ['Retry-After: 5']), () => setTimeout(begun, 20)),
    ],
  ])('%s ends the request with its reason, and closes the connection', async (_, answer) => {
    const abort = new AbortController();
    await using server = await startRawServer((socket) =>
      answer(socket, () => abort.abort('stop')),
    );
    const sent = makeClient().send(makeRequest(urlOf(server), { signal: abort.signal }));
    await expect(sent).rejects.toBe('stop');
    await expectClosed(server);
  });

  it('before the request sends nothing', async () => {
    await using server = await startRawServer();
    const request = makeRequest(urlOf(server), { signal: AbortSignal.abort('stop') });
    await expect(makeClient().send(request)).rejects.toBe('stop');
    expect(server.connections()).toBe(0);
  });

  it('while the host is resolved sends nothing', async () => {
    await using server = await startRawServer();
    const abort = new AbortController();
    const resolve = () => {
      abort.abort('stop');
      return Promise.resolve(['127.0.0.1']);
    };
    const request = makeRequest(urlOf(server), { signal: abort.signal });
    await expect(makeClient({ resolve }).send(request)).rejects.toBe('stop');
    expect(server.connections()).toBe(0);
  });
});
