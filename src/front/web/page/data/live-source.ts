import {
  actionPath,
  answerPath,
  API_PATHS,
  diffPath,
  eventsPath,
  KEY_HEADER,
  reportPath,
  textPath,
  timelinePath,
  usagePath,
  type ChangeMessages,
  type LoggedEvent,
  type LogMessages,
} from '../../wire.ts';
import { makeVisible } from '../model/make-visible.ts';
import { readAccessKey } from './access-key.ts';
import { openEventStream, readPageError } from './event-stream.ts';
import {
  PageError,
  type ChangesReceiver,
  type LogReceiver,
  type PageActions,
  type PageDataSource,
} from './page-source.ts';

const CHANGE_NAMES = [
  'rows',
  'gone',
  'question',
  'closed',
  'reset',
] as const satisfies readonly (keyof ChangeMessages)[];
const LOG_NAMES = ['log', 'live', 'reset'] as const satisfies readonly (keyof LogMessages)[];

/** The data of the server from which the page came. */
export function createLiveSource(): PageDataSource {
  return {
    actions,
    exportedAt: null,
    overview: () => get(API_PATHS.overview),
    followChanges,
    followLog,
    readText: ({ task, seq, pointer, from }) =>
      get(textPath(task, seq), { pointer, from: String(from) }),
    report: (id) => get(reportPath(id)),
    diff: (id) => get(diffPath(id)),
    timeline: (id) => get(timelinePath(id)),
    usage: (id) => get(usagePath(id)),
    search: (q) => get(API_PATHS.search, { q }),
    compare: (left, right) => get(API_PATHS.compare, { left, right }),
  };
}

const actions: PageActions = {
  act: (id, action, text) => post(actionPath(id, action), text === null ? {} : { text }),
  answer: ({ task, id }, body) => post(answerPath(task, id), body),
  startForm: () => get(API_PATHS.start),
  start: (request) => post(API_PATHS.start, request),
};

function followChanges(cursor: string, receiver: ChangesReceiver): () => void {
  return openEventStream({
    address: (after) => withQuery(API_PATHS.changes, { after: after ?? cursor }),
    refusedLike: API_PATHS.overview,
    names: CHANGE_NAMES,
    after: cursor,
    // The title of a hidden page counts the questions, and its notifications need them.
    pausesWhenHidden: false,
    receive({ name, data }) {
      // The server and the page have the same version, so the data has the type of its name.
      const change = receiver.changes[name] as (data: unknown) => void;
      change(makeVisible(data));
    },
    state: (state) => {
      receiver.state(state);
    },
  });
}

/** The number of events after which the page draws, although more have arrived already. */
const EVENTS_AT_ONCE = 200;

/** Follows a log. Events that arrive together are passed on together, so that a long log is not drawn event by event. */
function followLog(id: string, receiver: LogReceiver): () => void {
  let last = -1;
  let batch: LoggedEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (batch.length === 0) return;
    const events = batch;
    batch = [];
    receiver.events(events);
  };
  const close = openEventStream({
    address: (after) => withQuery(eventsPath(id), after === null ? {} : { after }),
    refusedLike: reportPath(id),
    names: LOG_NAMES,
    after: null,
    pausesWhenHidden: true,
    receive({ name, data }) {
      if (name === 'log') {
        const logged = makeVisible(data) as LoggedEvent;
        const { seq } = logged.event;
        if (seq <= last) return;
        // The numbers may have a gap, for a line that the server cannot read: to ask again would not help.
        last = seq;
        batch.push(logged);
        if (batch.length >= EVENTS_AT_ONCE) flush();
        else timer ??= setTimeout(flush, 16);
        return;
      }
      flush();
      if (name === 'live') receiver.live();
      else {
        close();
        receiver.reset((data as LogMessages['reset']).reason);
      }
    },
    state({ kind, ...rest }) {
      if (kind === 'refused' && 'reason' in rest) receiver.reset(rest.reason);
    },
  });
  return () => {
    close();
    if (timer !== null) clearTimeout(timer);
  };
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

async function get<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  return request<T>(withQuery(path, query), { method: 'GET' });
}

async function post<T>(path: string, body: object): Promise<T> {
  const key = readAccessKey();
  return request<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== null && { [KEY_HEADER]: key }) },
    body: JSON.stringify(body),
  });
}

async function request<T>(address: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address, { ...init, cache: 'no-store', credentials: 'same-origin' });
  } catch {
    throw new PageError('the server does not answer: is muster web still running?', null);
  }
  if (!response.ok) throw await readPageError(response);
  return makeVisible((await response.json()) as T);
}
