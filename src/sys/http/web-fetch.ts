import type { HttpFetch, ResponseBody } from './http-types.ts';

/** The part of the global `fetch` that the SDKs of protocols use. */
export type WebFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The statuses whose responses have no body. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);
/** The bytes of a line end. An event of a stream ends with two line ends. */
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Creates a `fetch` for the SDK of a protocol from Muster's own HTTP client, which knows the user's proxies and certificates.
 * `maxBytes`: the maximum size of a body, or of one event in a stream of events.
 */
export function createWebFetch(http: HttpFetch, maxBytes: number): WebFetch {
  return async (url, init = {}) => {
    const { body, signal } = init;
    if (typeof body !== 'string' && body !== undefined && body !== null) {
      throw new TypeError('the body of a request must be a text');
    }
    const response = await http(url, {
      method: init.method ?? 'GET',
      headers: toRecord(init.headers),
      redirect: 'manual',
      ...(typeof body === 'string' ? { body } : {}),
      ...(signal instanceof AbortSignal ? { signal } : {}),
    });
    const { status, statusText } = response;
    const headers = new Headers();
    for (const [name, value] of response.headers) headers.append(name, value);
    if (response.body === null || WITHOUT_BODY.has(status)) {
      await response.body?.cancel();
      return new Response(null, { status, statusText, headers });
    }
    const isEventStream = headers.get('content-type')?.includes('text/event-stream') === true;
    const stream = toStream(response.body, new SizeCheck(maxBytes, isEventStream));
    return new Response(stream, { status, statusText, headers });
  };
}

/** The error of a body, or of one event of a stream, that is larger than allowed. */
export class MessageTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the server sent more than ${maxBytes} bytes in one message`);
  }
}

function toRecord(headers: RequestInit['headers']): Record<string, string> {
  if (headers === undefined || headers === null) return {};
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [String(name), String(value)]));
}

function toStream(body: ResponseBody, check: SizeCheck): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = await body.read();
      if (piece === null) {
        controller.close();
        return;
      }
      if (!check.accepts(piece)) {
        await body.cancel();
        throw new MessageTooLargeError(check.maxBytes);
      }
      controller.enqueue(piece);
    },
    cancel: () => body.cancel(),
  });
}

/** Counts the bytes of a body. In a stream of events, each event is counted alone. */
class SizeCheck {
  readonly maxBytes: number;
  private readonly isEventStream: boolean;
  private bytes = 0;
  /** True if the last line that ended so far is empty except for what follows. */
  private isLineEmpty = true;

  constructor(maxBytes: number, isEventStream: boolean) {
    this.maxBytes = maxBytes;
    this.isEventStream = isEventStream;
  }

  accepts(piece: Uint8Array): boolean {
    this.bytes += piece.length;
    if (this.isEventStream) this.findEventEnd(piece);
    return this.bytes <= this.maxBytes;
  }

  /** Starts the count anew after the last empty line. */
  private findEventEnd(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at];
      if (byte === RETURN) continue;
      if (byte === NEWLINE && this.isLineEmpty) this.bytes = piece.length - at - 1;
      this.isLineEmpty = byte === NEWLINE;
    }
  }
}
