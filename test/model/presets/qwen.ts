import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns } from './chat.ts';
import {
  BEARER,
  data,
  efforts,
  NO_EFFORTS,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: recordings of vercel/ai (packages/alibaba, 2026-02), the vendor's list of errors
// (help.aliyun.com/zh/model-studio/error-code), and errors that users have published.

const MODEL = 'qwen3.7-plus';
const SHAPE = {
  object: 'chat.completion.chunk',
  created: 1770764938,
  system_fingerprint: null,
  model: MODEL,
  id: 'chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368',
};
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...SHAPE,
  choices: [{ delta, finish_reason, index: 0, logprobs: null }],
  usage: null,
});
const USED = {
  ...SHAPE,
  choices: [],
  usage: {
    prompt_tokens: 1295,
    completion_tokens: 22,
    total_tokens: 1317,
    completion_tokens_details: { reasoning_tokens: 10 },
    prompt_tokens_details: { cached_tokens: 1024, cache_creation_input_tokens: 200 },
  },
};
const READ = usage(71, 22, { cacheRead: 1024, cacheWrite: 200, reasoning: 10 });
const IDS = ['call_eee11723464a4b9eb8cee71d', 'call_0d2b9f64c1b84c05a7b3cf19'] as const;

const callChunks = (path: string, index: number) => [
  chunk({
    content: null,
    tool_calls: [callPiece(index, IDS[index] ?? '', '')],
    role: 'assistant',
  }),
  // Later pieces have an empty id.
  ...['{"path": "', path, '"}', ''].map((piece) =>
    chunk({
      content: null,
      tool_calls: [{ index, id: '', type: 'function', function: { arguments: piece } }],
    }),
  ),
];

