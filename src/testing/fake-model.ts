import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isJsonObject } from '../base/json.ts';
import { type AnswerHandler, answerByRules, type Rule } from './rules.ts';
import { answerRequest } from './answer-request.ts';
import { baseUrlsOf, environmentFor, type BaseUrls } from './endpoints.ts';
import { Exchange } from './exchange.ts';
import { PromptCache, type PromptCacheOptions } from './prompt-cache.ts';
import { RequestRecorder, type RecordedViolation } from './request-recorder.ts';
import { sendStatus } from './respond.ts';
import { listing, protocolOf } from './routes.ts';
import { checkRequest } from './strict/check-request.ts';
import { strictOptions, type StrictOptions } from './strict/options.ts';
import { CODECS } from './wire/codecs.ts';
import { parseOrKeep } from './wire/read-json.ts';
import type { RecordedRequest, WireProtocol } from './wire-request.ts';

export interface FakeModelOptions {
  /** What is answered: a function, or rules. Default: the text `ok` to everything. */
  readonly script?: AnswerHandler | readonly Rule[];
  /** Ids that the listings name. Default `fake-model`. Any model is answered for. */
  readonly models?: readonly string[];
  /** Set: models a provider's prompt cache and reports its reads and writes. */
  readonly promptCache?: PromptCacheOptions;
  /**
   * Whether a request that its vendor's API would refuse is refused in the same way, before the script is
   * asked. Default: true. False: any request is taken. Options: the server is stricter than most.
   */
  readonly strict?: boolean | StrictOptions;
  /** Default 0: any free port. */
  readonly port?: number;
  /** False: `requests` stays empty, for runs too long to be kept. Default true. */
  readonly keepRequests?: boolean;
  /** Called when a request has arrived, before it is answered. Must not throw. */
  readonly onReceived?: (request: RecordedRequest) => void;
  /** Called when its exchange is over. Must not throw. */
  readonly onEnded?: (request: RecordedRequest) => void;
}

/** A running fake of four providers on 127.0.0.1. */
export interface FakeModel {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly baseUrls: BaseUrls;
  /** The variables that point Muster at it; set beside none of other providers. */
  env(protocol: WireProtocol): Record<string, string>;
  /** In order of arrival, each with its outcome so far. */
  readonly requests: readonly RecordedRequest[];
  /** The rules of their vendors that requests have broken, in order of arrival; see `strict`. */
  readonly violations: readonly RecordedViolation[];
  /** Resolves with the request of that number (from 1) once it has arrived. */
  received(count: number): Promise<RecordedRequest>;
  /** Requests being answered now. */
  inFlight(): number;
  /** The most that were at once. */
  readonly maxInFlight: number;
  /** Breaks what is open and frees the port; every `onEnded` has been called when it resolves. */
  close(): Promise<void>;
}

/** Starts the server. Rejects when the port is taken. */
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
    baseUrls: baseUrlsOf(url),
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

/** Longer than any test: a client that reuses a connection must not race with its end. */
const KEEP_ALIVE_MS = 600_000;
/** Enough for thousands of clients that connect at once. */
const BACKLOG = 4096;

/** What answers POST requests. */
function createService(options: FakeModelOptions, recorder: RequestRecorder) {
  const { script = [{ answer: { text: 'ok' } }] } = options;
  const handler: AnswerHandler = typeof script === 'function' ? script : answerByRules(script);
  const strict = strictOptions(options.strict);
  const cache = options.promptCache === undefined ? null : new PromptCache(options.promptCache);
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = incoming.url ?? '/';
    const protocol = protocolOf(path);
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
  const body = path === STATS_PATH ? recorder.stats() : listing(path, models);
  if (body === null) sendJson(response, 404, { error: `the fake model has no GET ${path}` });
  else sendJson(response, 200, body);
}

/** For who has the server in another process. */
const STATS_PATH = '/fake/stats';

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Null: the client went away before it was whole. */
function readBody(incoming: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    // An error here is the client's going away, and `close` follows it.
    incoming.on('error', () => {});
    incoming.on('close', () => resolve(null));
  });
}
