/** `17:05:09` of this machine's clock. Milliseconds since the epoch; a log may say anything. */
export function clockTime(ms: number): string {
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return 'no date';
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
