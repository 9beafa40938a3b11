const NEWLINE = 0x0a;

/** The position of a line in a buffer, without its newline. */
export interface LineSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Yields the complete lines of a buffer. The text after the last newline is not a line, because it may still be
 * being written.
 */
export function* findLines(bytes: Uint8Array): Generator<LineSpan, void, undefined> {
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) return;
    yield { start, end };
    start = end + 1;
  }
}

/** Returns the number of bytes in complete lines. */
export function completeLinesLength(bytes: Uint8Array): number {
  return bytes.lastIndexOf(NEWLINE) + 1;
}

/** Parses a line of JSON. Returns undefined, which is not a JSON value, if the line is not valid. */
export function parseJsonLine(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return value;
  } catch {
    // Callers treat all invalid lines alike, so the kind of error does not matter.
    return undefined;
  }
}
