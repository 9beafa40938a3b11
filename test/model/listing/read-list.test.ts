import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { unknownModel, type ListedModel } from '../../../src/protocol/listed-model.ts';
import {
  findEntries,
  findNextPage,
  MAX_MODELS,
  ModelRows,
} from '../../../src/model/listing/read-list.ts';
import { readListedModel } from '../../../src/model/listing/read-model.ts';
import { PUBLISHED_LISTS } from './published-lists.ts';

function read(document: unknown): readonly ListedModel[] | null {
  const entries = findEntries(document);
  if (entries === null) return null;
  const rows = new ModelRows();
  rows.addEntries(entries);
  return rows.models;
}

test.each(PUBLISHED_LISTS)('the list of $provider', ({ document, models }) => {
  expect(read(document)).toEqual(models.map((model) => ({ ...unknownModel(''), ...model })));
});

test.each([
  [{}],
  [null],
  ['models'],
  [{ data: {} }],
  [{ data: null }],
  [{ error: { message: 'no' } }],
])('%j is no list', (document) => {
  expect(read(document)).toBe(null);
});

describe('a hostile list', () => {
  const NAMES = ['id', 'name', 'key', 'data', 'models', 'capabilities', 'pricing', 'prompt'];
  const FIELDS = [...NAMES, 'completion', 'context_length', 'max_tokens', 'reasoning', 'efforts'];
  const OTHERS = ['__proto__', 'constructor', 'loaded_instances', 'type', 'state', 'effort'];
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom(-1, 0, 1e300, 5, '5', '1e400', '', '\u001B[2J', 'x'.repeat(1000)),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(fc.constantFrom(...FIELDS, ...OTHERS), tie('value'), { maxKeys: 8 }),
    ),
  })).value;

  it('never leads to an exception, or to a fact of the wrong type or size', () => {
    const isTokens = (tokens: number | null) =>
      tokens === null || (Number.isSafeInteger(tokens) && tokens > 0 && tokens <= 1e9);
    const isText = (text: string, max: number) =>
      text !== '' && text.length <= max && !/[\p{Cc}\p{Cf}]/u.test(text);
    const isFlag = (flag: unknown) => flag === null || typeof flag === 'boolean';
    fc.assert(
      fc.property(json, (entry) => {
        const model = readListedModel(entry);
        if (model === null) return;
        const { id, contextWindow, outputLimit, price, efforts } = model;
        expect(isText(id, 200)).toBe(true);
        expect([contextWindow, outputLimit].every(isTokens)).toBe(true);
        const { chat, tools, images, pdf, reasoning, loaded } = model;
        expect([chat, tools, images, pdf, reasoning, loaded].every(isFlag)).toBe(true);
        const prices = Object.values(price ?? {});
        expect(prices.every((rate) => rate >= 0 && rate <= 100_000)).toBe(true);
        expect((efforts ?? []).every((effort) => isText(effort, 24))).toBe(true);
        expect((efforts ?? []).length).toBeLessThanOrEqual(12);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps no control characters and no invisible ones', () => {
    expect(readListedModel({ id: ' \u001B[31mgpt\u200B-\u202E5\u0007\n' })?.id).toBe('[31mgpt-5');
    expect(readListedModel({ id: '\u0000' })).toBe(null);
    expect(readListedModel({ id: 'x'.repeat(201) })).toBe(null);
    expect(readListedModel({ id: 5 })).toBe(null);
  });

  it('cannot reach a prototype', () => {
    const entry: unknown = JSON.parse(
      '{"id":"a","__proto__":{"context_length":5},"pricing":{"__proto__":{"prompt":1}}}',
    );
    expect(readListedModel(entry)).toEqual(unknownModel('a'));
  });

  it.each([
    [{ context_length: -5 }],
    [{ context_length: 1e12 }],
    [{ context_length: 12.5 }],
    [{ context_length: '12k' }],
    [{ context_length: [5] }],
    [{ pricing: { prompt: '-1', completion: '1' } }],
    [{ pricing: { prompt: 'NaN', completion: 'NaN' } }],
    [{ pricing: { prompt: 1, completion: 1 } }],
    [{ pricing: 'free' }],
    [{ supported_parameters: [] }],
    [{ capabilities: 'tools, vision' }],
    [{ effort: { supported_levels: [{}, '', 'x'.repeat(99)] }, efforts: 7, thinking: 'yes' }],
  ])('%j states nothing', (fields) => {
    expect(readListedModel({ id: 'a', ...fields })).toEqual(unknownModel('a'));
  });

  it('has a limit on its length, which is named', () => {
    const rows = new ModelRows();
    rows.addEntries(Array.from({ length: MAX_MODELS }, (_, index) => `model-${index}`));
    expect([rows.size, rows.isCut]).toEqual([MAX_MODELS, false]);
    rows.addEntries(['model-0', 'one-more']);
    expect([rows.size, rows.isCut]).toEqual([MAX_MODELS, true]);
  });
});

test('entries with the same id are one model with the facts of all', () => {
  const rows = new ModelRows();
  const entries = [
    { id: 'a', context_length: 100 },
    { id: 'a', context_length: 200, supports_tools: true },
  ];
  expect([rows.addEntries(entries), rows.addEntries(entries)]).toEqual([true, false]);
  expect(rows.models).toEqual([{ ...unknownModel('a'), contextWindow: 100, tools: true }]);
});

test.each([
  [{ has_more: true, last_id: 'm 1' }, ['after_id', 'm 1']],
  [{ has_more: false, last_id: 'm' }, null],
  [{ has_more: true, last_id: null }, null],
  [{ has_more: true, last_id: 'x'.repeat(3000) }, null],
  [{ nextPageToken: 'abc' }, ['pageToken', 'abc']],
  [{ nextPageToken: '' }, null],
  [[], null],
])('the page after %j is %j', (document, next) => {
  expect(findNextPage(document, 'after_id')).toEqual(next);
});
