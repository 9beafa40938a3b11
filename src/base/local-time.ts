/** The text for a number that is not a valid time. A log may contain anything. */
const NO_DATE = 'no date';

/** Formats a time as `17:05:09` in the local time zone. `ms` is in milliseconds since the epoch. */
export function formatClockTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return NO_DATE;
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => padNumber(part, 2))
    .join(':');
}

/**
 * Formats a time as `2026-03-01 17:05` in the local time zone. The text for an invalid time is padded to the same
 * width.
 */
export function formatLocalMinute(ms: number): string {
  const day = formatLocalDay(ms);
  return day === NO_DATE ? day.padEnd(16) : `${day} ${formatClockTime(ms).slice(0, 5)}`;
}

/** Formats a day as `2026-03-01` in the local time zone. */
export function formatLocalDay(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return NO_DATE;
  return [
    padNumber(at.getFullYear(), 4),
    padNumber(at.getMonth() + 1, 2),
    padNumber(at.getDate(), 2),
  ].join('-');
}

function padNumber(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
