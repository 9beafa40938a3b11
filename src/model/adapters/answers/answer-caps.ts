import { AnswerTooLargeError } from '../errors/answer-errors.ts';

/**
 * The limits on the size of one answer. They are far above the output limit of any model, and stop servers that
 * never end and models that repeat themselves for ever.
 */
export interface AnswerCaps {
  /** `answer_bytes`: text, reasoning and arguments of calls together, in UTF-8. */
  readonly contentBytes: number;
  /** `answer_event_bytes`: one line of the stream, which is kept until it is complete. */
  readonly eventBytes: number;
  /** `answer_stream_bytes`: all bytes of the response, including pings. */
  readonly streamBytes: number;
}

/** The default limits. */
export const ANSWER_CAPS: AnswerCaps = {
  contentBytes: 8 * 2 ** 20,
  eventBytes: 16 * 2 ** 20,
  streamBytes: 256 * 2 ** 20,
};

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Counts the bytes of one response, chunk by chunk, without keeping them. */
export class StreamMeter {
  private totalBytes = 0;
  private lineBytes = 0;
  private readonly caps: AnswerCaps;

  constructor(caps: AnswerCaps) {
    this.caps = caps;
  }

  /** Counts a chunk. Returns the error if a limit is exceeded; null: none is. */
  add(chunk: Uint8Array): AnswerTooLargeError | null {
    const { eventBytes, streamBytes } = this.caps;
    this.totalBytes += chunk.length;
    // Few servers end lines with CR alone, so CR is searched for only after a line has grown long.
    const end =
      this.lineBytes > eventBytes / 2 && !chunk.includes(LINE_FEED) ? CARRIAGE_RETURN : LINE_FEED;
    const firstEnd = chunk.indexOf(end);
    const longest = this.lineBytes + (firstEnd === -1 ? chunk.length : firstEnd);
    this.lineBytes = firstEnd === -1 ? longest : chunk.length - chunk.lastIndexOf(end) - 1;
    if (longest > eventBytes) return new AnswerTooLargeError('answer_event_bytes', eventBytes);
    if (this.totalBytes > streamBytes)
      return new AnswerTooLargeError('answer_stream_bytes', streamBytes);
    return null;
  }
}
