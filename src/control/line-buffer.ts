const NEWLINE = 0x0a;

/** Cuts a byte stream into lines; holds at most one unfinished line, and no more of it than allowed. */
export class LineBuffer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the line that has no newline yet. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /** The lines that this chunk completes, newlines left out; `too-long` ends the use of the buffer. */
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

/** Text of a line, or undefined where it is no UTF-8. */
export function lineText(line: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    // The one thing that decoding says by throwing.
    return undefined;
  }
}
