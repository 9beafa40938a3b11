/** One message of a stream of events. */
export interface StreamMessage {
  readonly event: string;
  /** The position after the message, from which the stream continues; null for a message without a position. */
  readonly id: string | null;
  /** One line of JSON. */
  readonly data: string;
}

/** The time after which a stream shows a sign of life. Proxies and browsers end streams that say nothing. */
export const SIGN_OF_LIFE_MS = 15_000;
/** The time for which a client may read nothing. Its connection then ends, and it continues at its last message. */
const MAX_STALL_MS = 60_000;
/** The time after which a browser connects again. */
const RETRY_MS = 1_000;

export interface EventStreamOptions {
  /** Ends the connection of the client. */
  readonly disconnect: () => void;
  /** Called with one line for people if a client does not read. */
  readonly onNotice: (line: string) => void;
  /** Default: `MAX_STALL_MS`. */
  readonly maxStallMs?: number;
}

/**
 * Creates the response for a stream of events. Null is a sign of life. A message is produced only when the client has read
 * the one before, so that a client that does not read costs no memory; after a minute its connection ends.
 */
export function eventStreamResponse(
  messages: AsyncIterable<StreamMessage | null>,
  options: EventStreamOptions,
): Response {
  return new Response(ReadableStream.from(encodeMessages(messages, options)), {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
  });
}

async function* encodeMessages(
  messages: AsyncIterable<StreamMessage | null>,
  { disconnect, onNotice, maxStallMs = MAX_STALL_MS }: EventStreamOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  yield encoder.encode(`retry: ${RETRY_MS}\n\n`);
  for await (const message of messages) {
    const stalled = setTimeout(() => {
      onNotice(
        `a page has read nothing for ${maxStallMs / 1000} s, which is the limit: its connection is closed, and it continues where it was when it connects again`,
      );
      disconnect();
    }, maxStallMs);
    try {
      yield encoder.encode(message === null ? ': alive\n\n' : formatMessage(message));
    } finally {
      clearTimeout(stalled);
    }
  }
}

function formatMessage({ event, id, data }: StreamMessage): string {
  return `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
