import * as fc from 'fast-check';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chooseProbeModel } from '../../../src/model/probe/choose-model.ts';
import { describeRepairs, judgeStream } from '../../../src/model/probe/judge-answer.ts';
import {
  judgeToolCall,
  judgeResults,
  judgeTwoCalls,
} from '../../../src/model/probe/judge-calls.ts';
import { judgeContextWindow, judgeLongPrompt } from '../../../src/model/probe/judge-context.ts';
import { createPng } from '../../../src/model/probe/judge-image.ts';
import type { ProbeAnswer } from '../../../src/model/probe/probe-client.ts';
import {
  findNamedFeatures,
  findRefusedFeatures,
  SCHEMA_FEATURES,
  type SchemaFeature,
} from '../../../src/model/probe/probe-schema.ts';
import { judgeAddress } from '../../../src/model/probe/reach-server.ts';
import { unknownModel, type ListedModel } from '../../../src/protocol/listed-model.ts';
import type { AssistantPart, ToolCallPart } from '../../../src/protocol/message.ts';
import { NO_USAGE, type ModelFailure, type ModelPart } from '../../../src/protocol/model.ts';

type Finished = Extract<ModelPart, { type: 'finished' }>;

function finished(
  content: readonly AssistantPart[],
  more: Partial<Finished> = {},
  measured: Partial<ProbeAnswer> = {},
): ProbeAnswer {
  return {
    end: {
      type: 'finished',
      message: { role: 'assistant', content },
      usage: { ...NO_USAGE, input: 9000, output: 3 },
      reason: 'stop',
      ...more,
    },
    textPieces: 5,
    hasThought: false,
    firstMs: 10,
    totalMs: 50,
    wire: { sent: '', status: 200, received: '', pieces: 5 },
    ...measured,
  };
}

function failed(failure: Partial<ModelFailure>): ProbeAnswer {
  const base = { kind: 'bad_request', message: 'acme/m: HTTP 400: no', retryable: false } as const;
  const { end: _, ...measured } = finished([]);
  return { ...measured, end: { type: 'failed', failure: { ...base, ...failure } } };
}

const text = (words: string): AssistantPart => ({ type: 'text', text: words });
const call = (more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool_call',
  id: 'c1',
  name: 'Read',
  input: { file_path: 'notes.txt' },
  ...more,
});

describe('the model of a probe', () => {
  const model = (id: string, facts: Partial<ListedModel> = {}): ListedModel => ({
    ...unknownModel(id),
    ...facts,
  });
  const none = { tiers: {}, models: null };

  it.each<[string, readonly ListedModel[], Parameters<typeof chooseProbeModel>[1], string | null]>([
    ['that is loaded', [model('a-1b'), model('b-70b', { loaded: true })], none, 'b-70b'],
    [
      'that is known to be fast',
      [model('a-1b'), model('b')],
      { ...none, tiers: { fast: 'b' } },
      'b',
    ],
    [
      'with the fewest parameters',
      [model('a-70B'), model('b:0.6b'), model('c-8b')],
      none,
      'b:0.6b',
    ],
    ['with a small name', [model('big-pro'), model('big-mini')], none, 'big-mini'],
    ['that is first', [model('x'), model('y')], none, 'x'],
    ['that can call tools', [model('a-1b', { tools: false }), model('b-8b')], none, 'b-8b'],
    ['that calls no tools if none does', [model('a', { tools: false })], none, 'a'],
    ['for conversations', [model('nomic-embed-text'), model('y')], none, 'y'],
    ['of the configuration if there is no list', [], { ...none, models: ['m'] }, 'm'],
    ['none', [model('whisper-1')], none, null],
    ['that the server still has', [model('new')], { ...none, tiers: { fast: 'old' } }, 'new'],
  ])('is the one %s', (_, listed, provider, expected) => {
    expect(chooseProbeModel(listed, provider)?.id ?? null).toBe(expected);
  });
});

