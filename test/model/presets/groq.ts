import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns, chunks, hasMessageField } from './chat.ts';
import {
  BEARER,
  efforts,
  NO_EFFORTS,
  data,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: recordings of anomalyco/opencode (groq-*.json, 2026-05) and pydantic/pydantic-ai (test_groq, 2026-02),
// https://console.groq.com/docs/rate-limits, and the types of groq/groq-typescript.

const SHAPE = {
  id: 'chatcmpl-e35442a8-12c0-4fb4-8be4-0e51727ce7b7',
  object: 'chat.completion.chunk',
  created: 1771434740,
  model: 'openai/gpt-oss-120b',
  system_fingerprint: 'fp_caa2017b29',
};
const delta = (fields: JsonObject, finish_reason: string | null = null) => ({
  delta: fields,
  logprobs: null,
  finish_reason,
});
const USAGE = {
  queue_time: 0.00491786,
  prompt_tokens: 304,
  prompt_time: 0.01460151,
  completion_tokens: 49,
  completion_time: 0.11216431,
  total_tokens: 353,
  total_time: 0.12676582,
  completion_tokens_details: { reasoning_tokens: 23 },
};
const READ = usage(304, 49, { reasoning: 23 });
/** The usage comes three times. */
const end = (reason: string) => [
  {
    ...SHAPE,
    choices: [{ index: 0, ...delta({}, reason) }],
    x_groq: { id: 'req_01khrvt32ze9rb75za4xqmdz13', usage: USAGE },
    usage: USAGE,
  },
  { ...SHAPE, choices: [], usage: USAGE, service_tier: 'on_demand' },
];
const IDS = [
  'fc_bfb39741-3748-4def-9886-a93fc9c64a90',
  'fc_0c5f2a4e-6bb7-4a0e-9f83-2f31b1d7a001',
] as const;
const META = { openaiCompatible: { field: 'reasoning' } };

const FIELDS = {
  max_tokens: undefined,
  max_completion_tokens: 4096,
  reasoning_effort: 'high',
};

const TOOL_USE_FAILED =
  "Tool call validation failed: tool call validation failed: parameters for tool get_something_by_name did not match schema: errors: [missing properties: 'name', additionalProperties 'foo' not allowed]";

export const wire: ProviderWire = {
  key: { variable: 'GROQ_API_KEY', prefix: 'gsk_' },
  model: 'openai/gpt-oss-120b',
  url: 'https://api.groq.com/openai/v1/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: 'openai/gpt-oss-120b',
    fields: FIELDS,
    ids: IDS,
    thoughts: { reasoning: 'We read both files.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('We read both files.', META)],
      bodies: [
        data([
          ...chunks(SHAPE, [
            delta({ role: 'assistant', content: '' }),
            delta({ reasoning: 'We read', channel: 'analysis' }),
            delta({ reasoning: ' both files.', channel: 'analysis' }),
            delta({ tool_calls: [callPiece(0, IDS[0], '{"path":"a.ts"}')] }),
            delta({ tool_calls: [callPiece(1, IDS[1], '{"path":"b.ts"}')] }),
          ]),
          ...end('tool_calls'),
        ]),
        data([...chunks(SHAPE, [delta({ content: 'One constant each.' })]), ...end('stop')]),
      ],
      usages: [READ, READ],
      servedBy: 'openai/gpt-oss-120b',
    }),
  }),
  recordings: {
    'text, with the usage three times': {
      body: String.raw`data: {"id":"chatcmpl-dd5aae9f-7032-44a7-aca8-01027903b4c9","object":"chat.completion.chunk","created":1778031305,"model":"llama-3.3-70b-versatile","system_fingerprint":"fp_d42c28f9ce","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"x_groq":{"id":"req_01kqxes8r3fmja0yhxvt665m6h","seed":687314058}}

data: {"id":"chatcmpl-dd5aae9f-7032-44a7-aca8-01027903b4c9","object":"chat.completion.chunk","created":1778031305,"model":"llama-3.3-70b-versatile","system_fingerprint":"fp_d42c28f9ce","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-dd5aae9f-7032-44a7-aca8-01027903b4c9","object":"chat.completion.chunk","created":1778031305,"model":"llama-3.3-70b-versatile","system_fingerprint":"fp_d42c28f9ce","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"x_groq":{"id":"req_01kqxes8r3fmja0yhxvt665m6h","usage":{"queue_time":0.0381395,"prompt_tokens":45,"prompt_time":0.003985297,"completion_tokens":3,"completion_time":0.014171875,"total_tokens":48,"total_time":0.018157172}},"usage":{"queue_time":0.0381395,"prompt_tokens":45,"prompt_time":0.003985297,"completion_tokens":3,"completion_time":0.014171875,"total_tokens":48,"total_time":0.018157172}}

data: {"id":"chatcmpl-dd5aae9f-7032-44a7-aca8-01027903b4c9","object":"chat.completion.chunk","created":1778031305,"model":"llama-3.3-70b-versatile","system_fingerprint":"fp_d42c28f9ce","choices":[],"usage":{"queue_time":0.0381395,"prompt_tokens":45,"prompt_time":0.003985297,"completion_tokens":3,"completion_time":0.014171875,"total_tokens":48,"total_time":0.018157172},"service_tier":"on_demand"}

data: [DONE]
`,
      content: [{ type: 'text', text: 'Hello' }],
      usage: usage(45, 3),
      reason: 'stop',
      servedBy: 'llama-3.3-70b-versatile',
    },
  },
  efforts: {
    'openai/gpt-oss-120b': efforts('low low low medium high high high'),
    'qwen/qwen3.8-27b': efforts('none none default default default default default'),
    'llama-3.3-70b-versatile': NO_EFFORTS,
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: {
        error: {
          message: 'Invalid API Key',
          type: 'invalid_request_error',
          code: 'invalid_api_key',
        },
      },
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 404,
      body: {
        error: {
          message: 'The model `non-existent` does not exist or you do not have access to it.',
          type: 'invalid_request_error',
          code: 'model_not_found',
        },
      },
      kind: 'not_found',
    },
    {
      name: 'a rate limit, with its headers',
      status: 429,
      headers: {
        'retry-after': '6',
        'x-ratelimit-limit-requests': '14400',
        'x-ratelimit-limit-tokens': '15000',
        'x-ratelimit-remaining-requests': '14370',
        'x-ratelimit-remaining-tokens': '3028',
        'x-ratelimit-reset-requests': '2m59.56s',
        'x-ratelimit-reset-tokens': '7.66s',
      },
      body: {
        error: {
          message:
            'Rate limit reached for model gemma2-9b-it in organization ... service tier on_demand on tokens per minute (TPM): Limit 15000, Used 11972, Requested 4351. Please try again in 5.289s. Visit https://console.groq.com/docs/rate-limits for more information.',
          type: 'tokens',
          code: 'rate_limit_exceeded',
        },
      },
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 6000,
    },
    {
      name: 'a request above the limit of a minute',
      status: 413,
      body: {
        error: {
          message:
            'Request too large for model `llama-3.1-8b-instant` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9512, please reduce your message size and try again.',
          type: 'tokens',
          code: 'rate_limit_exceeded',
        },
      },
      kind: 'context_overflow',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        error: {
          message: 'Please reduce the length of the messages or completion.',
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
      kind: 'context_overflow',
    },
    {
      name: 'a wrong call of the model',
      status: 400,
      body: {
        error: {
          message: TOOL_USE_FAILED,
          type: 'invalid_request_error',
          code: 'tool_use_failed',
          failed_generation: '{"name": "get_something_by_name", "arguments": {\n  "foo": "bar"\n}}',
        },
      },
      kind: 'malformed',
      isTransient: true,
    },
    {
      name: 'a wrong call of the model, inside the answer',
      body: data([
        ...chunks(SHAPE, [delta({ reasoning: 'We', channel: 'analysis' })]),
        {
          error: {
            message: TOOL_USE_FAILED,
            type: 'invalid_request_error',
            code: 'tool_use_failed',
            failed_generation:
              '{"name": "get_something_by_name", "arguments": {\n  "invalid_param": "value"\n}}',
            status_code: 400,
          },
        },
      ]),
      kind: 'malformed',
      isTransient: true,
      statusInside: 400,
      says: TOOL_USE_FAILED,
    },
  ],
  refusals: [
    {
      name: 'thoughts in the field of other vendors',
      isRefused: hasMessageField('reasoning_content'),
      status: 400,
      body: {
        error: {
          message:
            "'messages.2' : for 'role: assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
          type: 'invalid_request_error',
        },
      },
      isUnclear: true,
    },
    {
      name: 'an effort that the model does not have',
      isRefused: ({ reasoning_effort: effort }) =>
        effort !== undefined && !['low', 'medium', 'high'].includes(String(effort)),
      status: 400,
      body: {
        error: {
          message: '`reasoning_effort` must be one of `low`, `medium`, or `high`',
          type: 'invalid_request_error',
        },
      },
      isUnclear: true,
    },
  ],
};
