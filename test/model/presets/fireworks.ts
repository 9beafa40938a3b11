import type { JsonObject } from '../../../src/base/json.ts';
import { chatTurns } from './chat.ts';
import { BEARER, data, efforts, thought, turnAnswers, usage, type ProviderWire } from './wire.ts';

// Sources: https://docs.fireworks.ai, chunks and errors in tests of public clients. A recording of a stream with a call
// is not published.

const MODEL = 'accounts/fireworks/models/glm-5p3';
const SHAPE = {
  id: 'chatcmpl-ed8fb9c62e7b4d87a6629594c0bc7215',
  object: 'chat.completion.chunk',
  created: 1779320325,
  model: MODEL,
};
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...SHAPE,
  choices: [{ index: 0, delta, finish_reason, raw_output: null }],
  usage: null,
});
const USED = {
  ...SHAPE,
  choices: [],
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 50,
    total_tokens: 1050,
    prompt_tokens_details: { cached_tokens: 800 },
  },
};
const READ = usage(200, 50, { cacheRead: 800 });
const IDS = ['call_0', 'call_1'] as const;

/** The fields of its requests. Others are refused. */
const KNOWN_FIELDS = new Set(
  'model messages tools tool_choice max_tokens max_completion_tokens temperature top_p top_k stream stream_options parallel_tool_calls reasoning_effort thinking reasoning_history response_format stop n user prompt_cache_key service_tier'.split(
    ' ',
  ),
);

export const wire: ProviderWire = {
  key: { variable: 'FIREWORKS_API_KEY', prefix: 'fw_' },
  model: MODEL,
  url: 'https://api.fireworks.ai/inference/v1/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { reasoning_effort: 'high' },
    ids: IDS,
    thoughts: { reasoning_content: 'Both files.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.')],
      bodies: [
        data([
          chunk({ role: 'assistant', content: '' }),
          chunk({ reasoning_content: 'Both' }),
          chunk({ reasoning_content: ' files.' }),
          chunk({
            tool_calls: [
              {
                index: 0,
                id: IDS[0],
                type: 'function',
                function: { name: 'Read', arguments: '{"path":' },
              },
              {
                index: 1,
                id: IDS[1],
                type: 'function',
                function: { name: 'Read', arguments: '{' },
              },
            ],
          }),
          chunk(
            {
              tool_calls: [
                { index: 0, function: { arguments: '"a.ts"}' } },
                { index: 1, function: { arguments: '"path":"b.ts"}' } },
              ],
            },
            'tool_calls',
          ),
          USED,
        ]),
        data([chunk({ content: 'One constant' }), chunk({ content: ' each.' }, 'stop'), USED]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    'a thought and text, without usage': {
      body: String.raw`data: {"id":"chatcmpl-ed8fb9c62e7b4d87a6629594c0bc7215","object":"chat.completion.chunk","created":1779320325,"model":"accounts/fireworks/models/kimi-k2p6","choices":[{"index":0,"delta":{"reasoning_content":"用"},"finish_reason":null,"raw_output":null}],"usage":null}

data: {"id":"chatcmpl-ed8fb9c62e7b4d87a6629594c0bc7215","object":"chat.completion.chunk","created":1779320325,"model":"accounts/fireworks/models/kimi-k2p6","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop","raw_output":null}],"usage":null}

`,
      content: [thought('用'), { type: 'text', text: 'hello' }],
      usage: usage(0, 0),
      usageMissing: 'all',
      reason: 'stop',
      servedBy: 'accounts/fireworks/models/kimi-k2p6',
      repairs: { missing_usage: 1 },
    },
    'a name that is split over chunks, as a client tests it': {
      body: String.raw`data: {"id":"chatcmpl-fw","model":"accounts/fireworks/models/test","choices":[{"index":0,"delta":{"content":"world","tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"get_","arguments":"{\"city\":"}},{"index":1,"id":"call_1","type":"function","function":{"name":"ping","arguments":"{"}}]},"finish_reason":""}]}

data: {"id":"chatcmpl-fw","model":"accounts/fireworks/models/test","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"weather","arguments":"\"Tokyo\"}"}},{"index":1,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}

`,
      content: [
        { type: 'text', text: 'world' },
        { type: 'tool_call', id: 'call_0', name: 'get_weather', input: { city: 'Tokyo' } },
        { type: 'tool_call', id: 'call_1', name: 'ping', input: {} },
      ],
      usage: usage(0, 0),
      usageMissing: 'all',
      reason: 'tool_calls',
      servedBy: 'accounts/fireworks/models/test',
      repairs: { missing_usage: 1 },
    },
  },
  efforts: { [MODEL]: efforts('low low low medium high high high') },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: {
        error: {
          message: 'The API key you provided is invalid.',
          param: null,
          code: 'UNAUTHORIZED',
          type: 'error',
        },
        request_id: 'r1',
      },
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 404,
      body: {
        error: { message: 'Model not found, inaccessible, and/or not deployed', code: 'NOT_FOUND' },
      },
      kind: 'not_found',
    },
    {
      name: 'a rate limit as a plain text, with its headers',
      status: 429,
      headers: {
        'retry-after': '2',
        'x-ratelimit-limit-tokens-prompt': '60000',
        'x-ratelimit-remaining-tokens-prompt': '0',
        'x-ratelimit-limit-tokens-generated': '6000',
        'x-ratelimit-remaining-tokens-generated': '5000',
      },
      body: {
        error: 'Too Many Requests',
        message:
          'You have exceeded your usage limits. Please try again later or contact Fireworks to explore dedicated capacity.',
      },
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 2000,
    },
    {
      name: 'a suspended account',
      status: 412,
      body: {
        error: {
          message:
            'Account pollinations is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices. Please go to https://fireworks.ai/account/billing for more information.',
          param: null,
          code: 'PRECONDITION_FAILED',
          type: 'error',
        },
        request_id: '11650e2f-ff1b-4aac-9719-98006adf7349',
      },
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        error: { message: 'The prompt is too long: 798932, model maximum context length: 262143' },
      },
      kind: 'context_overflow',
    },
    {
      name: 'an overload',
      status: 503,
      body: { error: { message: 'Service overloaded' } },
      kind: 'overloaded',
      isTransient: true,
    },
  ],
  refusals: [
    {
      name: 'fields that it does not know',
      isRefused: (body) => Object.keys(body).some((field) => !KNOWN_FIELDS.has(field)),
      status: 400,
      body: {
        error: {
          message:
            "Extra inputs are not permitted, field: 'vl_high_resolution_images', value: True.",
        },
      },
      isNotSent: true,
    },
    {
      name: 'a switch for thinking beside an effort',
      isRefused: ({ thinking, reasoning_effort: effort }) =>
        thinking !== undefined && effort !== undefined,
      status: 400,
      body: { error: { message: 'thinking and reasoning_effort cannot both be set' } },
      isNotSent: true,
    },
  ],
};