describe('a stream', () => {
  it.each<[string, ProbeAnswer, string, RegExp]>([
    ['in pieces', finished([text('one, two')]), 'ok', /^5 pieces of text, the first after 10 ms/],
    ['in one piece', finished([text('x')], {}, { textPieces: 1 }), 'warn', /^1 piece of text came/],
    [
      'that a proxy has held back',
      finished([text('x')], {}, { totalMs: 900, wire: { ...finished([]).wire, pieces: 1 } }),
      'warn',
      /^5 pieces of text came at once after 900 ms$/,
    ],
    ['without text', finished([]), 'fail', /^the answer has no text$/],
    ['that failed', failed({ kind: 'rate_limit' }), 'warn', /^not tested: HTTP 400: no$/],
    ['with a wrong key', failed({ kind: 'auth' }), 'fail', /^HTTP 400: no$/],
  ])('%s', (_, answer, status, detail) => {
    expect(judgeStream(answer)).toMatchObject({ status, detail: expect.stringMatching(detail) });
  });
});

describe('a call', () => {
  it.each<[string, ProbeAnswer, string, RegExp]>([
    ['that is right', finished([call()], { reason: 'tool_calls' }), 'ok', /complete arguments/],
    [
      'with broken arguments',
      finished([call({ input: '{"file', malformed: 'unexpected end' })]),
      'fail',
      /no valid JSON: unexpected end$/,
    ],
    ['of another tool', finished([call({ name: 'Open' })]), 'warn', /"Open" instead of "Read"/],
    ['with other arguments', finished([call({ input: {} })]), 'warn', /other arguments .*: \{\}$/],
    ['that ends as if it were cut', finished([call()], { reason: 'length' }), 'warn', /"length"$/],
    ['that a full server refuses', failed({ kind: 'overloaded', retryable: true }), 'warn', /^not/],
  ])('%s', (_, answer, status, detail) => {
    expect(judgeToolCall(answer)).toMatchObject({ status, detail: expect.stringMatching(detail) });
  });

  it.each<[string, ProbeAnswer, string]>([
    [
      'two',
      finished([
        call({ input: { file_path: './a.txt' } }),
        call({ input: { file_path: 'b.txt' } }),
      ]),
      'ok',
    ],
    ['one', finished([call({ input: { file_path: 'a.txt' } })]), 'warn'],
    ['none', finished([text('no')]), 'warn'],
    [
      'two of which one is wrong',
      finished([call(), call({ input: { file_path: 'b.txt' } })]),
      'warn',
    ],
  ])('and a second one: %s', (_, answer, status) => {
    expect(judgeTwoCalls(answer)).toMatchObject({ status });
  });

  it.each<[string, ProbeAnswer, string]>([
    ['an answer from the result', finished([text('Harbour')]), 'ok'],
    ['another answer', finished([text('Done.')]), 'ok'],
    ['nothing', finished([]), 'warn'],
    ['further calls', finished([call()]), 'warn'],
    ['a refusal', failed({}), 'fail'],
  ])('whose result gets %s', (_, answer, status) => {
    expect(judgeResults(answer)).toMatchObject({ status });
  });
});

it('lists the deviations that no other check reports', () => {
  const repairs = { missing_usage: 1, thinking_in_text: 2 };
  expect(describeRepairs([finished([], { repairs }), failed({})])).toMatchObject({
    detail: 'Muster repairs them: the text of the answer contained thinking',
  });
  expect(describeRepairs([finished([], { repairs: { missing_usage: 1 } })])).toBeNull();
});

it.each([
  [null, 'warn', /does not state it/],
  [4096, 'warn', /^only 4096 tokens$/],
  [131_072, 'ok', /^131072 tokens$/],
])('a context window of %j tokens', (contextWindow, status, detail) => {
  expect(judgeContextWindow({ ...unknownModel('m'), contextWindow })).toMatchObject({
    status,
    detail: expect.stringMatching(detail),
  });
});

const cut = { usage: { ...NO_USAGE, input: 2048 } };

it.each<[string, ProbeAnswer, string, RegExp]>([
  ['that comes to the model', finished([text('harbour')]), 'ok', /^more than 5000 tokens come/],
  ['that is cut', finished([text('harbour')], cut), 'warn', /the model gets 2048$/],
  ['whose beginning is missing', finished([text('?')]), 'warn', /does not find .*: "\?"$/],
  ['that is too long', failed({ kind: 'context_overflow' }), 'warn', /^5000 tokens are too many/],
  ['that fails', failed({ kind: 'server', retryable: true }), 'warn', /^not tested/],
])('a long prompt %s', (_, answer, status, detail) => {
  expect(judgeLongPrompt(answer)).toMatchObject({ status, detail: expect.stringMatching(detail) });
});

