import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns, hasField, hasMessageField } from './chat.ts';
import {
  BEARER,
  data,
  efforts,
  NO_EFFORTS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://inference-docs.cerebras.ai, a recording of vercel/ai (cererebras-structured-output-tools.1), and
// errors that users have published.

const MODEL = 'gpt-oss-120b';
const SHAPE = {
  id: 'chatcmpl-9e97f9ca-9626-4ef8-8543-6e3ee7cef659',
  created: 1779147581,
  model: MODEL,
  system_fingerprint: 'fp_a33c042689e969567008',
  object: 'chat.completion.chunk',
};
/** No chunk has a finish reason before the last one. */
const chunk = (delta: JsonObject) => ({ ...SHAPE, choices: [{ delta, index: 0 }] });
/** The usage comes beside the finish reason. */
const end = (reason: string) => ({
  ...SHAPE,
  choices: [{ delta: {}, finish_reason: reason, index: 0 }],
  usage: {
    total_tokens: 426,
    completion_tokens: 104,
    completion_tokens_details: {
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
      reasoning_tokens: 97,
    },
    prompt_tokens: 322,
    prompt_tokens_details: { cached_tokens: 256 },
  },
  time_info: {
    created: 1779147581.1957242,
    queue_time: 0.00306479,
    prompt_time: 0.01150595,
    completion_time: 0.16727912,
    total_time: 0.1844015121459961,
  },
});
const IDS = ['bbd2b9d98', 'c41e7a0f2'] as const;
const READ = usage(66, 104, { cacheRead: 256, reasoning: 97 });
const META = { openaiCompatible: { field: 'reasoning' } };

/** Errors have their fields at the top level. */
const error = (message: string, type: string, param: string, code: string) => ({
  message,
  type,
  param,
  code,
});
const UNKNOWN_FIELD = (field: string) => ({
  name: `the field ${field}`,
  isRefused: hasField(field),
  status: 400,
  body: error(
    `The ${field} field is not supported`,
    'invalid_request_error',
    field,
    'wrong_api_format',
  ),
  isNotSent: true as const,
});

export const wire: ProviderWire = {
  key: { variable: 'CEREBRAS_API_KEY', prefix: 'csk-' },
  model: MODEL,
  url: 'https://api.cerebras.ai/v1/chat/completions',
  headers: { ...BEARER, 'x-cerebras-3rd-party-integration': 'muster' },
  turns: chatTurns({
    model: MODEL,
    fields: { max_tokens: undefined, max_completion_tokens: 4096, reasoning_effort: 'high' },
    ids: IDS,
    thoughts: { reasoning: 'The files.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('The files.', META)],
      bodies: [
        data([
          chunk({ role: 'assistant' }),
          chunk({ reasoning: 'The' }),
          chunk({ reasoning: ' files.' }),
          chunk({ tool_calls: [callPiece(0, IDS[0], '{"path":"a.ts"}')] }),
          chunk({ tool_calls: [callPiece(1, IDS[1], '{"path":"b.ts"}')] }),
          end('tool_calls'),
        ]),
        data([
          chunk({ role: 'assistant' }),
          chunk({ content: 'One constant' }),
          chunk({ content: ' each.' }),
          end('stop'),
        ]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    'a thought and a call': {
      body: String.raw`data: {"id":"chatcmpl-9e97f9ca-9626-4ef8-8543-6e3ee7cef659","choices":[{"delta":{"role":"assistant"},"index":0}],"created":1779147581,"model":"zai-glm-4.7","system_fingerprint":"fp_a33c042689e969567008","object":"chat.completion.chunk"}

data: {"id":"chatcmpl-9e97f9ca-9626-4ef8-8543-6e3ee7cef659","choices":[{"delta":{"reasoning":"The"},"index":0}],"created":1779147581,"model":"zai-glm-4.7","system_fingerprint":"fp_a33c042689e969567008","object":"chat.completion.chunk"}

data: {"id":"chatcmpl-9e97f9ca-9626-4ef8-8543-6e3ee7cef659","choices":[{"delta":{"tool_calls":[{"function":{"name":"nonUsefulTool","arguments":"{}"},"type":"function","id":"bbd2b9d98","index":0}]},"index":0}],"created":1779147581,"model":"zai-glm-4.7","system_fingerprint":"fp_a33c042689e969567008","object":"chat.completion.chunk"}

data: {"id":"chatcmpl-9e97f9ca-9626-4ef8-8543-6e3ee7cef659","choices":[{"delta":{},"finish_reason":"tool_calls","index":0}],"created":1779147581,"model":"zai-glm-4.7","system_fingerprint":"fp_a33c042689e969567008","object":"chat.completion.chunk","usage":{"total_tokens":426,"completion_tokens":104,"completion_tokens_details":{"accepted_prediction_tokens":0,"rejected_prediction_tokens":0,"reasoning_tokens":97},"prompt_tokens":322,"prompt_tokens_details":{"cached_tokens":256}},"time_info":{"created":1779147581.1957242,"queue_time":0.00306479,"prompt_time":0.01150595,"completion_time":0.16727912,"total_time":0.1844015121459961}}

`,
      content: [
        thought('The', META),
        { type: 'tool_call', id: 'bbd2b9d98', name: 'nonUsefulTool', input: {} },
      ],
      usage: READ,
      reason: 'tool_calls',
      servedBy: 'zai-glm-4.7',
    },
    'a document in place of a stream': {
      body: String.raw`{"id":"chatcmpl-292e278f-514e-4186-9010-91ce6a14168b","choices":[{"finish_reason":"stop","index":0,"message":{"content":"Hello! How can I assist you today?","reasoning":"The user is asking for a simple greeting.","role":"assistant"}}],"created":1723733419,"model":"gpt-oss-120b","system_fingerprint":"fp_70185065a4","object":"chat.completion","usage":{"prompt_tokens":12,"completion_tokens":10,"total_tokens":22,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"time_info":{"queue_time":0.000073161,"prompt_time":0.0010744798888888889,"completion_time":0.005658071111111111,"total_time":0.022224903106689453,"created":1723733419}}`,
      content: [
        thought('The user is asking for a simple greeting.', META),
        { type: 'text', text: 'Hello! How can I assist you today?' },
      ],
      usage: usage(12, 10),
      reason: 'stop',
      servedBy: MODEL,
      repairs: { json_instead_of_stream: 1 },
    },
  },
  efforts: {
    [MODEL]: efforts('low low low medium high high high'),
    'qwen-3.8-27b': efforts('none low low medium high high high'),
    'gemma-4-31b': NO_EFFORTS,
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: error('Wrong API Key', 'invalid_request_error', 'api_key', 'wrong_api_key'),
      kind: 'auth',
    },
    { name: 'no key', status: 403, body: { detail: 'Not authenticated' }, kind: 'auth' },
    {
      name: 'an unknown model',
      status: 404,
      body: error(
        'Model does not exist or you do not have access to it.',
        'not_found_error',
        'model',
        'model_not_found',
      ),
      kind: 'not_found',
    },
    {
      name: 'a rate limit, with its headers',
      status: 429,
      headers: {
        'x-ratelimit-limit-requests-day': '14400',
        'x-ratelimit-limit-tokens-minute': '60000',
        'x-ratelimit-remaining-requests-day': '0',
        'x-ratelimit-remaining-tokens-minute': '57000',
        'x-ratelimit-reset-requests-day': '33011.382867',
        'x-ratelimit-reset-tokens-minute': '11.382867',
      },
      body: error(
        'Requests per minute limit exceeded - too many requests sent.',
        'too_many_requests_error',
        'quota',
        'request_quota_exceeded',
      ),
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'a full queue',
      status: 429,
      body: error(
        "We're experiencing high traffic right now! Please try again soon.",
        'too_many_requests_error',
        'queue',
        'queue_exceeded',
      ),
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        ...error(
          'Please reduce the length of the messages or completion. Current length is 196699 while limit is 131072',
          'invalid_request_error',
          'messages',
          'context_length_exceeded',
        ),
        id: '',
      },
      kind: 'context_overflow',
    },
    {
      name: 'out of credit',
      status: 402,
      body: error(
        'Payment required to access this resource. Visit your billing tab.',
        'payment_required_error',
        'quota',
        'payment_required',
      ),
      kind: 'rate_limit',
    },
  ],
  refusals: [
    ...[
      'parallel_tool_calls',
      'service_tier',
      'frequency_penalty',
      'presence_penalty',
      'logit_bias',
    ].map(UNKNOWN_FIELD),
    {
      name: 'thoughts in the field of other vendors',
      isRefused: hasMessageField('reasoning_content'),
      status: 400,
      body: error(
        'messages.2.assistant.reasoning_content: property is unsupported',
        'invalid_request_error',
        'validation_error',
        'wrong_api_format',
      ),
      isNotSent: true,
    },
    {
      name: 'an effort that the model does not have',
      isRefused: ({ model, reasoning_effort: effort }) =>
        model === MODEL && (effort === 'none' || effort === 'minimal'),
      status: 400,
      body: error(
        'reasoning_effort: unsupported value',
        'invalid_request_error',
        'reasoning_effort',
        'wrong_api_format',
      ),
      isNotSent: true,
    },
  ],
};
