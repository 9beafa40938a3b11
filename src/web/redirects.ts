import { parseWebUrl } from './parse-url.ts';
import type { HeaderMap } from '../sys/http/header-map.ts';
import { headersForOtherOrigin, headersWithoutBody, isReadingMethod } from './request-headers.ts';
import { cleanServerText, webError } from './web-errors.ts';

/** One request of a chain of redirects. */
export interface Hop {
  readonly method: string;
  readonly url: URL;
  readonly headers: HeaderMap;
  readonly body: string | Uint8Array | undefined;
}

/** The reaction to an answer. */
type RedirectPlan =
  /** The answer is not a redirect. */
  | { readonly kind: 'none' }
  | { readonly kind: 'follow'; readonly hop: Hop }
  /** The caller is told the target instead of being taken there. */
  | { readonly kind: 'stop'; readonly target: URL };

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Decides whether a redirect is followed, and with which request. Throws a MusterError for a target to which no request
 * may go.
 *
 * @param location the header of the answer; null: it has none
 * @param mayFollow tells whether a redirect to another host may be followed
 */
export function planRedirect(
  hop: Hop,
  { status, location }: { readonly status: number; readonly location: string | null },
  mayFollow: (url: URL) => boolean,
): RedirectPlan {
  if (!REDIRECT_STATUSES.has(status) || location === null) return { kind: 'none' };
  const target = parseTarget(location, hop.url);
  const isSameHost = target.hostname === hop.url.hostname;
  const isDowngrade = hop.url.protocol === 'https:' && target.protocol === 'http:';
  if (isDowngrade && !isSameHost) {
    throw refuseTarget(hop.url, target.href, 'leads from https to http of another host');
  }
  const next = nextHop(hop, target, status);
  // A body, or a request with an effect, is for the host that the caller named, over a connection as safe as the first.
  const isSafeTarget = isSameHost && !isDowngrade;
  const mayBeSent = isSafeTarget || (next.body === undefined && isReadingMethod(next.method));
  const isFollowed = mayBeSent && (isSameHost || mayFollow(target));
  return isFollowed ? { kind: 'follow', hop: next } : { kind: 'stop', target };
}

function parseTarget(location: string, base: URL): URL {
  const resolved = URL.parse(location, base.href);
  if (resolved === null) throw refuseTarget(base, location, 'leads to an invalid URL');
  const parsed = parseWebUrl(resolved.href);
  if (!parsed.ok) throw refuseTarget(base, location, `leads to a URL that ${parsed.problem}`);
  return parsed.url;
}

function refuseTarget(from: URL, target: string, problem: string): Error {
  const text = `the redirect to ${cleanServerText(target)} was not followed, because it ${problem}`;
  return webError('PERMISSION_DENIED', from, text);
}

/** Returns the request to the target of a redirect. Methods and bodies change as in browsers. */
function nextHop({ method, url, headers, body }: Hop, target: URL, status: number): Hop {
  const becomesGet =
    status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
  const shared = target.origin === url.origin ? headers : headersForOtherOrigin(headers);
  return becomesGet
    ? { method: 'GET', url: target, headers: headersWithoutBody(shared), body: undefined }
    : { method, url: target, headers: shared, body };
}
