import { expect, it } from 'vitest';
import { ANSWER_CAPS } from '../../src/model/adapters/answer-caps.ts';
import { Answer } from '../../src/model/adapters/answer.ts';

interface Said {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly output?: number;
}

function finished({ input, cacheRead, output }: Said, names: readonly string[] = []) {
  const answer = new Answer([], ANSWER_CAPS);
  for (const modelId of names) answer.take({ type: 'response-metadata', modelId });
  const taken = answer.take({
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite: undefined },
      outputTokens: { total: output, text: undefined, reasoning: undefined },
    },
  });
  if (taken.type !== 'end') throw new Error(`not the end: ${taken.type}`);
  return taken.finished;
}

it.each<[Said, Said]>([
  [
    { input: 100, cacheRead: 80, output: 5 },
    { input: 20, cacheRead: 80, output: 5 },
  ],
  [
    { input: -1e9, output: -5 },
    { input: 0, cacheRead: 0, output: 0 },
  ],
  [
    { input: 10, cacheRead: 80, output: Number.NaN },
    { input: 0, cacheRead: 80, output: 0 },
  ],
  [
    { input: 1e300, output: Number.POSITIVE_INFINITY },
    { input: Number.MAX_SAFE_INTEGER, cacheRead: 0, output: 0 },
  ],
])('what a server says of its usage, %j, counts as %j', (said, counted) => {
  const { usage } = finished(said);
  expect(usage).toEqual({ cacheWrite: 0, reasoning: 0, ...counted });
});

it.each([
  [['gpt-5'], 'gpt-5'],
  [['gpt-5', 'gpt-5-2025-08-07'], 'gpt-5-2025-08-07'],
  [['/models/My Model.gguf'], '/models/My Model.gguf'],
  [['gpt-5', 'x'.repeat(257)], 'gpt-5'],
  [['gpt-5\n[task done]'], undefined],
  [['\u202Egpt'], undefined],
  [[''], undefined],
])('of the names %j that a server gives itself it takes %j', (names, servedBy) => {
  expect(finished({}, names).servedBy).toBe(servedBy);
});

it.each<[Said, true | undefined]>([
  [{}, true],
  // Of servers that can't count: no request costs nothing at all, and a cap would never act.
  [{ input: 0, output: 0 }, true],
  [{ output: 0 }, true],
  [{ input: -5 }, true],
  [{ input: 3, output: 0 }, undefined],
  [{ input: 0, output: 3 }, undefined],
])('of a server that says %j the usage is missing: %j', (said, missing) => {
  expect(finished(said).usageMissing).toBe(missing);
});
