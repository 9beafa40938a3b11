import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';

const LONGEST = 60;

/** A value out of a file, variable or flag, short and harmless inside a one-line message. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : plain(value);
  const short = truncate(text, LONGEST);
  const shown = oneLine(short.length < text.length ? `${short}…` : short);
  return typeof value === 'string' ? `"${shown.replaceAll('"', '\\"')}"` : shown;
}

/** A name or path for a one-line message: whole, but with nothing in it that a terminal would act on. */
export function oneLine(text: string): string {
  return sanitizeForTerminal(text, 'exact').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Files give numbers, dates, arrays and tables beside strings; `nan` has no JSON. */
function plain(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value) ?? String(value);
}
