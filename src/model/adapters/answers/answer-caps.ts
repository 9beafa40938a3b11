import { AnswerTooLargeError } from '../errors/answer-errors.ts';

/**
 * The limits on the size of one answer. They are far above the output limit of any model. They stop servers that send
 * without end and models that repeat themselves without end.
 */
export interface AnswerCaps {
  /** `answer_bytes`: text, reasoning and arguments of calls together, in UTF-8. */
  readonly contentBytes: number;
  /** `answer_event_bytes`: one line of the stream, which is held in memory until it is complete. */
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

/** Counts the bytes of one response and of its longest line, chunk by chunk. */
export class StreamMeter {
  private totalBytes = 0;
  private lineBytes = 0;
  private readonly caps: AnswerCaps;

  constructor(caps: AnswerCaps) {
    this.caps = caps;
  }

  /** Counts a chunk. Returns an error if a limit is exceeded, or else null. */
  add(chunk: Uint8Array): AnswerTooLargeError | null {
    const { eventBytes, streamBytes } = this.caps;
    this.totalBytes += chunk.length;
    // Few servers end lines with CR alone, so a CR is searched for only if the line is already long.
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
