/** The headers in which servers say it, in the order in which they are believed. */
type Headers = Readonly<Record<string, string>>;

/**
 * The wait that the server asks for, in milliseconds: `retry-after-ms`; `retry-after` as seconds or
 * as a date; Google's `retryDelay` in the body; OpenAI's "try again in …" in its message, which is all
 * that an error inside a stream has. At most a year. Undefined: it asks for none, or in no form that is known.
 */
export function readRetryAfter(headers: Headers, body: string, now: number): number | undefined {
  const ms = statedWait(headers, body, now);
  return ms === undefined ? undefined : Math.min(ms, YEAR_MS);
}

/** Any number may be stated; no date is later than this and still one. */
const YEAR_MS = 365 * 24 * 3_600_000;

function statedWait(headers: Headers, body: string, now: number): number | undefined {
  const ms = decimal(headers['retry-after-ms']);
  if (ms !== undefined) return ms;
  return retryAfterHeader(headers['retry-after'], now) ?? retryDelay(body) ?? tryAgainIn(body);
}

function retryAfterHeader(header: string | undefined, now: number): number | undefined {
  const after = header?.trim();
  const seconds = decimal(after);
  if (seconds !== undefined) return seconds * 1000;
  // `Date.parse` takes numbers for years.
  const date = after === undefined || !/[a-z]/i.test(after) ? Number.NaN : Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0);
}

function retryDelay(body: string): number | undefined {
  const seconds = decimal(/"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1]);
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/** As in "Please try again in 6m0s." or "in 350ms." */
function tryAgainIn(body: string): number | undefined {
  const said = /try again in ((?:\d+(?:\.\d+)?(?:ms|h|m|s)){1,4})/i.exec(body)?.[1];
  if (said === undefined) return undefined;
  let total = 0;
  for (const [, count, unit = ''] of said.toLowerCase().matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)) {
    total += Number(count) * (UNIT_MS[unit] ?? 0);
  }
  return Math.ceil(total);
}

function decimal(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
