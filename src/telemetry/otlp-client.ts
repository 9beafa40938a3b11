import type { JsonObject } from '../base/json.ts';
import { errorMessage } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { VERSION } from '../base/version.ts';
import type { HttpFetch, HttpResponse } from '../sys/http/http-types.ts';

/** The time for one request to the receiver (`otel_request_seconds`), as the specification of OpenTelemetry sets it. */
const REQUEST_MS = 10_000;
/** The maximum size of a response that is read (`otel_response_bytes`). */
const MAX_RESPONSE_BYTES = 65_536;
/** The statuses for which the specification of OTLP asks to send the same data again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The outcome of one request: `failed` if the same data may be accepted later. */
export type SendOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'refused' | 'failed'; readonly reason: string };

/** Sends OTLP over HTTP, encoded as JSON. Redirects are not followed, since the headers may contain a key. */
export class OtlpClient {
  private readonly fetch: HttpFetch;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(fetch: HttpFetch, headers: Readonly<Record<string, string>>) {
    this.fetch = fetch;
    this.headers = {
      ...headers,
      'content-type': 'application/json',
      'user-agent': `muster/${VERSION}`,
    };
  }

  /** Sends one request. Never rejects. `signal` ends it early. */
  async send(url: URL, body: JsonObject, signal: AbortSignal): Promise<SendOutcome> {
    const limit = AbortSignal.timeout(REQUEST_MS);
    try {
      const response = await this.fetch(url, {
        method: 'POST',
        headers: this.headers,
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, limit]),
        redirect: 'manual',
      });
      const text = await readStart(response);
      if (response.ok) return readPartialSuccess(text);
      const kind = RETRYABLE.has(response.status) ? 'failed' : 'refused';
      return { kind, reason: `it answered with status ${response.status}` };
    } catch (thrown) {
      return { kind: 'failed', reason: describeFailure(thrown, { signal, limit }) };
    }
  }
}

function describeFailure(
  thrown: unknown,
  { signal, limit }: { readonly signal: AbortSignal; readonly limit: AbortSignal },
): string {
  if (limit.aborted) return `it did not answer within ${REQUEST_MS / 1000} s`;
  if (signal.aborted) return 'it did not answer in time';
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return errorMessage(cause ?? thrown);
}

/** Reads the beginning of a response, so that the connection can be used again. */
async function readStart({ body }: HttpResponse): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for (let size = 0; size < MAX_RESPONSE_BYTES;) {
    const piece = await body.read();
    if (piece === null) return text + decoder.decode();
    size += piece.byteLength;
    text += decoder.decode(piece, { stream: true });
  }
  await body.cancel();
  return text;
}

/** Reads the answer to an accepted request, which may still report that parts of the data were rejected. */
function readPartialSuccess(text: string): SendOutcome {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Some receivers answer with an empty body or with another encoding. The status is enough.
    return { kind: 'sent' };
  }
  const partial = isJsonObject(parsed) ? parsed['partialSuccess'] : undefined;
  if (!isJsonObject(partial)) return { kind: 'sent' };
  const rejected = Number(partial['rejectedSpans'] ?? partial['rejectedDataPoints'] ?? 0);
  return rejected > 0
    ? { kind: 'refused', reason: `it rejected ${rejected} of the records` }
    : { kind: 'sent' };
}
