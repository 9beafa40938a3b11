import { errorMessage, MusterError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import type { HttpFetch, HttpResponse, ResponseBody } from '../../sys/http/http-types.ts';
import type { FoundPage, SearchServiceName, WebQuery } from '../../protocol/web-search.ts';
import { cleanResults } from './clean-results.ts';
import { SERVICES, type SearchAccess } from './search-services.ts';

const MAX_ANSWER_BYTES = 2_000_000;
const TIMEOUT_MS = 20_000;
const MAX_ERROR_LENGTH = 300;

/** A search service that the user has configured. */
export interface ConfiguredSearch {
  readonly service: SearchServiceName;
  readonly access: SearchAccess;
}

/** The means of a search. */
interface SearchOptions {
  readonly fetch: HttpFetch;
  readonly signal: AbortSignal;
}

/**
 * Searches the web with a service. Returns at most ten results from the domains that the query allows, with clean texts
 * of bounded length.
 *
 * Rejects with a MusterError that names the service and says what to do, or with the reason of the signal.
 */
export async function searchWeb(
  { service, access }: ConfiguredSearch,
  query: WebQuery,
  { fetch, signal }: SearchOptions,
): Promise<readonly FoundPage[]> {
  const { buildRequest, readResults } = SERVICES[service];
  const { url, request } = buildRequest(query, access);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response: HttpResponse;
  let text: string;
  try {
    response = await fetch(url, { ...request, signal: AbortSignal.any([signal, timeout]) });
    text = await readBounded(response.body);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof MusterError) throw thrown;
    if (timeout.aborted) {
      const message = `${service} has not answered within ${TIMEOUT_MS / 1000} s.`;
      throw new MusterError('TIMEOUT', message, { retryable: true });
    }
    const { cause = thrown } = thrown instanceof Error ? thrown : { cause: thrown };
    const message = `${service} cannot be reached at ${new URL(url).origin}: ${errorMessage(cause)}`;
    throw new MusterError('PROVIDER_ERROR', message, { retryable: true, cause: thrown });
  }
  if (!response.ok) throw describeFailure(service, response, text);
  const pages = readResults(parseJson(text));
  if (pages === undefined) {
    const hint = service === 'searxng' ? ' Does it allow the format json (search.formats)?' : '';
    throw new MusterError('PROVIDER_ERROR', `${service} sent no list of results.${hint}`);
  }
  return cleanResults(pages, query);
}

async function readBounded(body: ResponseBody | null): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await body?.read(); piece; piece = await body?.read()) {
    pieces.push(piece);
    size += piece.byteLength;
    if (size > MAX_ANSWER_BYTES) {
      await body?.cancel();
      const message = `The answer of the search service is longer than ${MAX_ANSWER_BYTES} bytes.`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Parses JSON. Returns null for a text that is not JSON, in which there are no results. */
function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

function describeFailure(
  service: SearchServiceName,
  { status }: HttpResponse,
  text: string,
): MusterError {
  const [variable = ''] = SERVICES[service].variables;
  const said = truncate(sanitizeLine(text), MAX_ERROR_LENGTH);
  const advice: Readonly<Record<number, string>> = {
    401: `The key is not accepted: check ${variable}.`,
    402: 'The account has no credit left.',
    403:
      service === 'searxng'
        ? 'The instance does not allow the format json (search.formats in its settings).'
        : `The key may not be used for this: check ${variable}.`,
    429: 'Too many searches: try again later.',
  };
  const message = `${service} answered HTTP ${status}. ${advice[status] ?? said}`;
  return new MusterError('PROVIDER_ERROR', message, { retryable: status === 429 || status >= 500 });
}
