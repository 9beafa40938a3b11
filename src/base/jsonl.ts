const NEWLINE = 0x0a;

/** Where a line stands in a buffer, its newline left out. */
export interface LineSpan {
  readonly start: number;
  readonly end: number;
}

/** The whole lines of a buffer. What follows the last newline is no line: it may still be written. */
export function* findLines(bytes: Uint8Array): Generator<LineSpan, void, undefined> {
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) return;
    yield { start, end };
    start = end + 1;
  }
}

/** How many bytes of a buffer are whole lines. */
export function completeLinesLength(bytes: Uint8Array): number {
  return bytes.lastIndexOf(NEWLINE) + 1;
}

/** The value of a line of JSON, or undefined (which JSON has no word for) when it is none. */
export function parseJsonLine(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return value;
  } catch {
    // Whatever was wrong with it, the caller's answer is the same: it is not a line of ours.
    return undefined;
  }
}
