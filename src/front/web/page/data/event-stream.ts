import { countStreamFailures, retryDelay } from '../model/retry-delay.ts';
import { PageError, type StreamState } from './page-source.ts';

/** A message of a stream, with the parsed data. */
export interface PageStreamMessage<N extends string> {
  readonly name: N;
  readonly data: unknown;
}

/** A stream of events of the server. */
export interface PageStreamOptions<N extends string> {
  /** The address after the message with the id `after`; null: from the beginning of the stream. */
  readonly address: (after: string | null) => string;
  /** The address of other data, which the server refuses for the same reasons as the stream. */
  readonly refusedLike: string;
  readonly names: readonly N[];
  /** The id of the last message that the page has already; null: none. */
  readonly after: string | null;
  /**
   * True if the stream pauses while the page is hidden. A browser has only six connections to a server, for all its pages
   * together.
   */
  readonly pausesWhenHidden: boolean;
  readonly receive: (message: PageStreamMessage<N>) => void;
  readonly state: (state: StreamState) => void;
}

/**
 * Receives a stream, and connects again after each interruption from the last message on. It ends if the server refuses
 * the page, or when the returned function is called.
 */
export function openEventStream<N extends string>(options: PageStreamOptions<N>): () => void {
  const { address, refusedLike, names, receive, state } = options;
  let { after } = options;
  let failures = 0;
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isEnded = false;

  const connect = (): void => {
    timer = null;
    const stream = new EventSource(address(after));
    const afterAtStart = after;
    let openedAt: number | null = null;
    source = stream;
    stream.addEventListener('open', () => {
      openedAt = performance.now();
      state({ kind: 'open' });
    });
    for (const name of names) {
      stream.addEventListener(name, (event: MessageEvent<string>) => {
        if (event.lastEventId !== '') after = event.lastEventId;
        receive({ name, data: JSON.parse(event.data) });
      });
    }
    stream.addEventListener('error', () => {
      // The browser would connect again by itself, but only after some failures, and with the first address.
      stream.close();
      source = null;
      failures = countStreamFailures(failures, {
        hasProgressed: after !== afterAtStart,
        openMs: openedAt === null ? 0 : performance.now() - openedAt,
      });
      if (!isEnded) void retry();
    });
  };

  const retry = async (): Promise<void> => {
    const reason = failures === 1 ? null : await findRefusal(refusedLike);
    if (isEnded || isPaused()) return;
    if (reason !== null) {
      state({ kind: 'refused', reason });
      return;
    }
    state({ kind: 'broken' });
    timer = setTimeout(connect, retryDelay(failures));
  };

  const isPaused = (): boolean => options.pausesWhenHidden && document.hidden;
  const close = (): void => {
    source?.close();
    source = null;
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  const onVisibility = (): void => {
    if (isPaused()) close();
    else if (source === null && timer === null) connect();
  };
  if (!isPaused()) connect();
  if (options.pausesWhenHidden) document.addEventListener('visibilitychange', onVisibility);
  return () => {
    isEnded = true;
    document.removeEventListener('visibilitychange', onVisibility);
    close();
  };
}

/**
 * Asks the server why a stream fails, which an EventSource does not say; null if it can be tried again. It asks for other
 * data, because the number of streams is limited.
 */
async function findRefusal(address: string): Promise<string | null> {
  const stop = new AbortController();
  try {
    const response = await fetch(address, { signal: stop.signal, cache: 'no-store' });
    if (response.ok || response.status >= 500 || response.status === 429) return null;
    return (await readPageError(response)).message;
  } catch {
    // There is no server at present, and the stream is tried again.
    return null;
  } finally {
    stop.abort();
  }
}

/** Reads why the server has refused a request. */
export async function readPageError(response: Response): Promise<PageError> {
  const body: unknown = await response.json().catch(() => null);
  const message =
    typeof body === 'object' &&
    body !== null &&
    'error' in body &&
    typeof body.error === 'object' &&
    body.error !== null &&
    'message' in body.error
      ? String(body.error.message)
      : `the server answered with ${response.status}`;
  return new PageError(message, response.status);
}
