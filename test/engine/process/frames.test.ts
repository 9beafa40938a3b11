import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameReader, NO_FRAME_LIMITS } from '../../../src/engine/process/frames.ts';

const messages = fc.array(
  fc.record({ header: fc.dictionary(fc.string(), fc.jsonValue()), body: fc.uint8Array() }),
);

describe('frames', () => {
  it('arrive as they were sent, however the bytes are cut', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 40 })), (sent, sizes) => {
        const bytes = Buffer.concat(
          sent.map(({ header, body }) => encodeFrame(header, Buffer.from(body))),
        );
        const reader = new FrameReader(NO_FRAME_LIMITS);
        const received = [];
        for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
          const end = at + (sizes[cut] ?? bytes.length);
          received.push(...reader.add(bytes.subarray(at, end)));
          at = end;
        }
        const texts = sent.map(({ header, body }) => [JSON.stringify(header), [...body]]);
        expect(received.map(({ header, body }) => [JSON.stringify(header), [...body]])).toEqual(
          texts,
        );
      }),
    );
  });

  it('are refused if they are too large, before their bytes have arrived', () => {
    const lengths = Buffer.from([0, 0, 0, 90, 0, 0, 0, 3]);
    const message = 'a message with more than';
    expect(() => new FrameReader({ header: 89, body: 3 }).add(lengths)).toThrow(message);
    expect(() => new FrameReader({ header: 90, body: 2 }).add(lengths)).toThrow(message);
    expect(new FrameReader({ header: 90, body: 3 }).add(lengths)).toEqual([]);
  });

  it.for([
    ['[1]', 'a message that is no object'],
    ['{', 'a message that is not JSON'],
  ])('are refused if their header is %s', ([json = '', message = '']) => {
    const lengths = Buffer.from([0, 0, 0, json.length, 0, 0, 0, 0]);
    const bytes = Buffer.concat([lengths, Buffer.from(json)]);
    expect(() => new FrameReader(NO_FRAME_LIMITS).add(bytes)).toThrow(message);
  });
});
