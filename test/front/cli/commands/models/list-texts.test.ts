import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { modelListTexts } from '../../../../../src/front/cli/commands/models/list-texts.ts';
import { modelTable } from '../../../../../src/front/cli/commands/models/model-table.ts';
import { unknownModel, type ListedModel } from '../../../../../src/protocol/listed-model.ts';
import { EFFORTS } from '../../../../../src/protocol/model.ts';

function model(id: string, facts: Partial<ListedModel> = {}): ListedModel {
  return { ...unknownModel(id), ...facts };
}

function price(input: number, output: number) {
  return { input, output, cacheRead: input, cacheWrite: input };
}

test('a table of models', () => {
  const models = [
    model('claude', {
      contextWindow: 1_048_576,
      outputLimit: 128_000,
      price: price(0.075, 15),
      tools: true,
      images: true,
      pdf: false,
      reasoning: true,
      efforts: ['max', 'high', 'low', 'medium', 'xhigh'],
    }),
    model('tiny', { contextWindow: 512, outputLimit: 4096, price: price(0, 0), reasoning: false }),
    model('unknown'),
  ];
  expect(modelTable(models)).toBe(
    [
      'MODEL    CONTEXT  OUTPUT  $ IN/OUT  TOOLS  IMAGES  PDF  REASONING',
      'claude        1M    128k  0.075/15  yes    yes     no   low-max',
      'tiny         512    4.1k      free  -      -       -    no',
      'unknown        -       -         -  -      -       -    -',
      '',
    ].join('\n'),
  );
});

test('a table of models on this machine says which are loaded', () => {
  const models = [
    model('a', { loaded: true, contextWindow: 4096 }),
    model('b', { loaded: false, efforts: ['off', 'on'], reasoning: true }),
  ];
  expect(modelTable(models)).toBe(
    [
      'MODEL  LOADED  CONTEXT  OUTPUT  $ IN/OUT  TOOLS  IMAGES  PDF  REASONING',
      'a      yes        4.1k       -         -  -      -       -    -',
      'b      no            -       -         -  -      -       -    off,on',
      '',
    ].join('\n'),
  );
});

test.each([
  [['low', 'medium', 'high'], 'low-high'],
  [['high', 'low'], 'low,high'],
  [['none', 'low', 'medium', 'high'], 'none,low-high'],
  [[...EFFORTS], 'none-max'],
  [['high', 'turbo'], 'turbo,high'],
  [['one-very-long-effort', 'two'], 'one-very-long-effor…'],
])('the efforts %j are shown as %s', (efforts, text) => {
  const lines = modelTable([model('a', { reasoning: true, efforts })]).split('\n');
  expect(lines[1]?.split(/ {2,}/).at(-1)).toBe(text);
});

test('a table is at most 100 columns wide, except for ids, which are complete', () => {
  const count = fc.option(fc.integer({ min: 1, max: 1e9 }));
  const rate = fc.option(fc.double({ min: 0, max: 100_000, noNaN: true }));
  const flag = fc.option(fc.boolean());
  const row = fc.record({
    id: fc.string({ minLength: 1, maxLength: 120, unit: fc.constantFrom(...'abc-/:.0') }),
    contextWindow: count,
    outputLimit: count,
    price: rate.map((each) => (each === null ? null : price(each, each / 3))),
    loaded: flag,
    tools: flag,
    reasoning: flag,
    efforts: fc.option(fc.array(fc.constantFrom('a-very-long-effort', ...EFFORTS))),
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 8 }), (rows) => {
      const models = rows.map(({ id, ...facts }) => model(id, facts));
      const lines = modelTable(models).trimEnd().split('\n');
      const ids = new Set(rows.map(({ id }) => id));
      for (const line of lines) expect(line.length <= 100 || ids.has(line)).toBe(true);
      const first = lines.map((line) => line.split(' ', 1)[0]);
      expect(first.filter((text) => text !== '')).toEqual(['MODEL', ...rows.map(({ id }) => id)]);
    }),
    { numRuns: 300 },
  );
});

describe('the text about the list of a provider', () => {
  const NOW = Date.parse('2026-11-27T12:00:00Z');
  const PROVIDER = {
    name: 'mine',
    protocol: 'openai-chat',
    baseUrl: 'http://x/v1',
    source: 'config',
    missingKey: null,
    keyProblem: null,
    tiers: {},
    models: [model('a')],
    modelCount: 1,
    isListComplete: true,
    listedAt: '2026-11-27T12:00:00.000Z' as string | null,
    listProblem: null as string | null,
  };

  function text(facts: Partial<typeof PROVIDER>, search: string | null = null): readonly string[] {
    const report = { providers: [{ ...PROVIDER, ...facts }], choices: [], problems: [] };
    const [only = ''] = modelListTexts(report, { search, now: NOW });
    return only.split('\n').filter((line) => line !== '' && !/^(?:MODEL|a) {2,}/.test(line));
  }

  it.each([
    [{}, ['mine: 1 model, listed just now']],
    [{ listedAt: '2026-11-27T11:58:30.000Z' }, ['mine: 1 model, listed 1 minute ago']],
    [{ listedAt: '2026-11-27T09:00:00.000Z' }, ['mine: 1 model, listed 3 hours ago']],
    [
      { listedAt: '2026-11-20T09:00:00.000Z', listProblem: 'no\u001B[2J route' },
      ['mine: 1 model, listed 7 days ago', 'Asking again failed: no⟨U+001B⟩[2J route'],
    ],
    [{ listedAt: '2026-12-27T09:00:00.000Z' }, ['mine: 1 model, listed just now']],
    [
      { listedAt: null, listProblem: 'no route' },
      ['mine: its models could not be listed: no route', 'These are known without its list:'],
    ],
    [
      { listedAt: null, listProblem: 'no route', models: [], modelCount: 0 },
      ['mine: its models could not be listed: no route'],
    ],
    [{ models: [], modelCount: 0 }, ['mine: 0 models, listed just now']],
    [
      { isListComplete: false },
      ['mine: 1 model, listed just now', 'It has more models than these.'],
    ],
    [
      {
        models: [model('a'), model('text-embedding-3'), model('b', { chat: false })],
        modelCount: 3,
      },
      [
        'mine: 3 models, listed just now',
        'Not shown: 2 models for embeddings, images or speech (--json lists them).',
      ],
    ],
    [
      { models: [model('a', { loaded: true, contextWindow: 4096 })] },
      [
        'mine: 1 model, listed just now',
        'a runs with a context of 4096 tokens, which is too small for an agent: set a larger one in the server.',
      ],
    ],
  ])('for %j', (facts, lines) => {
    expect(text(facts)).toEqual(lines);
  });

  it('says how many models were found', () => {
    expect(text({ modelCount: 341 }, 'claude son')).toEqual([
      'mine: 1 of 341 models with "claude son" in the id, listed just now',
    ]);
  });
});
