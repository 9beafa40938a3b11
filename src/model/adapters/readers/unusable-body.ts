import { ReportedError, WrongServer } from '../answer-errors.ts';
import { oneLine, pageSays } from '../server-says.ts';
import { isWebPage } from '../web-page.ts';

/** Lines of a stream that carry nothing: comments, and fields other than `data`. */
const EMPTY_LINES = /^(?::.*|(?:event|id|retry)\s*:.*|data\s*:\s*|\s*)$/gm;

/**
 * Words with which gateways say that the server behind them is away for now: of Envoy, nginx, HAProxy,
 * Cloudflare, AWS and Google's load balancers.
 */
const TRANSIENT =
  /upstream|\b(?:bad gateway|gateway time-?out|gateway error|service (?:is )?(?:temporarily )?unavailable|temporarily|try again|overloaded|no healthy|no server is available|too many requests|rate.?limit|connection (?:reset|refused|terminated|timed out|failure)|timed? ?out|internal server error|server error|50[0234]|52\d)\b/i;

/**
 * Returns the error for a body of which nothing is an event or an answer. Null: the body says nothing, so
 * that the answer just broke off.
 */
export function unusableBody(body: string, host: string): Error | null {
  const said = body.replaceAll(EMPTY_LINES, '').trim();
  if (said === '') return null;
  const says = isWebPage(said)
    ? pageSays(said, host)
    : `text in place of an answer from ${host}: "${oneLine(said)}"`;
  return isTransient(says) ? new ReportedError({ message: says }) : new WrongServer(says);
}

/** True for the words of a gateway whose server is away for now: the request can be sent again. */
export function isTransient(says: string): boolean {
  return TRANSIENT.test(says);
}
