import type { JsonObject } from '../../../src/base/json.ts';
import { chatTurns, hasCallsWithout, hasField } from './chat.ts';
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

// Sources: https://platform.kimi.ai/docs, the vendor's MoonshotAI/kimi-cli (packages/kosong), fixtures of vercel/ai, and
// errors that users have published. A recording of a stream with a call of Moonshot itself is not published.

const MODEL = 'kimi-k3.1-pro';
const SHAPE = { id: 'chatcmpl-stream', created: 1785880003, model: MODEL };
const chunk = (delta: JsonObject, finish_reason: string | null = null, more: JsonObject = {}) => ({
  ...SHAPE,
  choices: [{ index: 0, delta, finish_reason, ...more }],
});
const USED = { prompt_tokens: 80, completion_tokens: 21, total_tokens: 101, cached_tokens: 64 };
const READ = usage(16, 21, { cacheRead: 64 });
const IDS = ['Read:0', 'Read:1'] as const;

const callChunks = (path: string, index: number) => [
  chunk({
    content: '',
    role: 'assistant',
    tool_calls: [
      {
        index,
        id: IDS[index] ?? '',
        function: { arguments: '', name: 'Read' },
        type: 'function',
      },
    ],
  }),
  ...['{"', 'path', `": "${path}"}`].map((piece) =>
    chunk({
      content: '',
      role: 'assistant',
      tool_calls: [{ index, function: { arguments: piece } }],
    }),
  ),
];

export const wire: ProviderWire = {
  key: { variable: 'MOONSHOT_API_KEY', prefix: 'sk-' },
  model: MODEL,
  url: 'https://api.moonshot.ai/v1/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { max_tokens: undefined, max_completion_tokens: 4096, reasoning_effort: 'high' },
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
          ...PATHS.flatMap(callChunks),
          // The usage is inside the choice.
          chunk({}, 'tool_calls', { usage: USED }),
        ]),
        data([
          chunk({ content: 'One constant' }),
          chunk({ content: ' each.' }),
          {
            ...chunk({}, 'stop'),
            usage: { ...USED, completion_tokens_details: { reasoning_tokens: 7 } },
          },
        ]),
      ],
      usages: [READ, { ...READ, reasoning: 7 }],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    'a thought and text': {
      body: String.raw`data: {"id":"chatcmpl-stream","created":1785880003,"model":"kimi-k3","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"Thinking "},"finish_reason":null}]}

data: {"id":"chatcmpl-stream","created":1785880003,"model":"kimi-k3","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}

data: {"id":"chatcmpl-stream","created":1785880003,"model":"kimi-k3","choices":[{"index":0,"delta":{"content":"!"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"completion_tokens_details":{"reasoning_tokens":7}}}

`,
      content: [thought('Thinking '), { type: 'text', text: 'Hello!' }],
      usage: usage(9, 12, { reasoning: 7 }),
      reason: 'stop',
      servedBy: 'kimi-k3',
    },
    'the usage inside the choice': {
      body: String.raw`data: {"id":"chatcmpl-6970b5d02fa474c1767e8767","object":"chat.completion.chunk","created":1768994256,"model":"kimi-k2-turbo-preview","choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":8,"completion_tokens":11,"total_tokens":19,"cached_tokens":8}}],"system_fingerprint":"fpv0_10a6da87"}

`,
      content: [],
      usage: usage(0, 11, { cacheRead: 8 }),
      reason: 'stop',
      servedBy: 'kimi-k2-turbo-preview',
    },
  },
  efforts: {
    [MODEL]: efforts('low low low high high max max'),
    'kimi-k2.6': efforts('disabled disabled enabled enabled enabled enabled enabled', (type) => ({
      thinking: { type },
    })),
    'kimi-k2.7-code': NO_EFFORTS,
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: { error: { message: 'Invalid Authentication', type: 'invalid_authentication_error' } },
      kind: 'auth',
    },
    {
      name: 'a key of the other region',
      status: 401,
      body: { error: { message: 'Incorrect API key provided', type: 'incorrect_api_key_error' } },
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 404,
      body: {
        error: {
          message: 'Not found the model moonshot-v1-8k or Permission denied',
          type: 'resource_not_found_error',
        },
      },
      kind: 'not_found',
    },
    {
      name: 'a rate limit',
      status: 429,
      headers: { 'retry-after': '1' },
      body: {
        error: {
          message: 'Organization Rate limit exceeded, please try again after 1 seconds',
          type: 'rate_limit_reached_error',
        },
      },
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 1000,
    },
    {
      name: 'an overload',
      status: 429,
      body: {
        error: {
          message: 'The engine is currently overloaded, please try again later',
          type: 'engine_overloaded_error',
        },
      },
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'out of credit',
      status: 429,
      body: {
        error: {
          message:
            'Your account org-0123456789abcdef <ak-test> is suspended due to insufficient balance, please recharge your account or check your plan and billing details',
          type: 'exceeded_current_quota_error',
        },
      },
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        error: {
          message:
            'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)',
          type: 'invalid_request_error',
        },
      },
      kind: 'context_overflow',
    },
    {
      name: 'a connection that closes inside the answer',
      body: data([chunk({ content: 'One' }), chunk({ reasoning_content: 'Hm' })], {
        isDone: false,
      }),
      kind: 'connect',
      isTransient: true,
      says: 'the answer broke off before its end',
    },
  ],
  refusals: [
    {
      name: 'calls without thoughts',
      isRefused: hasCallsWithout('reasoning_content'),
      status: 400,
      body: {
        error: {
          message:
            'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
          type: 'invalid_request_error',
        },
      },
      by: { isOfAnotherModel: true },
    },
    {
      name: 'a temperature',
      isRefused: hasField('temperature'),
      status: 400,
      body: {
        error: {
          message: 'invalid temperature: only 1 is allowed for this model',
          type: 'invalid_request_error',
        },
      },
      isNotSent: true,
    },
  ],
};
