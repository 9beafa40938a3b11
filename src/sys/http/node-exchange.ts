import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { pipeline } from 'node:stream/promises';

/**
 * Creates the web request for a request of Node. Throws TypeError if its address or a header cannot be used.
 *
 * @param signal aborts when the client has gone
 */
export function toWebRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headersDistinct, headers } = incoming;
  const list = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  // The address is made of the header `Host`, which the gate checks.
  const url = new URL(incoming.url ?? '/', `http://${headers.host ?? ''}`);
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(url, {
    method,
    headers: list,
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  });
  // The signal of a request does not abort any more once the request was collected, so the connection keeps the request.
  signal.addEventListener('abort', () => void request, { once: true });
  return request;
}

/** Sends a web response as the response of Node. Resolves when it is sent or the client has gone. */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, [...response.headers].flat());
  if (response.body === null) {
    outgoing.end();
    return;
  }
  // Streams of events begin before their first event.
  outgoing.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing);
  } catch (thrown) {
    if (!outgoing.destroyed) throw thrown;
    // The client has gone. The pipeline has cancelled the body.
  }
}
