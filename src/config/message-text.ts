import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';

const MAX_QUOTED_LENGTH = 60;

/** Returns a value from a file, variable or flag as a short, safe text for a one-line message. */
export function quoteValue(value: unknown): string {
  const text = typeof value === 'string' ? value : valueToText(value);
  const short = truncate(text, MAX_QUOTED_LENGTH);
  const shown = escapeLine(short.length < text.length ? `${short}…` : short);
  return typeof value === 'string' ? `"${shown.replaceAll('"', '\\"')}"` : shown;
}

/**
 * Returns a name or path for a one-line message, without anything that a terminal would interpret.
 */
export function escapeLine(text: string): string {
  return sanitizeForTerminal(text, 'exact').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/**
 * Returns a number, date, array or table as text. Numbers are not written as JSON, which has no `nan` and no bigint.
 */
function valueToText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value) ?? String(value);
}
