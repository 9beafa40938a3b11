import { ReportedError, WrongServerError } from './answer-errors.ts';
import { toErrorLine, describeWebPage } from './error-body.ts';
import { isWebPage } from './markup.ts';

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
export function createBodyError(body: string, host: string): Error | null {
  const said = body.replaceAll(EMPTY_LINES, '').trim();
  if (said === '') return null;
  const says = isWebPage(said)
    ? describeWebPage(said, host)
    : `text in place of an answer from ${host}: "${toErrorLine(said)}"`;
  return isTransientMessage(says)
    ? new ReportedError({ message: says })
    : new WrongServerError(says);
}

/** True for the words of a gateway whose server is away for now: the request can be sent again. */
export function isTransientMessage(says: string): boolean {
  return TRANSIENT.test(says);
}
