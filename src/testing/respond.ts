import type { ScriptedAnswer, Fault } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { planStream, type StreamPlan } from './stream-plan.ts';
import type { PreparedAnswer, WireCodec, Frame } from './wire/codec.ts';
import type { RecordedRequest } from './wire-request.ts';

/** The options of `respond`. */
interface ResponseOptions {
  readonly exchange: Exchange;
  readonly codec: WireCodec;
  readonly request: RecordedRequest;
  readonly answer: ScriptedAnswer;
  /** Prepares the answer. Called immediately before the first byte is sent, and not called for an HTTP error. */
  prepare(): PreparedAnswer;
}

/** The maximum number of characters of frames that are joined to one write because there is no wait between them. */
const MAX_GATHERED_LENGTH = 65_536;

/** The number of pings in one write if there is no wait between pings. */
const PINGS_PER_WRITE = 500;

/** Sends an answer with the waits and the fault that its script states. Resolves when the exchange is over. */
export async function respond(parts: ResponseOptions): Promise<void> {
  const { exchange, answer, request } = parts;
  request.outcome.fault = answer.fault?.kind ?? null;
  await exchange.wait(answer.delayMs ?? 0);
  if (!exchange.closed && !(await failBeforeBody(parts))) {
    await (request.stream ? sendStream(parts) : sendJsonBody(parts));
  }
  await exchange.ended;
}

/** Performs a fault that occurs before the body. Returns false if the answer has no such fault. */
async function failBeforeBody({ exchange, codec, answer }: ResponseOptions): Promise<boolean> {
  const { fault } = answer;
  switch (fault?.kind) {
    case 'status':
      sendStatus(exchange, codec, fault);
      return true;
    case 'refuse':
      exchange.destroy();
      return true;
    case 'hang':
      return true;
    case 'slow_headers':
      await sendEndlessHeaders(exchange, fault.everyMs ?? DEFAULT_INTERVAL_MS);
      return true;
    case 'wrong_content_type':
      exchange.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      exchange.end('<!doctype html><html><body>Please sign in to the network.</body></html>');
      return true;
    default:
      return false;
  }
}

export function sendStatus(
  exchange: Exchange,
  codec: Pick<WireCodec, 'writeErrorBody'>,
  fault: Extract<Fault, { kind: 'status' }>,
): void {
  const message = fault.message ?? `The fake model answers ${fault.status}, as its script says.`;
  const body = fault.body ?? JSON.stringify(codec.writeErrorBody(fault.status, message));
  const { retryAfterSeconds: seconds } = fault;
  const wait = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  exchange.writeHead(fault.status, {
    'content-type': 'application/json',
    ...wait,
    ...fault.headers,
  });
  exchange.end(body);
}

async function sendEndlessHeaders(exchange: Exchange, everyMs: number): Promise<void> {
  exchange.writeRaw('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n');
  for (let line = 1; !exchange.closed; line += 1) {
    await exchange.wait(everyMs);
    exchange.writeRaw(`x-slow-${line}: 1\r\n`);
  }
}

async function sendStream(parts: ResponseOptions): Promise<void> {
  const { exchange, codec, request, answer } = parts;
  const prepared = parts.prepare();
  const plan = planStream(codec.writeFrames(prepared, request), answer.fault, codec);
  exchange.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-request-id': `req_${request.id}`,
  });
  const unsent = await sendFrames(parts, prepared, plan);
  if (plan.ending === 'end') {
    exchange.end(unsent);
    return;
  }
  await exchange.write(unsent);
  if (plan.ending === 'reset') await exchange.reset();
  if (plan.ending === 'pings') await sendEndlessPings(parts);
}

/** Sends the frames with the waits between them. Returns the text that has not been written yet. */
async function sendFrames(
  { exchange, request, answer }: ResponseOptions,
  prepared: PreparedAnswer,
  plan: StreamPlan,
): Promise<string> {
  const pacing = new Pacing(answer);
  let gathered = '';
  for (const frame of plan.frames) {
    const pauseMs = pacing.computePauseMs(frame);
    if (pauseMs > 0) {
      await exchange.write(gathered);
      gathered = '';
      await exchange.wait(pauseMs);
    }
    gathered += frame.text;
    if (gathered.length > MAX_GATHERED_LENGTH) {
      await exchange.write(gathered);
      gathered = '';
    }
    if (exchange.closed) return '';
    if (frame.usage === true) request.outcome.usage = prepared.usage;
  }
  return gathered;
}

async function sendEndlessPings({ exchange, codec, answer }: ResponseOptions): Promise<void> {
  const { fault } = answer;
  const everyMs =
    (fault?.kind === 'ping_forever' ? fault.everyMs : undefined) ?? DEFAULT_INTERVAL_MS;
  // Without a wait, many pings are sent at once.
  const pings = everyMs === 0 ? codec.ping.repeat(PINGS_PER_WRITE) : codec.ping;
  while (!exchange.closed) {
    await exchange.wait(everyMs);
    await exchange.write(pings);
  }
}

/** Sends the answer as one JSON body. A fault for a stream breaks the body in the middle. */
async function sendJsonBody(parts: ResponseOptions): Promise<void> {
  const { exchange, codec, request, answer } = parts;
  const prepared = parts.prepare();
  const { fault } = answer;
  const kind = fault?.kind;
  if (kind === 'ping_forever' || kind === 'thinking_forever') return;
  if (fault?.kind === 'overloaded' || fault?.kind === 'error_event') {
    const error = fault.kind === 'overloaded' ? { status: 503, message: 'Overloaded' } : fault;
    sendStatus(exchange, codec, { ...error, kind: 'status' });
    return;
  }
  const body = JSON.stringify(codec.writeBody(prepared, request));
  const half = body.slice(0, body.length / 2);
  await exchange.wait(answer.firstTokenMs ?? 0);
  exchange.writeHead(200, {
    'content-type': 'application/json',
    'x-request-id': `req_${request.id}`,
  });
  switch (kind) {
    case 'reset':
      await exchange.write(half);
      await exchange.reset();
      return;
    case 'hang_after':
      await exchange.write(half);
      return;
    case 'truncate':
    case 'half_event':
    case 'malformed_frame':
      exchange.end(half);
      return;
    default:
      request.outcome.usage = prepared.usage;
      exchange.end(body);
  }
}

/** The interval at which an endless answer sends something, if the script does not state an interval. */
const DEFAULT_INTERVAL_MS = 50;

/** Computes the wait before each frame of an answer, in milliseconds. */
export class Pacing {
  private readonly firstMs: number;
  private readonly pieceMs: number;
  private hasContentBegun = false;
  private havePiecesBegun = false;

  constructor({ fault, firstTokenMs = 0, chunkMs = 0 }: ScriptedAnswer) {
    this.firstMs = firstTokenMs;
    this.pieceMs =
      fault?.kind === 'thinking_forever' ? (fault.everyMs ?? DEFAULT_INTERVAL_MS) : chunkMs;
  }

  computePauseMs(frame: Frame): number {
    let pauseMs = 0;
    if (frame.stage === 'content' && !this.hasContentBegun) {
      this.hasContentBegun = true;
      pauseMs = this.firstMs;
    }
    if (frame.piece === true) {
      if (this.havePiecesBegun) pauseMs += this.pieceMs;
      this.havePiecesBegun = true;
    }
    return pauseMs;
  }
}
