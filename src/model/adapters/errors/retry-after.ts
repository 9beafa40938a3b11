type Headers = Readonly<Record<string, string>>;

/**
 * Reads the wait in milliseconds that a server asks for. Sources in order of priority: `retry-after-ms`;
 * `retry-after` as seconds or as a date; Google's `retryDelay` in the body; OpenAI's "try again in …" in the
 * message, which is all that an error inside a stream has. The wait is at most a year. Returns undefined if the
 * server asks for none in a known form.
 */
export function readRetryAfter(headers: Headers, body: string, now: number): number | undefined {
  const ms = findStatedWait(headers, body, now);
  return ms === undefined ? undefined : Math.min(ms, YEAR_MS);
}

/** The longest wait. A server may state any number, and later dates would be invalid. */
const YEAR_MS = 365 * 24 * 3_600_000;

function findStatedWait(headers: Headers, body: string, now: number): number | undefined {
  const ms = parseDecimal(headers['retry-after-ms']);
  if (ms !== undefined) return ms;
  return parseRetryAfter(headers['retry-after'], now) ?? findRetryDelay(body) ?? findTryAgain(body);
}

function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const after = header?.trim();
  const seconds = parseDecimal(after);
  if (seconds !== undefined) return seconds * 1000;
  // `Date.parse` takes numbers for years.
  const date = after === undefined || !/[a-z]/i.test(after) ? Number.NaN : Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0);
}

function findRetryDelay(body: string): number | undefined {
  const seconds = parseDecimal(/"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1]);
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/** Reads the wait from a message such as "Please try again in 6m0s." or "in 350ms." */
function findTryAgain(body: string): number | undefined {
  const text = /try again in ((?:\d+(?:\.\d+)?(?:ms|h|m|s)){1,4})/i.exec(body)?.[1];
  if (text === undefined) return undefined;
  let total = 0;
  for (const [, count, unit = ''] of text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)) {
    total += Number(count) * (UNIT_MS[unit] ?? 0);
  }
  return Math.ceil(total);
}

function parseDecimal(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text.trim())) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
