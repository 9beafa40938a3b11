import { hash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { ok, warn, type Check } from '../../protocol/check.ts';
import { messageText, type UserMessage } from '../../protocol/message.ts';
import { describeFailure, failureText, isPassing } from './describe-failure.ts';
import { describeOnlyThought, isOnlyThought, quoteAnswer } from './judge-answer.ts';
import type { ProbeAnswer, ProbeRequest } from './probe-client.ts';

/**
 * The width and height of the image in pixels. Models of the Qwen family refuse images below 32 pixels, and the
 * server of some of them crashes: https://github.com/ollama/ollama/issues/13113
 */
const SIDE = 64;
const RED = [0xff, 0, 0] as const;

/** Creates a PNG image of one colour. */
export function createPng(
  side: number,
  [red, green, blue]: readonly [number, number, number],
): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits for each of three colours.
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.from([0, ...Array.from({ length: side }, () => [red, green, blue]).flat()]);
  const rows = Buffer.concat(Array.from({ length: side }, () => row));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    createChunk('IHDR', header),
    createChunk('IDAT', deflateSync(rows)),
    createChunk('IEND', Buffer.alloc(0)),
  ]);
}

function createChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(content.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(content, 4);
  chunk.writeUInt32BE(crc32(content), content.length + 4);
  return chunk;
}

/** Asks for the colour of a red image. */
export function createImageRequest(): ProbeRequest {
  const image = createPng(SIDE, RED);
  const message: UserMessage = {
    role: 'user',
    content: [
      {
        type: 'text',
        text: 'Which colour has this image? Answer with one word.',
        attachments: [
          {
            type: 'image/png',
            bytes: image.length,
            width: SIDE,
            height: SIDE,
            blob: hash('sha256', image),
            tokens: 0,
          },
        ],
      },
    ],
  };
  return { messages: [message], image };
}

const NAME = 'images';

/** The result of the step with an image. */
export interface ImageStep {
  readonly check: Check;
  /** Whether the model sees images; null: that was not found out. */
  readonly isSupported: boolean | null;
}

/** Describes a model that accepts no images by the list of its server. */
export function describeUnlistedImages(): ImageStep {
  return { check: warn(NAME, 'none, by the list of models', null), isSupported: false };
}

/** Judges the answer to the question about the image. */
export function judgeImage(answer: ProbeAnswer): ImageStep {
  const { end } = answer;
  if (end.type === 'failed') {
    // A server that crashes at an image answers with 500.
    const isUnknown = isPassing(end.failure) && end.failure.kind !== 'server';
    return isUnknown
      ? { check: describeFailure(NAME, end.failure), isSupported: null }
      : { check: warn(NAME, `refused: ${failureText(end.failure)}`, null), isSupported: false };
  }
  if (isOnlyThought(answer)) return { check: describeOnlyThought(NAME), isSupported: null };
  if (/\bred\b/i.test(messageText(end.message))) {
    return { check: ok(NAME, 'the model sees a PNG image'), isSupported: true };
  }
  const detail = `an image is accepted, but the model does not see that it is red: it answers ${quoteAnswer(answer)}`;
  return {
    check: warn(NAME, detail, 'choose a model that sees images if you need one'),
    isSupported: false,
  };
}
