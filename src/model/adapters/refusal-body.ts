import type { HttpResponse } from '../../sys/http-types.ts';

/** Of an error's body: its message is a line, and the rest is a proxy's page or worse. */
const MOST_BYTES = 65_536;

/** The response with no more than the beginning of its body; what comes after it is not waited for. */
export function withShortBody(response: HttpResponse): HttpResponse {
  const { status, statusText, ok, headers } = response;
  const body = response.body === null ? null : beginningOf(response.body);
  const text = async () => (body === null ? '' : await readText(body));
  return {
    status,
    statusText,
    ok,
    headers,
    body,
    text,
    json: async () => JSON.parse(await text()),
  };
}

/** The status tells enough, whatever is missing of its reasons. */
const BROKEN_OFF = { done: true, value: undefined } as const;

function beginningOf(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = MOST_BYTES;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => BROKEN_OFF);
      if (done) return controller.close();
      controller.enqueue(value.subarray(0, left));
      left -= value.length;
      if (left > 0) return;
      controller.close();
      await reader.cancel();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function readText(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
