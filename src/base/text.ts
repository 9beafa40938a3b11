/** Cuts a text after a number of code points, without adding a mark. */
export function truncate(text: string, maxCodePoints: number): string {
  if (text.length <= maxCodePoints) return text;
  let end = 0;
  for (let count = 0; count < maxCodePoints && end < text.length; count += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

/** Formats a count with its noun: `1 file`, `3 files`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Formats a duration in milliseconds as `850 ms`, `12.3 s` or `4 min 10 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** Returns the length in bytes in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Replaces each run of white space by one space, for lists in which each item takes one line. */
export function collapseWhitespace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns the names that a text lists, separated by white space. */
export function listNames(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/**
 * Removes the quotes around a text. A value from a file with `NAME="value"` still has them if no shell read the file.
 */
export function withoutQuotes(text: string): string {
  const inner = /^(["'])(.*)\1$/s.exec(text)?.[2];
  return inner === undefined ? text : inner.trim();
}

/** Quotes a text as one word for a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a text as one word for a POSIX shell, quoted if it contains a character that a shell may read otherwise. */
export function toShellWord(text: string): string {
  return /^[\w@%+:,./][\w@%+:,./-]*$/.test(text) ? text : quoteForShell(text);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns an age in words: `3 hours ago`. An age below a minute, and one in the future, is `just now`. */
export function formatAge(ms: number): string {
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return `${plural(Math.floor(ms / MINUTE_MS), 'minute')} ago`;
  if (ms < DAY_MS) return `${plural(Math.floor(ms / HOUR_MS), 'hour')} ago`;
  return `${plural(Math.floor(ms / DAY_MS), 'day')} ago`;
}
