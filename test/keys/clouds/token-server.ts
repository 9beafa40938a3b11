import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

interface SeenRequest {
  readonly method: string | undefined;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Starts a token service on loopback that answers each request in turn. */
export async function serveInTurn(
  answers: readonly (readonly [status: number, body: string, type?: string])[],
) {
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const { method, url = '', headers } = request;
    const body = Buffer.concat(pieces).toString('utf8');
    const answer = answers[requests.push({ method, url, headers, body }) - 1] ?? [
      500,
      'no more answers',
    ];
    response
      .writeHead(answer[0], { 'content-type': answer[2] ?? 'application/json' })
      .end(answer[1]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
