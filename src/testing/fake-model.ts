import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isJsonObject } from '../base/json.ts';
import { type AnswerHandler, answerByRules, type Rule } from './rules.ts';
import { answerRequest } from './answer-request.ts';
import { createBaseUrls, environmentFor, type BaseUrls } from './endpoints.ts';
import { Exchange } from './exchange.ts';
import { PromptCache, type PromptCacheOptions } from './prompt-cache.ts';
import { RequestRecorder, type RecordedViolation } from './request-recorder.ts';
import { sendStatus } from './respond.ts';
import { createListing, findProtocol } from './routes.ts';
import { checkRequest } from './strict/check-request.ts';
import { resolveStrictOptions, type StrictOptions } from './strict/options.ts';
import { CODECS } from './wire/codecs.ts';
import { parseOrKeep } from './wire/read-json.ts';
import type { RecordedRequest, WireProtocol } from './wire-request.ts';

/** The options of `startFakeModel`. */
export interface FakeModelOptions {
  /** The answers: a function or a list of rules. Default: the text `ok` for every request. */
  readonly script?: AnswerHandler | readonly Rule[];
  /** The ids in the lists of models. Default: `fake-model`. Requests for any model are answered. */
  readonly models?: readonly string[];
  /** The options of a simulated prompt cache, whose reads and writes the usage reports. Default: no cache is simulated. */
  readonly promptCache?: PromptCacheOptions;
  /**
   * True to refuse every request that its vendor's API would refuse, with the same error. False to accept any request.
   * Options add rules of certain servers. Default: true.
   */
  readonly strict?: boolean | StrictOptions;
  /** The port. Default: 0, which means any free port. */
  readonly port?: number;
  /** False to leave `requests` empty, for long runs. Default: true. */
  readonly keepRequests?: boolean;
  /** Called when a request has arrived, before the answer. Must not throw. Default: nothing is called. */
  readonly onReceived?: (request: RecordedRequest) => void;
  /** Called when a request and its answer are over. Must not throw. Default: nothing is called. */
  readonly onEnded?: (request: RecordedRequest) => void;
}

/** A running server on 127.0.0.1 that imitates four providers. */
export interface FakeModel {
  /** The address `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The base URLs for clients of each provider. */
  readonly baseUrls: BaseUrls;
  /**
   * Returns the environment variables with which Muster uses this server. The variables of other providers must not be
   * set.
   */
  env(protocol: WireProtocol): Record<string, string>;
  /** The requests in the order of their arrival, each with its outcome so far. */
  readonly requests: readonly RecordedRequest[];
  /** The violations of the vendors' rules by the requests, in the order of arrival (see `strict`). */
  readonly violations: readonly RecordedViolation[];
  /** Resolves with the request number `count` (from 1) when it has arrived. */
  received(count: number): Promise<RecordedRequest>;
  /** Returns the number of requests that are being answered at present. */
  inFlight(): number;
  /** The maximum number of requests that were being answered at the same time. */
  readonly maxInFlight: number;
  /** Closes all connections and frees the port. When it resolves, every `onEnded` has been called. */
  close(): Promise<void>;
}

/**
 * Starts the server. Rejects if the port is in use.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { startFakeModel } from 'muster-agent/testing';
 *
 * const server = await startFakeModel({ script: [{ answer: { text: 'four' } }] });
 * await using muster = await createMuster({
 *   model: 'anthropic/claude-sonnet-4-5',
 *   environment: server.env('anthropic'),
 * });
 * console.log((await muster.run('How many?')).output, server.violations);
 * await server.close();
 */
export async function startFakeModel(options: FakeModelOptions = {}): Promise<FakeModel> {
  const { models = ['fake-model'], port = 0 } = options;
  const recorder = new RequestRecorder({ keep: options.keepRequests ?? true });
  const serve = createService(options, recorder);
  const running = new Set<Promise<void>>();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (request.method !== 'POST') answerGet(request, response, { models, recorder });
    else {
      const served = serve(request, response).finally(() => running.delete(served));
      running.add(served);
    }
  });
  server.listen({ port, host: '127.0.0.1', backlog: BACKLOG });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    baseUrls: createBaseUrls(url),
    env: (protocol) => environmentFor(protocol, { url, model: models[0] ?? 'fake-model' }),
    requests: recorder.requests,
    violations: recorder.violations,
    received: (count) => recorder.received(count),
    inFlight: () => recorder.inFlight,
    get maxInFlight() {
      return recorder.maxInFlight;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      recorder.breakAll();
      server.closeAllConnections();
      await Promise.all([closed, ...running]);
    },
  };
}

/**
 * The time for which an idle connection stays open. It is longer than any test, so that no client uses a connection that
 * is being closed.
 */
const KEEP_ALIVE_MS = 600_000;
/** The number of pending connections, which allows thousands of clients to connect at the same time. */
const BACKLOG = 4096;

/** Creates the function that answers POST requests. */
function createService(options: FakeModelOptions, recorder: RequestRecorder) {
  const { script = [{ answer: { text: 'ok' } }] } = options;
  const handler: AnswerHandler = typeof script === 'function' ? script : answerByRules(script);
  const strict = resolveStrictOptions(options.strict);
  const cache = options.promptCache === undefined ? null : new PromptCache(options.promptCache);
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = incoming.url ?? '/';
    const protocol = findProtocol(path);
    if (protocol === null) {
      sendJson(response, 404, { error: `the fake model has no POST ${path}` });
      return;
    }
    const onClosed = (): void => recorder.end(exchange);
    const exchange = new Exchange(incoming, response, { onClosed });
    const rawBody = await readBody(incoming);
    if (rawBody === null) return;
    const body = parseOrKeep(rawBody);
    if (!isJsonObject(body)) {
      const message = 'The request body is not a JSON object.';
      sendStatus(exchange, CODECS[protocol], { kind: 'status', status: 400, message });
      return;
    }
    const { headers } = incoming;
    const request = recorder.begin({ protocol, path, headers, rawBody, body, exchange });
    options.onReceived?.(request);
    const violations = strict === null ? [] : checkRequest(request, strict);
    recorder.recordViolations(request, violations);
    await answerRequest(request, { exchange, handler, cache, violations });
    options.onEnded?.(request);
  };
}

function answerGet(
  request: IncomingMessage,
  response: ServerResponse,
  { models, recorder }: { readonly models: readonly string[]; readonly recorder: RequestRecorder },
): void {
  const path = request.url ?? '/';
  const body = path === STATS_PATH ? recorder.stats() : createListing(path, models);
  if (body === null) sendJson(response, 404, { error: `the fake model has no GET ${path}` });
  else sendJson(response, 200, body);
}

/** The path of the statistics, for a caller that runs the server in another process. */
const STATS_PATH = '/fake/stats';

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Reads the body of a request; null: the client closed the connection before the body was complete. */
function readBody(incoming: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    // An error means that the connection was closed. It is ignored, because `close` follows.
    incoming.on('error', () => {});
    incoming.on('close', () => resolve(null));
  });
}