describe('an address', () => {
  const at = (url: string, seen: Parameters<typeof judgeAddress>[0]['seen']) => ({ url, seen });
  const api = { kind: 'api', status: 200, ms: 3 } as const;
  const missing = { kind: 'missing', status: 404, ms: 3 } as const;
  const error = { kind: 'other', text: 'no connection: x', hint: null, code: undefined } as const;

  it.each([
    ['an API', at('A', api), null, 'ok', 'A answers (HTTP 200 after 3 ms, through the proxy P)'],
    ['another API', at('A', missing), at('B', api), 'ok', /^A has no API, but B answers/],
    ['no list', at('A', missing), at('B', missing), 'warn', /no list of models at A or B/],
    [
      'a page',
      at('A', { kind: 'page', status: 200, title: null }),
      at('B', missing),
      'fail',
      'A answers with a web page (HTTP 200, through the proxy P)',
    ],
    ['a fault', at('A', { kind: 'failing', status: 502, ms: 1 }), null, 'fail', /HTTP 502/],
    ['nothing', at('A', { kind: 'unreachable', error }), null, 'fail', /^A: no connection: x/],
    [
      'a wrong proxy',
      at('A', { kind: 'misconfigured', message: 'HTTP_PROXY must be' }),
      null,
      'fail',
      'HTTP_PROXY must be',
    ],
  ] as const)('with %s', (_, first, other, status, detail) => {
    expect(judgeAddress(first, other, ', through the proxy P')).toMatchObject({
      status,
      detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
    });
  });

  it.each([
    ['ENOTFOUND', /VPN/],
    ['ECONNREFUSED', /start the server/],
    ['ECONNRESET', /https/],
    ['ETIMEDOUT', /firewall/],
  ])('that fails with %s', (code, fix) => {
    const seen = { kind: 'unreachable', error: { ...error, code } } as const;
    expect(judgeAddress(at('A', seen), null, '').fix).toMatch(fix);
  });
});

describe('the features of schemas that a server refuses', () => {
  const features = fc.subarray([...SCHEMA_FEATURES], { minLength: 1 });

  it('are found, whatever they are and whichever ones the refusal names', async () => {
    await fc.assert(
      fc.asyncProperty(features, fc.subarray([...SCHEMA_FEATURES]), async (bad, named) => {
        const found = await findRefusedFeatures(SCHEMA_FEATURES, named, (asked) =>
          Promise.resolve(!asked.some((feature) => bad.includes(feature))),
        );
        expect(found.some).toEqual([]);
        expect(new Set(found.each)).toEqual(new Set(bad));
      }),
    );
  });

  it('are among those that are named if no further request can be sent', async () => {
    await fc.assert(
      fc.asyncProperty(features, fc.nat(6), async (bad, limit) => {
        let sent = 0;
        const isAccepted = (asked: readonly SchemaFeature[]): Promise<boolean | null> => {
          if (sent === limit) return Promise.resolve(null);
          sent += 1;
          return Promise.resolve(!asked.some((feature) => bad.includes(feature)));
        };
        const { each, some } = await findRefusedFeatures(SCHEMA_FEATURES, [], isAccepted);
        for (const feature of each) expect(bad).toContain(feature);
        for (const feature of bad) expect([...each, ...some]).toContain(feature);
      }),
    );
  });

  it.each([
    ['anyOf is not supported', ['anyOf']],
    ['$defs cannot be used, nor enum', ['enum', '$ref']],
    ['"type" must be a string', ['lists of types']],
    ['Bad schema', []],
  ])('are read from a refusal: %s', (message, expected) => {
    expect(findNamedFeatures(failed({ message: `acme/m: HTTP 400: ${message}` }))).toEqual(
      expected,
    );
  });
});

it('the image is a valid PNG', () => {
  const png = Buffer.from(createPng(64, [255, 0, 0]));
  expect(png.subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001a\n');
  const start = png.indexOf('IDAT');
  const length = png.readUInt32BE(start - 4);
  const rows = inflateSync(png.subarray(start + 4, start + 4 + length));
  expect(rows).toHaveLength(64 * (1 + 64 * 3));
  expect([...rows.subarray(0, 4)]).toEqual([0, 255, 0, 0]);
  expect(png.subarray(-8, -4).toString('latin1')).toBe('IEND');
});
