import type { ErrorCode } from '../base/errors.ts';
import { byteLength } from '../base/text.ts';
import type { CallDetails, ToolOutput } from '../protocol/tool.ts';

/** An output that says that the call failed, why, and what to do. */
export function failure(code: ErrorCode, text: string, facts?: CallDetails): ToolOutput {
  return { text, error: code, ...(facts === undefined ? {} : { facts }) };
}

/** The beginning of a text, of so many bytes at most, whole characters. */
export function cutAt(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  return bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\ufffd$/, '');
}

export interface FittedLines {
  readonly lines: readonly string[];
  /** How many did not fit. */
  readonly left: number;
}

/** As many lines, from the first, as fit `maxBytes` with their line ends. */
export function fitLines(lines: readonly string[], maxBytes: number): FittedLines {
  let used = 0;
  for (const [index, line] of lines.entries()) {
    used += byteLength(line) + 1;
    if (used > maxBytes) return { lines: lines.slice(0, index), left: lines.length - index };
  }
  return { lines, left: 0 };
}

/** A result with what was changed in the arguments of its call, a line each. */
export function withNotes(text: string, notes: readonly string[] = []): string {
  return [text, ...notes.map((note) => `[${note}]`)].filter((part) => part !== '').join('\n');
}
