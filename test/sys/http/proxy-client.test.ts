import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createProxyClient } from '../../../src/sys/http/proxy-client.ts';
import { startProxy } from '../../e2e/proxy.ts';
import { serve } from '../../model/adapters/support.ts';

const FAR = new URL('https://model.example.test/v1');

/** A server that accepts connections, reads, and never answers. */
async function startSilentServer() {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    at: (protocol: string) => new URL(`${protocol}://127.0.0.1:${port}`),
    sockets,
    /** Waits until the server has read something. */
    async nextRequest(): Promise<Socket> {
      const socket = sockets[0] ?? ((await once(server, 'connection')) as [Socket])[0];
      if (socket.bytesRead === 0) await once(socket, 'data');
      return socket;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

describe('a client of a proxy that never answers', () => {
  it('fails after the time limit for a tunnel', async () => {
    await using proxy = await startSilentServer();
    const client = createProxyClient({ tunnelMs: 500 });
    const request = client(FAR, proxy.at('http'), { request: {}, observer: undefined });
    await expect(request).rejects.toMatchObject({
      message: 'fetch failed',
      cause: {
        message: 'the proxy has opened no connection to model.example.test within 0.5 s',
      },
    });
    const [socket] = proxy.sockets;
    if (socket?.closed === false) await once(socket, 'close');
  });

  it.each(['http', 'https', 'socks5'])(
    'closes its connection when the request is cancelled: %s',
    async (protocol) => {
      await using proxy = await startSilentServer();
      const client = createProxyClient();
      const cancel = new AbortController();
      const request = client(FAR, proxy.at(protocol), {
        request: { signal: cancel.signal },
        observer: undefined,
      });
      const socket = await proxy.nextRequest();
      cancel.abort();
      await expect(request).rejects.toMatchObject({ name: 'AbortError' });
      if (!socket.closed) await once(socket, 'close');
    },
  );
});

it('a cancelled request does not disturb another one, and the next one connects again', async () => {
  let answer = (): void => {};
  await using server = await serve((response, { url }) => {
    if (url.endsWith('/hanging')) return;
    response.write('begin');
    answer = () => void response.end(' end');
  });
  await using proxy = await startProxy(new URL(server.url));
  const client = createProxyClient();
  const at = new URL(proxy.url);
  const open = (path: string, signal?: AbortSignal) =>
    client(new URL(`http://model.example.test${path}`), at, {
      request: { ...(signal !== undefined && { signal }) },
      observer: undefined,
    });
  const first = await open('/first');
  const cancel = new AbortController();
  const hanging = open('/hanging', cancel.signal);
  cancel.abort();
  await expect(hanging).rejects.toMatchObject({ name: 'AbortError' });
  answer();
  expect(await first.text()).toBe('begin end');
  const second = await open('/second');
  answer();
  expect(await second.text()).toBe('begin end');
});
