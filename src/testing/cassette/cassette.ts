import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { errorMessage } from '../../base/errors.ts';
import { environmentFor } from '../endpoints.ts';
import { findProtocol } from '../routes.ts';
import { CODECS } from '../wire/codecs.ts';
import type { WireProtocol } from '../wire-request.ts';
import { readCassette, writeCassette, type RecordedExchange } from './cassette-file.ts';
import { normalizeRequest, type NormalizedRequest } from './normalize-request.ts';
import { CassettePlayer } from './play-exchange.ts';
import { findSentSecrets, removeSecrets } from './secrets.ts';

/** The options of `startCassette`. */
export interface CassetteOptions {
  /** The file of the recording. It is written when a recording is closed. */
  readonly file: string;
  /** The provider to record. Default: the file is played, and nothing is sent anywhere. */
  readonly target?: CassetteTarget;
  /** The model for `env('chat')`. Default: `fake-model`. */
  readonly model?: string;
  /**
   * Replaces what differs from run to run in texts of messages and arguments, such as the path of a temporary directory.
   * Arguments are passed as JSON, and must be JSON afterwards. Default: nothing is replaced.
   */
  readonly normalize?: (text: string) => string;
}

/** A provider whose answers are recorded. */
export interface CassetteTarget {
  /** Its address in place of that of the cassette: `https://api.anthropic.com`, without `/v1`. */
  readonly url: string;
  /** The API key that `env` returns. It is never written to the file. Default: a key that no provider accepts. */
  readonly apiKey?: string;
}

/** A running cassette: a server on 127.0.0.1 that records the answers of a provider, or plays them. */
export interface Cassette {
  /** The address `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Returns the environment variables with which Muster uses the cassette. */
  env(protocol: WireProtocol): Record<string, string>;
  /** The reasons why requests could not be answered: they were never recorded, or the provider was not reached. */
  readonly problems: readonly string[];
  /** The recorded requests that have not been played. Empty while a cassette is recorded. */
  readonly unused: readonly NormalizedRequest[];
  /** Frees the port. Writes the file of a recording, and throws if it cannot be written. */
  close(): Promise<void>;
}

/**
 * Starts a cassette. With `target` it passes each request on and records the answer; without, it answers from the file without
 * network. Requests match by model, messages and names of tools; ids of calls and the system prompt do not count. A request that
 * was never recorded gets status 400, with the difference from the nearest one. Rejects if the file cannot be read.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { startCassette } from 'muster-agent/testing';
 *
 * const url = process.env['RECORD'] === '1' ? 'https://api.anthropic.com' : null;
 * const cassette = await startCassette({
 *   file: 'capital.json',
 *   ...(url === null ? {} : { target: { url, apiKey: process.env['ANTHROPIC_API_KEY'] ?? '' } }),
 * });
 * await using muster = await createMuster({
 *   model: 'anthropic/claude-sonnet-4-5',
 *   environment: cassette.env('anthropic'),
 * });
 * console.log((await muster.run('What is the capital of France?')).output);
 * await cassette.close();
 */
export async function startCassette(options: CassetteOptions): Promise<Cassette> {
  const { file, target, model = 'fake-model', normalize = (text) => text } = options;
  const player = new CassettePlayer(target === undefined ? readCassette(file) : []);
  const recorded: (RecordedExchange | null)[] = [];
  const problems: string[] = [];
  const running = new Set<Promise<void>>();
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = incoming;
    try {
      const request = { method, url, body: await readText(incoming) };
      const normalized = normalizeRequest(request, normalize);
      if (target === undefined) return send(response, player.play(normalized));
      // The place is taken now, so that the file has the order of arrival.
      const place = recorded.push(null) - 1;
      const answer = await forward({ incoming, response, body: request.body, target });
      const secrets = findSentSecrets(incoming.headers, url);
      const exchange: RecordedExchange = { request: normalized, response: answer };
      recorded[place] = removeSecrets(exchange, secrets);
    } catch (thrown) {
      const problem = errorMessage(thrown);
      problems.push(problem);
      refuse(response, url, `cassette ${file}: ${problem}`);
    }
  };
  const server = createServer((incoming, response) => {
    const served = serve(incoming, response).finally(() => running.delete(served));
    running.add(served);
  });
  server.listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    env: (protocol) => environmentFor(protocol, { url, model, apiKey: target?.apiKey }),
    problems,
    get unused() {
      return player.unused;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await Promise.all(running);
      server.closeAllConnections();
      await closed;
      if (target === undefined) return;
      const complete = recorded.filter((each) => each !== null);
      writeCassette(file, complete);
    },
  };
}

/** The request headers that concern one connection, or that the client of the target sets itself. */
const CONNECTION_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

/** The response headers that are kept. All others, such as cookies and ids of accounts, are dropped. */
const KEPT_HEADERS = ['content-type', 'retry-after', 'retry-after-ms'];

interface ForwardOptions {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  readonly target: CassetteTarget;
}

/** Sends a request to the target, and passes its answer on as it arrives. Returns the answer. */
async function forward(options: ForwardOptions): Promise<RecordedExchange['response']> {
  const { incoming, response, body, target } = options;
  const { method = 'GET', url = '/' } = incoming;
  const headers = Object.entries(incoming.headers).flatMap(([name, value = []]) =>
    CONNECTION_HEADERS.has(name)
      ? []
      : [value].flat().map((each): [string, string] => [name, each]),
  );
  const answer = await fetch(`${target.url.replace(/\/$/, '')}${url}`, {
    method,
    headers,
    ...(method === 'GET' || method === 'HEAD' ? {} : { body }),
  });
  const kept = KEPT_HEADERS.flatMap((name): [string, string][] => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  response.writeHead(answer.status, Object.fromEntries(kept));
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body ?? []) {
    chunks.push(chunk);
    response.write(chunk);
  }
  response.end();
  const text = Buffer.concat(chunks).toString('utf8');
  return { status: answer.status, headers: Object.fromEntries(kept), body: text };
}

function send(response: ServerResponse, exchange: RecordedExchange): void {
  const { status, headers, body } = exchange.response;
  response.writeHead(status, headers);
  response.end(body);
}

/** Answers with an error that is not repeated, in the form of the vendor. */
function refuse(response: ServerResponse, url: string, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const protocol = findProtocol(url);
  const body =
    protocol === null ? { error: message } : CODECS[protocol].writeErrorBody(400, message);
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
