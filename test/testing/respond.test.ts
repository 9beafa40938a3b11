import { describe, expect, it } from 'vitest';
import { WIRE_PROTOCOLS, type Answer } from '../../src/testing/index.ts';
import { Pacing } from '../../src/testing/respond.ts';
import { prepareAnswer } from '../../src/testing/prepare-answer.ts';
import { CODECS } from '../../src/testing/wire/codecs.ts';

/** The waits of an answer's stream, those of 0 left out. */
function waits(protocol: (typeof WIRE_PROTOCOLS)[number], answer: Answer): readonly number[] {
  const prompt = { input: 1, cacheRead: 0, cacheWrite: 0 };
  const context = { id: 'x', createdAt: 1, callIdPrefix: 'c', prompt };
  const codec = CODECS[protocol];
  const frames = codec.writeFrames(prepareAnswer(answer, context), codec.parse({}, '/'));
  const pacing = new Pacing(answer);
  return [...frames].map((frame) => pacing.computePauseMs(frame)).filter((ms) => ms > 0);
}

describe.each(WIRE_PROTOCOLS)('%s', (protocol) => {
  it('waits once for the first piece and otherwise between pieces', () => {
    const answer = { thinking: 'abcd', text: 'abcd', chunks: 2, firstTokenMs: 70, chunkMs: 9 };
    expect(waits(protocol, answer)).toEqual([70, 9, 9, 9]);
  });

  it('waits for nothing by default', () => {
    expect(waits(protocol, { text: 'abcd', chunks: 4 })).toEqual([]);
  });
});
