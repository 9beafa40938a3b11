import { describe, expect, test } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { HttpStatusError } from '../../../../src/model/adapters/errors/answer-errors.ts';
import { OutputCaps } from '../../../../src/model/adapters/adjust/output-caps.ts';
import { findAllowedOutput } from '../../../../src/model/adapters/errors/output-limit-errors.ts';
import { userMessage } from '../../../../src/protocol/message.ts';
import { adapterDeps, collect, failed, finished, request, serve, sse } from '../support.ts';
import { WIRES } from '../wires.ts';

test.each([
  [
    'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet',
    8192,
  ],
  ['max_tokens is too large: 50000. This model supports at most 16384 completion tokens.', 16384],
  [
    "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 32768, but got 128000 instead.",
    32768,
  ],
  ['`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens`', 16384],
  ['too many tokens: max tokens must be less than or equal to 4096 - received 8192', 4096],
  ['Invalid max_tokens value, the valid range of max_tokens is [1, 393216]', 393216],
  ['<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]', 8192],
  ['The maximum tokens you requested exceeds the model limit of 4096. Try again', 4096],
  ['Malformed input request: #/max_tokens: 100000 is not less or equal to 4096', 4096],
  [
    'Unable to submit request because it has a maxOutputTokens value of 65536 but the supported range is from 1 (inclusive) to 65536 (exclusive).',
    65535,
  ],
  // The limit is too high for the window: a quarter of it is asked for.
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens",
    8192,
  ],
  [
    "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens (8963 of text input, 13176 of tool input, 262144 in the output).",
    65536,
  ],
  [
    "This model's maximum context length is 131072 tokens. However, you requested 16000 output tokens and your prompt contains at least 115073 input tokens",
    null,
  ],
  [
    'input length and `max_tokens` exceed context limit: 20000 + 190000 > 204798, decrease input length',
    51199,
  ],
  ['input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798', null],
  ['prompt is too long: 213462 tokens > 200000 maximum', null],
  ['max_tokens: 0 is too small', null],
  ['', null],
])('finds the limit that %s allows', (words, allowed) => {
  expect(findAllowedOutput(words)).toBe(allowed);
});

function refusal(limit: number, message: string): HttpStatusError {
  return new HttpStatusError(
    {
      url: 'http://127.0.0.1/v1',
      status: 400,
      headers: {},
      responseBody: JSON.stringify({ error: { message } }),
      requestBody: JSON.stringify({ max_tokens: limit }),
    },
    'Bad Request',
  );
}

test('a limit is learned only for its model, and is never raised', () => {
  const caps = new OutputCaps();
  const asked = request([userMessage('Hi')], { maxOutputTokens: 64_000 });
  expect(caps.limit(asked, undefined)).toBe(asked);
  expect(caps.learn(asked.model.id, refusal(64_000, 'max_tokens: 64000 > 8192'))).toBe(true);
  expect(caps.limit(asked, undefined).maxOutputTokens).toBe(8192);
  expect(caps.limit({ ...asked, maxOutputTokens: 100 }, undefined).maxOutputTokens).toBe(100);
  const other = { ...asked, model: { ...asked.model, id: 'other' } };
  expect(caps.limit(other, undefined)).toBe(other);
  expect(caps.learn(asked.model.id, refusal(8192, 'max_tokens: 8192 > 9000'))).toBe(false);
});

test('a server that always names a lower limit is not asked for ever', async () => {
  const wire = WIRES.find(({ name }) => name === 'anthropic');
  if (wire === undefined) throw new Error('no wire');
  await using server = await serve((response, { body }) => {
    const limit = Number(/"max_tokens":(\d+)/.exec(body)?.[1]);
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `max_tokens: ${limit} > ${limit - 1}` } }));
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'k' };
  const port = createAdapter(wire.dialect, endpoint, adapterDeps());
  const parts = await collect(port, request([userMessage('Hi')], { maxOutputTokens: 64_000 }));
  expect(failed(parts).kind).toBe('bad_request');
  expect(server.requests.length).toBe(5);
});

describe.each(WIRES)('over $name', (wire) => {
  test('a request with a refused limit is sent again with a lower one', async () => {
    const limits: (number | undefined)[] = [];
    await using server = await serve((response, { body }, index) => {
      limits.push(Number(/"max_?[a-z_]*tokens":(\d+)/i.exec(body)?.[1]));
      if (index === 0) {
        response.writeHead(400, { 'content-type': 'application/json' });
        const message = 'Range of max_tokens should be [1, 8192]';
        response.end(JSON.stringify({ error: { message } }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(sse(wire.answer));
    });
    const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'k' };
    const port = createAdapter(wire.dialect, endpoint, adapterDeps());
    const asked = request([userMessage('Hi')], {
      model: { provider: 'test', id: wire.model, chain: [] },
      maxOutputTokens: 64_000,
    });
    finished(await collect(port, asked));
    // The next request knows it.
    finished(await collect(port, asked));
    expect(limits).toEqual([64_000, 8192, 8192]);
  });
});
