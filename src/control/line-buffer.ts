const NEWLINE = 0x0a;

/** Splits a byte stream into lines. It stores at most one unfinished line of at most `maxBytes`. */
export class LineBuffer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The number of bytes of the unfinished line. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the lines that this chunk completes, without newlines. After `too-long` the buffer must not be used.
   */
  push(chunk: Buffer): readonly Buffer[] | 'too-long' {
    const lines: Buffer[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end === -1 ? chunk.length : end);
      this.#bytes += part.length;
      if (this.#bytes > this.#maxBytes) return 'too-long';
      this.#parts.push(part);
      if (end === -1) return lines;
      lines.push(Buffer.concat(this.#parts));
      this.#parts = [];
      this.#bytes = 0;
      start = end + 1;
    }
  }
}

/** Returns the text of a line, or undefined if it is not UTF-8. */
export function decodeLine(line: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    // The decoder throws only if the bytes are not valid UTF-8.
    return undefined;
  }
}
