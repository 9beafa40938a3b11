import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';

const TLS = join(import.meta.dirname, '../fixtures/tls');
/** The certificate with which a client trusts a server with `tls`. */
export const CERTIFICATE = join(TLS, 'ca.pem');

export interface KeyServerOptions {
  /** The keys that are accepted; they may change while the server runs. */
  readonly keys: Set<string>;
  /** Everybody may read the list of models, as at OpenRouter. Default: it needs a key. */
  readonly isListPublic?: boolean;
  readonly tls?: boolean;
  /** Answers instead of the usual answers; false: it has not. */
  readonly answer?: (request: SeenRequest, response: ServerResponse) => boolean;
}

/** A request, and the key in any of the headers that a client could have put it into. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
  /** All headers and the body. */
  readonly all: string;
}

export interface KeyServer extends AsyncDisposable {
  /** The address with `/v1`. */
  readonly url: string;
  readonly seen: readonly SeenRequest[];
}

const STREAM = [
  { choices: [{ delta: { content: 'ok' } }] },
  { choices: [{ delta: {}, finish_reason: 'stop' }] },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .concat('data: [DONE]\n\n')
  .join('');

/** A model server on this machine that looks at keys: OpenAI's protocols, and the lists of Anthropic and Google. */
export async function startKeyServer(options: KeyServerOptions): Promise<KeyServer> {
  const seen: SeenRequest[] = [];
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(incoming);
    seen.push(request);
    if (options.answer?.(request, response) !== true) answer(request, response, options);
  };
  const server =
    options.tls === true
      ? createTlsServer(
          {
            key: readFileSync(join(TLS, 'server-key.pem')),
            cert: readFileSync(join(TLS, 'server.pem')),
          },
          (incoming, response) => void serve(incoming, response),
        )
      : createServer((incoming, response) => void serve(incoming, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `${options.tls === true ? 'https' : 'http'}://127.0.0.1:${port}/v1`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  let body = '';
  for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
  const { method = '', url: path = '', headers } = incoming;
  const key =
    headers.authorization?.replace(/^Bearer /, '') ??
    headers['x-api-key'] ??
    headers['x-goog-api-key'] ??
    null;
  return {
    method,
    path,
    key: String(key ?? '') || null,
    body,
    all: JSON.stringify(headers) + body,
  };
}

function answer(
  { method, path, key }: SeenRequest,
  response: ServerResponse,
  { keys, isListPublic = false }: KeyServerOptions,
): void {
  const isList = method === 'GET' && path.endsWith('/models');
  const isAccepted = key !== null && keys.has(key);
  if (!isAccepted && !(isList && isListPublic)) {
    sendJson(response, 401, { error: { message: `Incorrect API key provided: ${key}` } });
  } else if (isList) sendJson(response, 200, { data: [{ id: 'model-of-test' }] });
  else {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(STREAM);
  }
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
