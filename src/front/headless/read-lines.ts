const NEWLINE = 0x0a;

/** A line of an input, without its newline. */
export interface InputText {
  /** The number of the line, from 1. */
  readonly number: number;
  /** The text; null if the line is longer than the limit and was dropped. */
  readonly text: string | null;
}

/**
 * Reads the lines of a stream as they arrive. The last line may lack its newline. Memory is bounded by one line of `maxBytes`:
 * of a longer line only the number is reported.
 */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<InputText, void, undefined> {
  let number = 1;
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const take = (): InputText => {
    const text = bytes > maxBytes ? null : Buffer.concat(parts).toString('utf8');
    parts = [];
    bytes = 0;
    // Some programs begin a file with a byte order mark.
    const isMarked = number === 1 && text?.startsWith('\uFEFF') === true;
    return { number: number++, text: isMarked ? text.slice(1) : text };
  };
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      yield take();
    }
    add(chunk.subarray(start));
  }
  if (bytes > 0) yield take();
}
