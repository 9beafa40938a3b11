import { ReportedError, WrongServerError } from './answer-errors.ts';
import { toErrorLine, describePage } from './error-body.ts';
import { isWebPage } from './markup.ts';

/** The lines of a stream without content: comments, and fields other than `data`. */
const EMPTY_LINES = /^(?::.*|(?:event|id|retry)\s*:.*|data\s*:\s*|\s*)$/gm;

/**
 * Matches the texts with which gateways say that the server behind them is unavailable for now: those of Envoy,
 * nginx, HAProxy, Cloudflare, AWS and Google's load balancers.
 */
const TRANSIENT =
  /upstream|\b(?:bad gateway|gateway time-?out|gateway error|service (?:is )?(?:temporarily )?unavailable|temporarily|try again|overloaded|no healthy|no server is available|too many requests|rate.?limit|connection (?:reset|refused|terminated|timed out|failure)|timed? ?out|internal server error|server error|50[0234]|52\d)\b/i;

/**
 * Creates the error for a body that contains neither an event nor an answer. Returns null if the body is empty,
 * which means that the connection broke before the answer.
 */
export function createBodyError(body: string, host: string): Error | null {
  const text = body.replaceAll(EMPTY_LINES, '').trim();
  if (text === '') return null;
  const message = isWebPage(text)
    ? describePage(text, host)
    : `text instead of an answer from ${host}: "${toErrorLine(text)}"`;
  return isTransient(message) ? new ReportedError({ message }) : new WrongServerError(message);
}

/** Returns true for the message of a gateway whose server is unavailable for now: the request can be sent again. */
export function isTransient(message: string): boolean {
  return TRANSIENT.test(message);
}
