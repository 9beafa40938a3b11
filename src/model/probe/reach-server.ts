import { formatDuration } from '../../base/text.ts';
import { UsageError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import { fail, ok, warn, type Check } from '../../protocol/check.ts';
import type { Environment } from '../../sys/env.ts';
import type { HttpFetch, HttpResponse } from '../../sys/http/http-types.ts';
import { readProxySettings, selectProxy } from '../../sys/http/proxy-settings.ts';
import { findPageTitle, isWebPage } from '../adapters/errors/markup.ts';
import { explainConnectionError, type ConnectionError } from '../adapters/errors/model-failure.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { quoteServerText } from './probe-client.ts';

const NAME = 'address';
/** The time limit for one request, in milliseconds. */
const REACH_MS = 20_000;
/** The number of bytes of a page that are read to find its title. */
const MAX_PAGE_BYTES = 65_536;

export interface ReachDeps {
  readonly fetch: HttpFetch;
  readonly clock: Clock;
  /** The variables that name the proxy. */
  readonly environment: Environment;
  readonly version: string;
}

/** The way a server answers at one address, without a key. */
type Sighting =
  | { readonly kind: 'api' | 'missing' | 'failing'; readonly status: number; readonly ms: number }
  | { readonly kind: 'page'; readonly status: number; readonly title: string | null }
  | { readonly kind: 'unreachable'; readonly error: ConnectionError }
  | { readonly kind: 'misconfigured'; readonly message: string };

interface SeenAddress {
  readonly url: string;
  readonly seen: Sighting;
}

/**
 * Finds out whether a server answers at the addresses that its base URL may mean, without sending a key. The further
 * steps of a probe make sense unless the check fails.
 */
export async function reachServer(
  { baseUrl, otherBaseUrl, query }: ConfiguredProvider,
  deps: ReachDeps,
): Promise<Check> {
  const first = { url: baseUrl, seen: await look(baseUrl, query, deps) };
  const isSettled = first.seen.kind === 'api' || otherBaseUrl === undefined;
  const other = isSettled
    ? null
    : { url: otherBaseUrl, seen: await look(otherBaseUrl, query, deps) };
  return judgeAddress(first, other, describeProxy(baseUrl, deps.environment));
}

async function look(url: string, query: string | undefined, deps: ReachDeps): Promise<Sighting> {
  const { fetch, clock, version } = deps;
  const start = clock.monotonic();
  try {
    const headers = { accept: 'application/json', 'user-agent': `muster/${version}` };
    const signal = AbortSignal.timeout(REACH_MS);
    const address = `${url}/models${query === undefined ? '' : `?${query}`}`;
    const response = await fetch(address, { headers, signal });
    const ms = clock.monotonic() - start;
    const { status } = response;
    const page = await readBeginning(response);
    // Some servers send a page for each address that they do not have.
    if (status === 404 || status === 405) return { kind: 'missing', status, ms };
    if (isWebPage(page)) return { kind: 'page', status, title: findPageTitle(page) };
    return { kind: status >= 500 ? 'failing' : 'api', status, ms };
  } catch (thrown) {
    if (thrown instanceof UsageError) return { kind: 'misconfigured', message: thrown.message };
    return { kind: 'unreachable', error: explainConnectionError(thrown, clock.now()) };
  }
}

async function readBeginning({ body }: HttpResponse): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let remaining = MAX_PAGE_BYTES;
  for (;;) {
    const piece = await body.read();
    if (piece === null) return text + decoder.decode();
    text += decoder.decode(piece.subarray(0, remaining), { stream: true });
    remaining -= piece.length;
    if (remaining <= 0) {
      await body.cancel();
      return text;
    }
  }
}

function describeProxy(baseUrl: string, environment: Environment): string {
  try {
    const settings = readProxySettings(environment);
    const proxy = settings === null ? null : selectProxy(new URL(baseUrl), settings);
    // The address of a proxy may contain a password.
    return proxy === null ? '' : `, through the proxy ${proxy.host}`;
  } catch (thrown) {
    // The request has failed for the same reason, and its check says so.
    if (thrown instanceof UsageError) return '';
    throw thrown;
  }
}

/** Judges the address of a server. `other`: the other address that its base URL may mean; null: it was not needed. */
export function judgeAddress(first: SeenAddress, other: SeenAddress | null, proxy: string): Check {
  const found = [first, ...(other === null ? [] : [other])].find(({ seen }) => seen.kind === 'api');
  if (found?.seen.kind === 'api') {
    const { status, ms } = found.seen;
    const before = found === first ? '' : `${first.url} has no API, but `;
    return ok(
      NAME,
      `${before}${found.url} answers (HTTP ${status} after ${formatDuration(ms)}${proxy})`,
    );
  }
  const { seen } = first;
  switch (seen.kind) {
    case 'misconfigured':
      return fail(NAME, seen.message, 'correct the variable');
    case 'unreachable':
      return fail(
        NAME,
        `${first.url}: ${quoteServerText(seen.error.text)}${proxy}`,
        reachHint(seen.error),
      );
    case 'page':
      return fail(
        NAME,
        `${first.url} answers with a web page${seen.title === null ? '' : `, "${quoteServerText(seen.title)}"`} (HTTP ${seen.status}${proxy})`,
        'give the base URL of the API, which often ends with /v1; if it is the login page of a proxy, sign in there first',
      );
    case 'failing':
      return fail(
        NAME,
        `${first.url} answers with HTTP ${seen.status}${proxy}: the server has a fault, or the proxy before it cannot reach it`,
        'look in the log of the server, or try again later',
      );
    case 'api':
    case 'missing': {
      const addresses = [first, ...(other === null ? [] : [other])].map(({ url }) => url);
      return warn(
        NAME,
        `the server answers, but has no list of models at ${addresses.join(' or ')}${proxy}`,
        'correct the URL if the next steps fail too',
      );
    }
    default:
      return seen satisfies never;
  }
}

/** The next steps after the errors of connections, by their codes. */
const HINTS: readonly (readonly [codes: RegExp, hint: string])[] = [
  [
    /ENOTFOUND|EAI_AGAIN/,
    'correct the name of the host; in a company network, connect to its VPN or set HTTPS_PROXY',
  ],
  [/ECONNREFUSED/, 'start the server, or correct the port'],
  [/ECONNRESET|EPIPE/, 'should the URL begin with https://?'],
];

function reachHint({ hint, code = '' }: ConnectionError): string {
  const known = HINTS.find(([codes]) => codes.test(code))?.[1];
  return hint ?? known ?? 'check the URL, the firewall, and the proxy (HTTPS_PROXY, NO_PROXY)';
}