export const wire: ProviderWire = {
  key: { variable: 'DASHSCOPE_API_KEY', prefix: 'sk-' },
  model: MODEL,
  url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { enable_thinking: true, parallel_tool_calls: true },
    ids: IDS,
    thoughts: { reasoning_content: 'We read.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('We read.')],
      bodies: [
        data([
          chunk({ content: null, reasoning_content: 'We', role: 'assistant' }),
          chunk({ content: null, reasoning_content: ' read.' }),
          ...PATHS.flatMap(callChunks),
          chunk({}, 'tool_calls'),
          USED,
        ]),
        data([
          chunk({ content: '', role: 'assistant' }),
          chunk({ content: 'One constant each.' }),
          chunk({ content: '' }, 'stop'),
          USED,
        ]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    text: {
      body: String.raw`data: {"choices":[{"delta":{"content":"","role":"assistant"},"index":0,"logprobs":null,"finish_reason":null}],"object":"chat.completion.chunk","usage":null,"created":1770764906,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-d2d6aab7-cbca-970f-8aa6-7d58c9724733"}

data: {"choices":[{"finish_reason":null,"logprobs":null,"delta":{"content":"##"},"index":0}],"object":"chat.completion.chunk","usage":null,"created":1770764906,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-d2d6aab7-cbca-970f-8aa6-7d58c9724733"}

data: {"choices":[{"finish_reason":"stop","delta":{"content":""},"index":0,"logprobs":null}],"object":"chat.completion.chunk","usage":null,"created":1770764906,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-d2d6aab7-cbca-970f-8aa6-7d58c9724733"}

data: {"choices":[],"object":"chat.completion.chunk","usage":{"prompt_tokens":18,"completion_tokens":779,"total_tokens":797,"prompt_tokens_details":{"cached_tokens":0}},"created":1770764906,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-d2d6aab7-cbca-970f-8aa6-7d58c9724733"}

data: [DONE]

`,
      content: [{ type: 'text', text: '##' }],
      usage: usage(18, 779),
      reason: 'stop',
      servedBy: 'qwen3-max',
    },
    'a call with empty ids in its later pieces': {
      body: String.raw`data: {"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"id":"call_eee11723464a4b9eb8cee71d","type":"function","function":{"name":"weather","arguments":""}}],"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"object":"chat.completion.chunk","usage":null,"created":1770764938,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368"}

data: {"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"id":"","type":"function","function":{"arguments":"{\"location\": \"San Francisco"}}]},"finish_reason":null,"index":0,"logprobs":null}],"object":"chat.completion.chunk","usage":null,"created":1770764938,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368"}

data: {"choices":[{"delta":{"content":null,"tool_calls":[{"index":0,"id":"","type":"function","function":{"arguments":"\"}"}}]},"finish_reason":null,"index":0,"logprobs":null}],"object":"chat.completion.chunk","usage":null,"created":1770764938,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368"}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":""},"index":0,"id":"","type":"function"}]},"index":0}],"object":"chat.completion.chunk","usage":null,"created":1770764938,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368"}

data: {"choices":[{"finish_reason":"tool_calls","delta":{},"index":0,"logprobs":null}],"object":"chat.completion.chunk","usage":null,"created":1770764938,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368"}

data: {"choices":[],"object":"chat.completion.chunk","usage":{"prompt_tokens":295,"completion_tokens":22,"total_tokens":317,"prompt_tokens_details":{"cached_tokens":0}},"created":1770764938,"system_fingerprint":null,"model":"qwen3-max","id":"chatcmpl-8e243c57-23b3-9db2-a02e-e3c53929c368"}

`,
      content: [
        {
          type: 'tool_call',
          id: 'call_eee11723464a4b9eb8cee71d',
          name: 'weather',
          input: { location: 'San Francisco' },
        },
      ],
      usage: usage(295, 22),
      reason: 'tool_calls',
      servedBy: 'qwen3-max',
    },
  },
  efforts: {
    [MODEL]: efforts('off off on on on on on', (value) => ({ enable_thinking: value === 'on' })),
    'qwen3.8-max': efforts('none low low medium xhigh xhigh xhigh'),
    'qwen3-coder-plus': NO_EFFORTS,
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: {
        error: {
          message:
            'Incorrect API key provided. For details, see: https://www.alibabacloud.com/help/en/model-studio/error-code#apikey-error',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_api_key',
        },
        request_id: 'a3a281e3-0610-974a-8fb2-47401f693b8b',
      },
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 404,
      body: {
        error: {
          message: 'The model `qwen3.5-flash,x` does not exist or you do not have access to it.',
          type: 'invalid_request_error',
          param: null,
          code: 'model_not_found',
        },
        request_id: 'a3a281e3-0610-974a-8fb2-47401f693b8b',
      },
      kind: 'not_found',
    },
    {
      name: 'a model that is not in the plan',
      status: 400,
      body: { error: { message: "model 'qwen-max' is not supported" } },
      kind: 'not_found',
    },
    {
      name: 'a rate limit',
      status: 429,
      body: {
        error: {
          code: 'Throttling.RateQuota',
          message: 'Requests rate limit exceeded, please try again later.',
        },
      },
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'a limit of tokens per minute, with the code that OpenAI has for spent credit',
      status: 429,
      body: {
        error: {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          type: 'insufficient_quota',
          param: null,
          code: 'insufficient_quota',
        },
      },
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'out of credit',
      status: 400,
      body: {
        error: {
          message:
            'Access denied, please make sure your account is in good standing. For details, see: https://help.aliyun.com/zh/model-studio/error-code#overdue-payment',
          type: 'Arrearage',
          param: null,
          code: 'Arrearage',
        },
      },
      kind: 'rate_limit',
    },
    {
      name: 'a used-up free tier',
      status: 403,
      body: {
        error: {
          message: 'The free tier of the model has been exhausted.',
          code: 'AllocationQuota.FreeTierOnly',
        },
      },
      kind: 'rate_limit',
    },
    {
      name: 'an unpaid bill',
      status: 429,
      body: { error: { message: 'The postpaid bill is overdue.', code: 'PostpaidBillOverdue' } },
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        error: {
          code: 'invalid_parameter_error',
          param: null,
          message:
            '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 3072]',
          type: 'invalid_request_error',
        },
        request_id: '4c7a91c5-c35c-9e94-8ff8-6e1b09a8a151',
      },
      kind: 'context_overflow',
    },
    {
      name: 'a fault of the server',
      status: 500,
      body: { error: { message: 'An internal error has occured.', code: 'internal_error' } },
      kind: 'server',
      isTransient: true,
    },
  ],
  refusals: [
    {
      name: 'a forced choice of tools while thinking',
      isRefused: ({ tool_choice: choice }) => choice !== 'auto' && choice !== 'none',
      status: 400,
      body: {
        error: {
          message:
            'The tool_choice parameter does not support being set to required or object in thinking mode',
          code: 'invalid_parameter_error',
        },
      },
      isNotSent: true,
    },
    {
      name: 'thinking without a stream',
      isRefused: ({ stream }) => stream !== true,
      status: 400,
      body: {
        error: {
          message: 'parameter.enable_thinking must be set to false for non-streaming calls',
          code: 'invalid_parameter_error',
        },
      },
      isNotSent: true,
    },
    {
      name: 'a limit above that of the model',
      isRefused: ({ max_tokens: limit }) => Number(limit) > 8192,
      status: 400,
      body: {
        error: {
          message: 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]',
          code: 'invalid_parameter_error',
        },
      },
      by: { maxOutputTokens: 32_000 },
    },
    {
      name: 'empty content',
      isRefused: ({ messages }) =>
        Array.isArray(messages) &&
        messages.some((message) => {
          const { content, tool_calls: calls } = message as JsonObject;
          return content === '' || (content === null && calls === undefined);
        }),
      status: 400,
      body: {
        error: {
          message: 'Role must be user or assistant and Content length must be greater than 0.',
          code: 'invalid_parameter_error',
        },
      },
      isNotSent: true,
    },
  ],
};
