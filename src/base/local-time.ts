/** `17:05:09` of this machine's clock. Milliseconds since the epoch; a log may say anything. */
export function formatClockTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date';
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
}

/** `2026-03-01 17:05` of this machine's clock; as wide where the number is no time, as a log may say. */
export function formatLocalMinute(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date'.padEnd(16);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** `2026-03-01`, the day on this machine's clock. */
export function formatLocalDay(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date';
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
