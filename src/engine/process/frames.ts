import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { MusterError } from '../../base/errors.ts';

/** One message between Muster and the process of a task: an object, and bytes that belong to it. */
export interface MessageFrame {
  readonly header: JsonObject;
  /** The size of the header. */
  readonly headerBytes: number;
  /** Default: empty. */
  readonly body: Buffer;
}

/** The two lengths at the beginning of a frame: those of the header and of the body, each of 4 bytes. */
const PREFIX_BYTES = 8;

/** Converts a message to bytes: two lengths, the header as JSON, and the body. */
export function encodeFrame(header: object, body: Buffer = Buffer.alloc(0)): Buffer {
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return Buffer.concat([prefix, json, body]);
}

/** The maximum sizes of the parts of a frame, in bytes. */
export interface FrameLimits {
  /** The header is parsed as a whole, while nothing else can run. */
  readonly header: number;
  readonly body: number;
}

/** The limits for frames of Muster itself. */
export const NO_FRAME_LIMITS: FrameLimits = { header: Infinity, body: Infinity };

/** Splits a stream of bytes into frames. */
export class FrameReader {
  private readonly limits: FrameLimits;
  private chunks: Buffer[] = [];
  private size = 0;
  /** The number of bytes of the frame that arrives, or of its lengths as long as they are not known. */
  private needed = PREFIX_BYTES;

  constructor(limits: FrameLimits) {
    this.limits = limits;
  }

  /**
   * Adds bytes of the stream, and returns the frames that are complete now. Throws MusterError if a part of a frame is
   * larger than its maximum, or if its header is not a JSON object.
   */
  add(chunk: Buffer): readonly MessageFrame[] {
    this.chunks.push(chunk);
    this.size += chunk.length;
    const frames: MessageFrame[] = [];
    while (this.size >= this.needed) {
      const bytes = this.joinChunks();
      const headerBytes = bytes.readUInt32BE(0);
      const bodyBytes = bytes.readUInt32BE(4);
      const { header, body } = this.limits;
      if (headerBytes > header || bodyBytes > body) {
        const problem = `a message with more than ${header} bytes of JSON or ${body} other bytes`;
        throw new MusterError('LIMIT_EXCEEDED', problem);
      }
      const total = PREFIX_BYTES + headerBytes + bodyBytes;
      this.chunks = [bytes];
      this.needed = total;
      if (bytes.length < total) break;
      frames.push(decodeFrame(bytes.subarray(PREFIX_BYTES, total), headerBytes));
      this.chunks = [bytes.subarray(total)];
      this.size = bytes.length - total;
      this.needed = PREFIX_BYTES;
    }
    return frames;
  }

  /** Copies the bytes only if they came in several chunks: a chunk may contain thousands of frames. */
  private joinChunks(): Buffer {
    const [first, ...more] = this.chunks;
    return first === undefined || more.length > 0 ? Buffer.concat(this.chunks) : first;
  }
}

function decodeFrame(bytes: Buffer, headerBytes: number): MessageFrame {
  const header = parseHeader(bytes.toString('utf8', 0, headerBytes));
  if (!isJsonObject(header)) throw new MusterError('INVALID_PARAM', 'a message that is no object');
  return { header, headerBytes, body: bytes.subarray(headerBytes) };
}

function parseHeader(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new MusterError('INVALID_PARAM', 'a message that is not JSON', { cause: thrown });
  }
}
