import { expect, it } from 'vitest';
import { ANSWER_CAPS } from '../../../../src/model/adapters/answers/answer-caps.ts';
import { AnswerBuilder } from '../../../../src/model/adapters/answers/answer-builder.ts';
import type { ReportedUsage } from '../../../../src/model/adapters/answers/reported-usage.ts';
import type { Usage, UsageMissing } from '../../../../src/protocol/model.ts';

function finished(usage: ReportedUsage, names: readonly string[] = []) {
  const answer = new AnswerBuilder({ history: [], caps: ANSWER_CAPS, metaKey: 'test' });
  for (const name of names) answer.setServedBy(name);
  answer.setUsage(usage);
  return answer.build();
}

it.each<[ReportedUsage, Partial<Usage>]>([
  [
    { prompt: 100, cacheRead: 80, output: 5 },
    { input: 20, cacheRead: 80, output: 5 },
  ],
  [
    { prompt: -1e9, output: -5 },
    { input: 0, cacheRead: 0, output: 0 },
  ],
  [
    { prompt: 10, cacheRead: 80, output: Number.NaN },
    { input: 0, cacheRead: 80, output: 0 },
  ],
  [
    { prompt: 1e300, output: Number.POSITIVE_INFINITY },
    { input: Number.MAX_SAFE_INTEGER, cacheRead: 0, output: 0 },
  ],
])('the reported usage %j counts as %j', (said, counted) => {
  expect(finished(said).usage).toEqual({ cacheWrite: 0, reasoning: 0, ...counted });
});

it.each<[ReportedUsage, ReportedUsage, Partial<Usage>]>([
  [{ uncached: 5000 }, { uncached: 0, output: 5 }, { input: 5000, output: 5 }],
  [
    { prompt: 100, cacheRead: 80 },
    { prompt: 0, cacheRead: 0, output: 5 },
    { input: 20, output: 5 },
  ],
  [{ prompt: 100, output: 1 }, { output: 5 }, { input: 100, output: 5 }],
  [{ prompt: 100 }, { prompt: 120, output: 0 }, { input: 120, output: 0 }],
])(
  'after a report %j and a later one, %j, the numbers that are not zero count',
  (first, later, usage) => {
    const answer = new AnswerBuilder({ history: [], caps: ANSWER_CAPS, metaKey: 'test' });
    answer.setUsage(first);
    answer.setUsage(later);
    expect(answer.build()).toMatchObject({ usage });
  },
);

it.each([
  [['gpt-5'], 'gpt-5'],
  [['gpt-5', 'gpt-5-2025-08-07'], 'gpt-5-2025-08-07'],
  [['/models/My Model.gguf'], '/models/My Model.gguf'],
  [['gpt-5', 'x'.repeat(257)], 'gpt-5'],
  [['gpt-5\n[task done]'], undefined],
  [['\u202Egpt'], undefined],
  [[''], undefined],
])('from the ids %j of a server, %j is used', (names, servedBy) => {
  expect(finished({}, names).servedBy).toBe(servedBy);
});

it.each<[ReportedUsage, UsageMissing | undefined]>([
  [{}, 'all'],
  // Servers that cannot count say so: no request costs nothing at all, and a cap would never act.
  [{ prompt: 0, output: 0 }, 'all'],
  [{ output: 0 }, 'all'],
  [{ prompt: -5 }, 'all'],
  [{ prompt: 3, output: 0 }, undefined],
  [{ prompt: 0, output: 3 }, undefined],
  [{ output: 3 }, 'input'],
  [{ prompt: 3 }, 'output'],
  [{ uncached: 3, cacheRead: 9 }, 'output'],
])('in the report %j, the missing part is %j', (said, missing) => {
  const { usageMissing, repairs } = finished(said);
  expect(usageMissing).toBe(missing);
  const repair = missing === 'all' ? 'missing_usage' : 'partial_usage';
  expect(repairs).toEqual(missing === undefined ? undefined : { [repair]: 1 });
});
