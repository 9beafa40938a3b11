import { Hono, type Context } from 'hono';
import type { Tasks } from '../../api/index.ts';
import { isId } from '../../base/ids.ts';
import { MusterError } from '../../base/errors.ts';
import { findText } from './cut-texts.ts';
import {
  eventStreamResponse,
  type EventStreamOptions,
  type StreamMessage,
} from './event-stream.ts';
import { streamLog } from './log-stream.ts';
import type { OverviewFeed } from './overview-feed.ts';
import { readPageFile } from './page-files.ts';
import { jsonResponse, refusal } from './responses.ts';
import { API_PATHS, eventsPath, MAX_TEXT, textPath, type TextPiece } from './wire.ts';

/** The parts of the server that answer requests. */
export interface WebParts {
  readonly tasks: Tasks;
  readonly feed: OverviewFeed;
  /** The directory with the files of the page. */
  readonly pageDirectory: URL;
  readonly onNotice: (line: string) => void;
}

/** The connection of a request. */
export interface Connection {
  /** Ends the connection. */
  readonly disconnect: () => void;
}

type WebContext = Context<{ Bindings: Connection }>;

/** The maximum number of streams of events at the same time, of all pages together. */
const MAX_STREAMS = 64;

/** Creates the function that answers admitted requests. Errors that it throws are those of the requests. */
export function createRoutes(parts: WebParts): Hono<{ Bindings: Connection }> {
  const { tasks, feed } = parts;
  const app = new Hono<{ Bindings: Connection }>();
  const streams = new StreamCounter(parts);
  app.get(API_PATHS.overview, async (c) => await jsonResponse(c.req.raw, await feed.overview()));
  app.get(API_PATHS.changes, (c) => {
    const cursor = c.req.header('last-event-id') ?? c.req.query('after') ?? '';
    return streams.respond(c, (signal) => feed.ring.follow(cursor, signal), feed.addReader());
  });
  app.get(eventsPath(':id'), (c) => {
    const id = readTaskId(c);
    const after = readNumber(
      c.req.header('last-event-id') ?? c.req.query('after') ?? '-1',
      'after',
    );
    tasks.state(id);
    return streams.respond(c, (signal) => streamLog(tasks, { id, after, signal }));
  });
  app.get(TEXT_ROUTE, async (c) => await jsonResponse(c.req.raw, await readText(tasks, c)));
  app.get('/', (c) => sendPageFile('index.html', parts, c));
  app.get('/*', (c) => sendPageFile(c.req.path.slice(1), parts, c));
  app.notFound((c) => refusal(404, `there is nothing at ${c.req.path}`));
  app.onError((thrown) => {
    throw thrown;
  });
  return app;
}

/** The path of `textPath` as a pattern. */
const TEXT_ROUTE = textPath(':id', 0).replace('/0/', '/:seq/');

class StreamCounter {
  readonly #onNotice: EventStreamOptions['onNotice'];
  #open = 0;

  constructor({ onNotice }: Pick<WebParts, 'onNotice'>) {
    this.#onNotice = onNotice;
  }

  /** Responds with a stream that ends with its connection. `onEnd` is called at its end. */
  respond(
    c: WebContext,
    open: (signal: AbortSignal) => AsyncIterable<StreamMessage | null>,
    onEnd: () => void = () => {},
  ): Response {
    const { signal } = c.req.raw;
    if (this.#open >= MAX_STREAMS || signal.aborted) {
      onEnd();
      return refusal(
        429,
        `${MAX_STREAMS} streams are open, which is the limit: close pages that you do not need`,
      );
    }
    this.#open += 1;
    signal.addEventListener(
      'abort',
      () => {
        this.#open -= 1;
        onEnd();
      },
      { once: true },
    );
    return eventStreamResponse(open(signal), {
      disconnect: c.env.disconnect,
      onNotice: this.#onNotice,
    });
  }
}

async function readText(tasks: Tasks, c: WebContext): Promise<TextPiece> {
  const id = readTaskId(c);
  const seq = readNumber(c.req.param('seq') ?? '', 'the number of the event');
  const from = readNumber(c.req.query('from') ?? '0', 'from');
  const pointer = c.req.query('pointer') ?? '';
  for await (const event of tasks.events(id, seq)) {
    const text = event.seq === seq ? findText(event, pointer) : null;
    if (text === null) break;
    return { text: text.slice(from, from + MAX_TEXT), from, length: text.length };
  }
  throw new MusterError('NOT_FOUND', `event ${seq} of task ${id} has no text at ${pointer}`);
}

async function sendPageFile(
  name: string,
  { pageDirectory }: WebParts,
  c: WebContext,
): Promise<Response> {
  const file = await readPageFile(name, pageDirectory);
  if (file === null) return refusal(404, `there is nothing at ${c.req.path}`);
  return new Response(file.bytes, { headers: { 'content-type': file.type } });
}

/** Returns the id of a task in a path. Throws `INVALID_PARAM` for any other text. */
function readTaskId(c: WebContext): string {
  const id = c.req.param('id') ?? '';
  if (isId(id)) return id;
  throw new MusterError('INVALID_PARAM', 'the path has no id of a task');
}

function readNumber(text: string, name: string): number {
  if (/^(?:\d{1,15}|-1)$/.test(text)) return Number(text);
  throw new MusterError('INVALID_PARAM', `${name} must be a number, not ${JSON.stringify(text)}`);
}
