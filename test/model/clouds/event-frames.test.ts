import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeEventFrames,
  EventFrameParser,
} from '../../../src/model/adapters/bedrock/event-frames.ts';
import type { ResponseBody } from '../../../src/sys/http/http-types.ts';
import { chunkFrame, eventFrame, exceptionFrame } from './fake-cloud.ts';

function bodyOf(pieces: readonly Uint8Array[]): ResponseBody {
  let next = 0;
  return {
    read: () => Promise.resolve(pieces[next++] ?? null),
    cancel: () => Promise.resolve(),
  };
}

async function textOf(pieces: readonly Uint8Array[]): Promise<string> {
  const body = decodeEventFrames(bodyOf(pieces));
  let text = '';
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    text += Buffer.from(piece).toString('utf8');
  }
  return text;
}

/** Cuts bytes at some positions. */
function cut(bytes: Uint8Array, positions: readonly number[]): readonly Uint8Array[] {
  const at = [...new Set(positions.map((each) => each % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...at].map((start, index) => bytes.slice(start, at[index] ?? bytes.length));
}

const STREAM = Buffer.concat([
  eventFrame('messageStart', { role: 'assistant' }),
  eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Größe\n→' } }),
  chunkFrame('{"type":"ping"}'),
  exceptionFrame('throttlingException', 'Too many requests'),
]);
const EVENTS = [
  'event: messageStart\ndata: {"role":"assistant"}\n\n',
  'event: contentBlockDelta\ndata: {"contentBlockIndex":0,"delta":{"text":"Größe\\n→"}}\n\n',
  'data: {"type":"ping"}\n\n',
  'event: error\ndata: {"type":"error","error":{"type":"throttlingException","message":"Too many requests"}}\n\n',
].join('');

describe('the frames of AWS', () => {
  it('are read wherever the connection cuts them', async () => {
    const positions = fc.array(fc.nat({ max: STREAM.length }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(positions, async (at) => {
        expect(await textOf(cut(STREAM, at))).toBe(EVENTS);
      }),
    );
  });

  it('with a changed byte are refused, or wait for bytes that never come', () => {
    const frame = eventFrame('contentBlockDelta', { delta: { text: 'hello' } });
    const change = fc.tuple(fc.nat({ max: frame.length - 1 }), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(change, ([index, difference]) => {
        const damaged = frame.slice();
        damaged[index] = (damaged[index] ?? 0) ^ difference;
        expect(() => [...new EventFrameParser().push(damaged)]).toThrow(
          /^the server sent a damaged event: (?:its prelude|its length|its checksum) is wrong$/,
        );
      }),
    );
  });

  it('never fail in another way, whatever bytes arrive', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          for (const { payload } of new EventFrameParser().push(bytes))
            expect(payload).toBeDefined();
        } catch (thrown) {
          expect(thrown).toMatchObject({ name: 'MalformedAnswerError' });
        }
      }),
    );
  });
});

it('a body that is no event stream of AWS stays as it is', async () => {
  const text = 'event: message_start\ndata: {"type":"message_start"}\n\n';
  expect(await textOf([Buffer.from(text.slice(0, 9)), Buffer.from(text.slice(9))])).toBe(text);
});
