import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns, hasCallsWithout } from './chat.ts';
import {
  BEARER,
  data,
  efforts,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://api-docs.deepseek.com, recordings of crmne/ruby_llm (2026-06) and fixtures of vercel/ai.

const MODEL = 'deepseek-v4-pro';
const SHAPE = {
  id: 'cca85624-4056-401f-b220-d77601d1f70d',
  object: 'chat.completion.chunk',
  created: 1764664568,
  model: MODEL,
  system_fingerprint: 'fp_eaab8d114b_prod0820_fp8_kvcache',
};
const chunk = (
  delta: JsonObject,
  finish_reason: string | null = null,
  used: JsonObject | null = null,
) => ({
  ...SHAPE,
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  usage: used,
});
const IDS = ['call_00_ioIn7yN9p1ZOMNpDLwd4MgAF', 'call_01_Zk2mVd8sQ1fXb0rYtHcL5NaE'] as const;
const USED = {
  prompt_tokens: 339,
  completion_tokens: 83,
  total_tokens: 422,
  prompt_tokens_details: { cached_tokens: 320 },
  completion_tokens_details: { reasoning_tokens: 39 },
  prompt_cache_hit_tokens: 320,
  prompt_cache_miss_tokens: 19,
};
const READ = usage(19, 83, { cacheRead: 320, reasoning: 39 });

const callChunks = (path: string, index: number) => [
  chunk({ tool_calls: [callPiece(index, IDS[index] ?? '', '')] }),
  ...['{', '"', 'path', '": "', path, '"', '}'].map((piece) =>
    chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
  ),
];

export const wire: ProviderWire = {
  key: { variable: 'DEEPSEEK_API_KEY', prefix: 'sk-' },
  model: MODEL,
  url: 'https://api.deepseek.com/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { reasoning_effort: 'high' },
    ids: IDS,
    thoughts: { reasoning_content: 'Read both.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Read both.')],
      bodies: [
        data([
          ': keep-alive\n\n',
          chunk({ role: 'assistant', content: null, reasoning_content: '' }),
          chunk({ content: null, reasoning_content: 'Read' }),
          chunk({ content: null, reasoning_content: ' both.' }),
          ...PATHS.flatMap(callChunks),
          chunk({ content: '', reasoning_content: null }, 'tool_calls', USED),
        ]),
        data([
          chunk({ role: 'assistant', content: '' }),
          chunk({ content: 'One constant each.' }),
          ': keep-alive\n\n',
          chunk({ content: '' }, 'stop', USED),
        ]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    text: {
      body: String.raw`data: {"id":"e626f326-1f18-4dca-aad2-0f60d3d57075","object":"chat.completion.chunk","created":1780944343,"model":"deepseek-v4-flash","system_fingerprint":"fp_8b330d02d0_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"e626f326-1f18-4dca-aad2-0f60d3d57075","object":"chat.completion.chunk","created":1780944343,"model":"deepseek-v4-flash","system_fingerprint":"fp_8b330d02d0_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":"1"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"e626f326-1f18-4dca-aad2-0f60d3d57075","object":"chat.completion.chunk","created":1780944343,"model":"deepseek-v4-flash","system_fingerprint":"fp_8b330d02d0_prod0820_fp8_kvcache_20260402","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":8,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":0},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":11}}

data: [DONE]

`,
      content: [{ type: 'text', text: '1' }],
      usage: usage(11, 8),
      reason: 'stop',
      servedBy: 'deepseek-v4-flash',
    },
    'a thought and a call': {
      body: String.raw`data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"The"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_00_ioIn7yN9p1ZOMNpDLwd4MgAF","type":"function","function":{"name":"weather","arguments":""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"location"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":": "}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"San"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" Francisco"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\""}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cca85624-4056-401f-b220-d77601d1f70d","object":"chat.completion.chunk","created":1764664568,"model":"deepseek-reasoner","system_fingerprint":"fp_eaab8d114b_prod0820_fp8_kvcache","choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":339,"completion_tokens":83,"total_tokens":422,"prompt_tokens_details":{"cached_tokens":320},"completion_tokens_details":{"reasoning_tokens":39},"prompt_cache_hit_tokens":320,"prompt_cache_miss_tokens":19}}

`,
      content: [
        thought('The'),
        {
          type: 'tool_call',
          id: 'call_00_ioIn7yN9p1ZOMNpDLwd4MgAF',
          name: 'weather',
          input: { location: 'San Francisco' },
        },
      ],
      usage: READ,
      reason: 'tool_calls',
      servedBy: 'deepseek-reasoner',
    },
    'a document in place of a stream': {
      body: String.raw`{"id":"2c181a80-6a33-49e6-8add-70999edef402","object":"chat.completion","created":1786400347,"model":"deepseek-v4-flash","choices":[{"index":0,"message":{"role":"assistant","content":"4","reasoning_content":"We need answer simple. 2+2=4. Just number."},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":97,"completion_tokens":17,"total_tokens":114,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":15},"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":97},"system_fingerprint":"fp_a18b46594c_prod0820_fp8_kvcache_20260402"}`,
      content: [thought('We need answer simple. 2+2=4. Just number.'), { type: 'text', text: '4' }],
      usage: usage(97, 17, { reasoning: 15 }),
      reason: 'stop',
      servedBy: 'deepseek-v4-flash',
      repairs: { json_instead_of_stream: 1 },
    },
  },
  efforts: {
    [MODEL]: efforts('disabled low low high high max max', (value) =>
      value === 'disabled' ? { thinking: { type: 'disabled' } } : { reasoning_effort: value },
    ),
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: {
        error: {
          message: 'Authentication Fails, Your api key: ****-key is invalid',
          type: 'authentication_error',
          param: null,
          code: 'invalid_request_error',
        },
      },
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 400,
      body: { error: { message: 'Model Not Exist', type: 'invalid_request_error' } },
      kind: 'not_found',
    },
    {
      name: 'out of credit',
      status: 402,
      body: {
        error: {
          message: 'Insufficient Balance',
          type: 'unknown_error',
          param: null,
          code: 'invalid_request_error',
        },
      },
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      headers: { 'content-type': 'application/octet-stream' },
      body: {
        error: {
          message:
            "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens (1250025 in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_request_error',
        },
      },
      kind: 'context_overflow',
    },
    {
      name: 'a server that runs out of resources inside the answer',
      body: data([
        chunk({ content: 'One' }),
        chunk({ content: '' }, 'insufficient_system_resource', USED),
      ]),
      kind: 'malformed',
      isTransient: true,
      says: 'the answer ended with insufficient_system_resource',
      usage: READ,
    },
  ],
  refusals: [
    {
      name: 'calls without thoughts',
      isRefused: hasCallsWithout('reasoning_content'),
      status: 400,
      body: {
        error: {
          message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_request_error',
        },
      },
      by: { isOfAnotherModel: true },
    },
    {
      name: 'a limit above its own',
      isRefused: ({ max_tokens: limit }) => Number(limit) > 393_216,
      status: 400,
      body: {
        error: {
          message: 'Invalid max_tokens value, the valid range of max_tokens is [1, 393216]',
          type: 'invalid_request_error',
          param: null,
          code: 'invalid_request_error',
        },
      },
      by: { maxOutputTokens: 500_000 },
    },
  ],
};
