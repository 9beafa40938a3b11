/**
 * How much of one answer is taken. No model's output limit comes near them: they are there for a
 * server that never ends, or a model that says the same for ever.
 */
export interface AnswerCaps {
  /** `answer_bytes`: text, reasoning and arguments of calls together, in UTF-8. */
  readonly contentBytes: number;
  /** `answer_event_bytes`: one line of the stream, which has to be kept until it is whole. */
  readonly eventBytes: number;
  /** `answer_stream_bytes`: all that came over the wire for it, signs of life too. */
  readonly streamBytes: number;
}

export const ANSWER_CAPS: AnswerCaps = {
  contentBytes: 8 * 2 ** 20,
  eventBytes: 16 * 2 ** 20,
  streamBytes: 256 * 2 ** 20,
};

/** More came than is taken of one answer. Asked again, it would come again. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(limit: string, most: number) {
    super(`the answer is over the limit ${limit} = ${most}, and was given up`);
  }
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Counts what comes over the wire for one answer, chunk by chunk and without keeping any of it. */
export class StreamMeter {
  private total = 0;
  private line = 0;
  private readonly caps: AnswerCaps;

  constructor(caps: AnswerCaps) {
    this.caps = caps;
  }

  /** What is wrong once this chunk has come, too; null: nothing. */
  add(chunk: Uint8Array): AnswerTooLargeError | null {
    const { eventBytes, streamBytes } = this.caps;
    this.total += chunk.length;
    // Few servers end lines with the other one alone: looked for only once a line has grown long.
    const end =
      this.line > eventBytes / 2 && !chunk.includes(LINE_FEED) ? CARRIAGE_RETURN : LINE_FEED;
    const firstEnd = chunk.indexOf(end);
    const longest = this.line + (firstEnd === -1 ? chunk.length : firstEnd);
    this.line = firstEnd === -1 ? longest : chunk.length - chunk.lastIndexOf(end) - 1;
    if (longest > eventBytes) return new AnswerTooLargeError('answer_event_bytes', eventBytes);
    if (this.total > streamBytes)
      return new AnswerTooLargeError('answer_stream_bytes', streamBytes);
    return null;
  }
}
