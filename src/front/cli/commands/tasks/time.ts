/** `17:05:09.120` of this machine's clock; as wide where the number is no time. */
export function localTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date'.padEnd(12);
  const millis = String(at.getMilliseconds()).padStart(3, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${millis}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
