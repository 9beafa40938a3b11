/**
 * Formats a time as `17:05:09` in the local time zone. `ms` is in milliseconds since the epoch; any number is
 * accepted, because a log may contain anything.
 */
export function formatClockTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date';
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
}

/**
 * Formats a time as `2026-03-01 17:05` in the local time zone, padded to the same width if the number is not a
 * valid time.
 */
export function formatLocalMinute(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date'.padEnd(16);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Formats a day as `2026-03-01` in the local time zone. */
export function formatLocalDay(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date';
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
