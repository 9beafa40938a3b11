import { Hono, type Context } from 'hono';
import type { Tasks } from '../../api/index.ts';
import { isId } from '../../base/ids.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError } from '../../base/errors.ts';
import { findText } from './cut-texts.ts';
import {
  eventStreamResponse,
  type EventStreamOptions,
  type StreamMessage,
} from './event-stream.ts';
import { followLog } from './log-stream.ts';
import type { OverviewFeed } from './overview-feed.ts';
import { readPageFile } from './page-files.ts';
import { readJsonBody, readTextField, requireTextField } from './json-body.ts';
import { jsonResponse, refusal } from './responses.ts';
import type { TaskActions } from './task-actions.ts';
import { readDiff, readReport } from './task-replies.ts';
import { TaskSearch } from './task-search.ts';
import { compareTrees, toTimeline, toTreeUsage } from './tree-replies.ts';
import {
  actionPath,
  answerPath,
  API_PATHS,
  diffPath,
  eventsPath,
  MAX_TEXT,
  MAX_TREE_TASKS,
  reportPath,
  textPath,
  timelinePath,
  usagePath,
  type TaskAction,
  type TextPiece,
} from './wire.ts';

/** The parts of the server that answer requests. */
export interface WebParts {
  readonly tasks: Tasks;
  readonly feed: OverviewFeed;
  readonly actions: TaskActions;
  /** The directory with the files of the page. */
  readonly pageDirectory: URL;
  readonly onNotice: (line: string) => void;
}

/** The connection of a request. */
export interface RequestConnection {
  /** Ends the connection. */
  readonly disconnect: () => void;
}

type WebRoutes = Hono<{ Bindings: RequestConnection }>;
type WebContext = Context<{ Bindings: RequestConnection }>;

/** The maximum number of streams of events at the same time, of all pages together. */
const MAX_STREAMS = 64;

/** Creates the function that answers admitted requests. Errors that it throws are those of the requests. */
export function createRoutes(parts: WebParts): WebRoutes {
  const { tasks, feed } = parts;
  const app: WebRoutes = new Hono();
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
    return streams.respond(c, (signal) => followLog(tasks, { id, after, signal }));
  });
  app.get(TEXT_ROUTE, async (c) => await jsonResponse(c.req.raw, await readText(tasks, c)));
  addReads(app, parts);
  addActions(app, parts.actions);
  app.get('/', (c) => sendPageFile('index.html', parts, c));
  app.get('/*', (c) => sendPageFile(c.req.path.slice(1), parts, c));
  app.notFound((c) => refusal(404, `there is nothing at ${c.req.path}`));
  app.onError((thrown) => {
    throw thrown;
  });
  return app;
}

/** Adds the requests for what the logs of tasks say. */
function addReads(app: WebRoutes, { tasks, feed }: WebParts): void {
  const search = new TaskSearch(tasks);
  const readTree = (id: string) => tasks.boundedReport(id, MAX_TREE_TASKS);
  app.get(reportPath(':id'), async (c) =>
    jsonResponse(c.req.raw, await readReport(tasks, readTaskId(c))),
  );
  app.get(diffPath(':id'), async (c) =>
    jsonResponse(c.req.raw, await readDiff(tasks, readTaskId(c))),
  );
  app.get(timelinePath(':id'), async (c) =>
    jsonResponse(c.req.raw, toTimeline(await readTree(readTaskId(c)))),
  );
  app.get(usagePath(':id'), async (c) =>
    jsonResponse(c.req.raw, toTreeUsage(await readTree(readTaskId(c)))),
  );
  app.get(API_PATHS.compare, async (c) => {
    const [left, right] = ['left', 'right'].map((side) => checkId(c.req.query(side) ?? ''));
    const trees = [await readTree(left ?? ''), await readTree(right ?? '')] as const;
    return jsonResponse(c.req.raw, compareTrees(...trees));
  });
  app.get(API_PATHS.search, async (c) => {
    const { tasks: rows } = await feed.overview();
    return jsonResponse(
      c.req.raw,
      await search.find(c.req.query('q') ?? '', rows, c.req.raw.signal),
    );
  });
}

/** Adds the requests that change something. */
function addActions(app: WebRoutes, actions: TaskActions): void {
  const perform: Readonly<
    Record<TaskAction, (id: string, text: string | null) => Promise<unknown>>
  > = {
    stop: (id, text) => actions.stop(id, text),
    send: (id, text) => actions.continue(id, requireTextField({ text }, 'text')),
    resume: (id, text) => actions.continue(id, text),
    background: (id) => actions.background(id),
  };
  for (const [action, run] of Object.entries(perform)) {
    const path = actionPath(':id', action as TaskAction);
    app.get(path, refuseGet);
    app.post(path, async (c) => {
      const id = readTaskId(c);
      const text = readTextField(await readJsonBody(c.req.raw), 'text');
      return jsonResponse(c.req.raw, await run(id, text));
    });
  }
  app.get(answerPath(':id', ':question'), refuseGet);
  app.post(answerPath(':id', ':question'), async (c) => {
    const id = readTaskId(c);
    const question = c.req.param('question') ?? '';
    if (!question.startsWith(`${id}q`)) {
      throw new MusterError('NOT_FOUND', `task ${id} asks no question ${question}`);
    }
    const body = await readJsonBody(c.req.raw);
    const [scope, reason, plan] = ['scope', 'reason', 'plan'].map((name) =>
      readTextField(body, name),
    );
    const answer = {
      text: requireTextField(body, 'answer'),
      client: readTextField(body, 'client'),
      ...dropMissing({ scope, reason, plan }),
    };
    return jsonResponse(c.req.raw, await actions.answer(id, question, answer));
  });
  app.get(API_PATHS.start, async (c) => jsonResponse(c.req.raw, await actions.describeStart()));
  app.post(API_PATHS.start, async (c) => {
    const body = await readJsonBody(c.req.raw);
    const [agent = null, mode = null] = ['agent', 'mode'].map((name) => readTextField(body, name));
    const prompt = requireTextField(body, 'prompt');
    return jsonResponse(c.req.raw, await actions.start({ prompt, agent, mode }));
  });
}

function refuseGet(c: WebContext): Response {
  return refusal(405, `${c.req.path} changes something, and accepts only POST`);
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

/** Returns the id of a task in a path. */
function readTaskId(c: WebContext): string {
  return checkId(c.req.param('id') ?? '');
}

/** Throws `INVALID_PARAM` for a text that is no id. */
function checkId(text: string): string {
  if (isId(text)) return text;
  throw new MusterError('INVALID_PARAM', `${JSON.stringify(text)} is no id of a task`);
}

function readNumber(text: string, name: string): number {
  if (/^(?:\d{1,15}|-1)$/.test(text)) return Number(text);
  throw new MusterError('INVALID_PARAM', `${name} must be a number, not ${JSON.stringify(text)}`);
}
