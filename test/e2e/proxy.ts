import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** What was asked for, in order: `CONNECT host:port`, or the URL of a plain request. */
  readonly asked: readonly string[];
}

/**
 * A proxy that brings everything to one server, whatever host was asked for; null: it accepts every request and never
 * answers.
 */
export async function startProxy(target: URL | null): Promise<Proxy> {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((incoming, response) => {
    asked.push(incoming.url ?? '');
    if (target === null) return;
    const path = new URL(incoming.url ?? '/', target).pathname;
    const { method, headers } = incoming;
    const onward = httpRequest({ host: target.hostname, port: target.port, path, method, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (target === null) return;
    const onward = connect(Number(target.port), target.hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket);
      socket.pipe(onward);
    });
    // One side that breaks takes the other with it.
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    socket.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
