import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { close, listen, serve } from './support.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';

const TLS = fileURLToPath(new URL('../../fixtures/tls/', import.meta.url));
const MAIN = fileURLToPath(new URL('fetch-main.ts', import.meta.url));
const run = promisify(execFile);

/** What a process with this environment alone gets from the URL. */
async function fetchIn(
  env: Readonly<Record<string, string>>,
  url: string,
  times = 1,
  before = '',
): Promise<string[]> {
  const { stdout } = await run(process.execPath, [MAIN, url, String(times), before], {
    env: { PATH: process.env.PATH, ...env },
  });
  return JSON.parse(stdout) as string[];
}

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Request lines, `CONNECT host:port` or `POST http://host/path`. */
  readonly seen: string[];
}

/** A proxy that sends whatever it is asked for to one local port. */
async function proxyTo(port: number): Promise<Proxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    seen.push(`CONNECT ${request.url ?? ''}`);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
  });
  server.on('request', async (request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const { pathname } = new URL(request.url ?? '');
    const answer = await fetch(`http://127.0.0.1:${port}${pathname}`, { method: 'POST' });
    response.end(await answer.text());
  });
  const own = await listen(server);
  return {
    url: `http://127.0.0.1:${own}`,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await close(server);
    },
  };
}

let tlsPort = 0;
const tlsServer = createTlsServer({}, (_request, response) => response.end('secret answer'));

beforeAll(async () => {
  tlsServer.setSecureContext({
    key: await readFile(join(TLS, 'server-key.pem')),
    cert: await readFile(join(TLS, 'server.pem')),
  });
  tlsServer.listen(0, '127.0.0.1');
  await once(tlsServer, 'listening');
  const address = tlsServer.address();
  tlsPort = typeof address === 'object' && address !== null ? address.port : 0;
});

afterAll(async () => {
  tlsServer.closeAllConnections();
  tlsServer.close();
  await once(tlsServer, 'close');
});

const WHOLE = ['connected', 'bytes', 'answer'];

test('a plain request reports its connection and its bytes, and keeps the connection', async () => {
  await using server = await serve((response) => void response.end('answer'));
  expect(await fetchIn({}, server.url, 3)).toEqual([...WHOLE, ...WHOLE, ...WHOLE]);
  expect(server.connections()).toBe(1);
});

test('does the same if another undici was loaded first', async () => {
  await using server = await serve((response) => void response.end('answer'));
  expect(await fetchIn({}, server.url, 2, 'undici')).toEqual([...WHOLE, ...WHOLE]);
});

test('concurrent requests each have a connection', async () => {
  let waiting = 0;
  let everybody = (): void => {};
  const all = new Promise<void>((resolve) => (everybody = resolve));
  await using server = await serve(async (response) => {
    waiting += 1;
    if (waiting === 300) everybody();
    await all;
    response.end('answer');
  });
  const fetch = createHttpFetch({});
  const texts = await Promise.all(
    Array.from({ length: 300 }, async () => (await fetch(server.url)).text()),
  );
  expect(new Set(texts)).toEqual(new Set(['answer']));
});

test.each(['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'])('%s', async (variable) => {
  await using server = await serve((response) => void response.end('answer'));
  await using proxy = await proxyTo(Number(new URL(server.url).port));
  expect(await fetchIn({ [variable]: proxy.url }, 'http://models.test/v1')).toEqual(WHOLE);
  expect(proxy.seen).toHaveLength(1);
  expect(proxy.seen[0]).toMatch(/^(CONNECT models\.test:80|POST http:\/\/models\.test\/v1)$/);
});

test.each(['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'])('%s and SSL_CERT_FILE', async (variable) => {
  await using proxy = await proxyTo(tlsPort);
  const env = { [variable]: proxy.url, SSL_CERT_FILE: join(TLS, 'ca.pem') };
  expect(await fetchIn(env, 'https://models.test/v1')).toEqual([
    'connected',
    'bytes',
    'secret answer',
  ]);
  expect(proxy.seen).toEqual(['CONNECT models.test:443']);
});

test('NO_PROXY bypasses the proxy', async () => {
  await using proxy = await proxyTo(tlsPort);
  const env = { HTTPS_PROXY: proxy.url, NO_PROXY: 'other.test,.models.test,models.test' };
  const [outcome] = await fetchIn(env, 'https://models.test/v1');
  expect(outcome).toMatch(/^fetch failed (ENOTFOUND|EAI_AGAIN)$/);
  expect(proxy.seen).toEqual([]);
});

test('this machine is never reached through a proxy', async () => {
  await using server = await serve((response) => void response.end('answer'));
  await using proxy = await proxyTo(tlsPort);
  const env = { HTTP_PROXY: proxy.url, ALL_PROXY: proxy.url };
  expect(await fetchIn(env, server.url)).toEqual(WHOLE);
  expect(proxy.seen).toEqual([]);
});

test('a proxy that is not a URL is named in the error', async () => {
  const [outcome] = await fetchIn({ HTTPS_PROXY: '::nonsense' }, 'https://models.test/');
  expect(outcome).toMatch(/^HTTPS_PROXY must be the address of a proxy, such as /);
});

test('an unknown authority is refused, and accepted with its certificate file', async () => {
  const url = `https://127.0.0.1:${tlsPort}/`;
  const [refused] = await fetchIn({}, url);
  expect(refused).toBe('fetch failed UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  const whole = ['connected', 'bytes', 'secret answer'];
  expect(await fetchIn({ SSL_CERT_FILE: join(TLS, 'ca.pem') }, url)).toEqual(whole);
  expect(await fetchIn({ NODE_EXTRA_CA_CERTS: join(TLS, 'ca.pem') }, url)).toEqual(whole);
});

test('an SSL_CERT_FILE that is missing or empty is named in the error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-http-'));
  try {
    const empty = join(folder, 'empty.pem');
    await writeFile(empty, 'nothing here');
    const [none] = await fetchIn({ SSL_CERT_FILE: empty }, 'https://127.0.0.1:9/');
    expect(none).toBe(`SSL_CERT_FILE holds no PEM certificate: ${empty}`);
    const [missing] = await fetchIn({ SSL_CERT_FILE: `${empty}.not` }, 'https://127.0.0.1:9/');
    expect(missing).toMatch(/^SSL_CERT_FILE cannot be read: .*\.not does not exist/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each([
  (url: string) => url.replace('http://', ''),
  (url: string) => `${url.replace('http://', 'user:p%40ss@')}/`,
])('a proxy without a scheme', async (written) => {
  await using proxy = await proxyTo(tlsPort);
  const env = { HTTPS_PROXY: written(proxy.url), SSL_CERT_FILE: join(TLS, 'ca.pem') };
  expect((await fetchIn(env, 'https://models.test/v1')).at(-1)).toBe('secret answer');
  expect(proxy.seen).toEqual(['CONNECT models.test:443']);
});
