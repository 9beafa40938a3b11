import type { JsonObject } from '../../../src/base/json.ts';
import { chatTurns, hasField } from './chat.ts';
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

// Sources: openapi.yaml of mistralai/platform-docs-public (2026-08), recordings of crmne/ruby_llm (2026-08), and
// fixtures of vercel/ai.

const MODEL = 'mistral-medium-latest';
const SHAPE = {
  id: '548ed34ecc7f4a6aa69187e16761bf0c',
  object: 'chat.completion.chunk',
  created: 1787150060,
  model: MODEL,
};
const chunk = (delta: JsonObject, finish_reason: string | null = null, used?: JsonObject) => ({
  ...SHAPE,
  choices: [{ index: 0, delta, finish_reason }],
  ...(used === undefined ? {} : { usage: used }),
  p: 'abcdefghijklmno',
});
const IDS = ['gSIMJiOkT', 'hT2nQw8Lp'] as const;
const USED = {
  prompt_tokens: 124,
  total_tokens: 146,
  completion_tokens: 22,
  prompt_tokens_details: { cached_tokens: 64 },
  service_tier: 'standard',
};
const READ = usage(60, 22, { cacheRead: 64 });
/** The call as it comes: complete, without an index and a type. */
const call = (id: string, path: string) => ({
  id,
  function: { name: 'Read', arguments: JSON.stringify({ path }) },
});

/** The fields that the schema of the requests knows; no other is accepted. */
const KNOWN_FIELDS = new Set(
  'model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort safe_prompt prompt_cache_key'.split(
    ' ',
  ),
);
const KNOWN_MESSAGE_FIELDS = new Set([
  'role',
  'content',
  'tool_calls',
  'prefix',
  'tool_call_id',
  'name',
]);

function messagesOf({ messages }: JsonObject): readonly JsonObject[] {
  return (messages ?? []) as unknown as readonly JsonObject[];
}

function callIdsOf(body: JsonObject): readonly unknown[] {
  return messagesOf(body).flatMap(({ tool_calls: calls, tool_call_id: id }) => {
    if (id !== undefined) return [id];
    return Array.isArray(calls) ? calls.map((each) => (each as JsonObject)['id']) : [];
  });
}

export const wire: ProviderWire = {
  key: { variable: 'MISTRAL_API_KEY', prefix: 'mistral-' },
  model: MODEL,
  url: 'https://api.mistral.ai/v1/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { stream_options: undefined, reasoning_effort: 'high' },
    ids: IDS,
    thoughts: {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'The files.' }], closed: true },
      ],
    },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('The files.')],
      bodies: [
        data([
          chunk({ role: 'assistant', content: '' }),
          chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'The' }] }] }),
          chunk({
            content: [
              { type: 'thinking', thinking: [{ type: 'text', text: ' files.' }], closed: true },
            ],
          }),
          chunk(
            { content: null, tool_calls: [call(IDS[0], 'a.ts'), call(IDS[1], 'b.ts')] },
            'tool_calls',
            USED,
          ),
        ]),
        data([
          chunk({ role: 'assistant', content: '' }),
          chunk({ content: 'One constant' }),
          chunk({ content: ' each.' }, 'stop', USED),
        ]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
      repairs: { missing_index: 2 },
    }),
  }),
  recordings: {
    text: {
      body: String.raw`data: {"id":"548ed34ecc7f4a6aa69187e16761bf0c","object":"chat.completion.chunk","created":1787150060,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"548ed34ecc7f4a6aa69187e16761bf0c","object":"chat.completion.chunk","created":1787150060,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":"1"},"finish_reason":null}],"p":"abcdefghijklmno"}

data: {"id":"548ed34ecc7f4a6aa69187e16761bf0c","object":"chat.completion.chunk","created":1787150060,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":" 3"},"finish_reason":"stop"}],"usage":{"prompt_tokens":22,"total_tokens":30,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":0},"service_tier":"standard"},"p":"abcde"}

data: [DONE]

`,
      content: [{ type: 'text', text: '1 3' }],
      usage: usage(22, 8),
      reason: 'stop',
      servedBy: 'mistral-small-latest',
    },
    'a thought in a list of parts, and text in a string': {
      body: String.raw`data: {"id":"7bfa9194c90e44c5a0efa6c6efa474cd","object":"chat.completion.chunk","created":1787150315,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"The"}]}]},"finish_reason":null}],"p":"abcdefghijklmno"}

data: {"id":"7bfa9194c90e44c5a0efa6c6efa474cd","object":"chat.completion.chunk","created":1787150315,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"4."}],"closed":true},{"type":"text","text":"1"}]},"finish_reason":null}],"p":"abcdefghijklmnopqrstuv"}

data: {"id":"7bfa9194c90e44c5a0efa6c6efa474cd","object":"chat.completion.chunk","created":1787150315,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":"44"},"finish_reason":"stop"}],"usage":{"prompt_tokens":31,"total_tokens":97,"completion_tokens":66,"prompt_tokens_details":{"cached_tokens":0},"service_tier":"standard"},"p":"abcdefghijklmnopqrs"}

`,
      content: [thought('The4.'), { type: 'text', text: '144' }],
      usage: usage(31, 66),
      reason: 'stop',
      servedBy: 'mistral-small-latest',
    },
    'a call without an index and a type': {
      body: String.raw`data: {"id":"b3999b8c93e04e11bcbff7bcab829667","object":"chat.completion.chunk","created":1769088854,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null,"logprobs":null}]}

data: {"id":"b3999b8c93e04e11bcbff7bcab829667","object":"chat.completion.chunk","created":1769088854,"model":"mistral-small-latest","choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"id":"gSIMJiOkT","function":{"name":"weather","arguments":"{\"location\": \"San Francisco\"}"}}]},"finish_reason":"tool_calls","logprobs":null}],"usage":{"prompt_tokens":124,"total_tokens":146,"completion_tokens":22}}

`,
      content: [
        {
          type: 'tool_call',
          id: 'gSIMJiOkT',
          name: 'weather',
          input: { location: 'San Francisco' },
        },
      ],
      usage: usage(124, 22),
      reason: 'tool_calls',
      servedBy: 'mistral-small-latest',
      repairs: { missing_index: 1 },
    },
    'a call whose second piece has an empty name and no id': {
      body: String.raw`data: {"id":"735e434874a24f68a2390b3cab149242","object":"chat.completion.chunk","created":1787234678,"model":"zai-glm-5-2","choices":[{"index":0,"delta":{"tool_calls":[{"id":"chatcmpl-tool-9f149c74c42f265b","type":"function","function":{"name":"webSearchTool","arguments":""},"index":0}],"index":0,"content":""},"finish_reason":null,"logprobs":null}]}

data: {"id":"735e434874a24f68a2390b3cab149242","object":"chat.completion.chunk","created":1787234678,"model":"zai-glm-5-2","choices":[{"index":0,"delta":{"tool_calls":[{"type":"function","function":{"name":"","arguments":"{\"query\": \"current Berlin weather\"}"},"index":0}],"index":0,"content":""},"finish_reason":null,"logprobs":null}]}

data: {"id":"735e434874a24f68a2390b3cab149242","object":"chat.completion.chunk","created":1787234678,"model":"zai-glm-5-2","choices":[{"index":0,"delta":{"index":0,"content":""},"finish_reason":"tool_calls","logprobs":null}],"usage":{"prompt_tokens":171,"total_tokens":185,"completion_tokens":14,"prompt_tokens_details":{"cached_tokens":128}}}

`,
      content: [
        {
          type: 'tool_call',
          id: 'chatcmpl-tool-9f149c74c42f265b',
          name: 'webSearchTool',
          input: { query: 'current Berlin weather' },
        },
      ],
      usage: usage(43, 14, { cacheRead: 128 }),
      reason: 'tool_calls',
      servedBy: 'zai-glm-5-2',
    },
  },
  efforts: {
    [MODEL]: efforts('none none high high high high high'),
    'mistral-small-latest': efforts('none none high high high high high'),
    'mistral-large-latest': NO_EFFORTS,
  },
  errors: [
    { name: 'a wrong key', status: 401, body: { detail: 'Invalid API Key' }, kind: 'auth' },
    {
      name: 'an unknown model',
      status: 400,
      body: {
        object: 'error',
        message: 'Invalid model: not-a-real-mistral-model-for-fixtures',
        type: 'invalid_model',
        param: null,
        code: '1500',
        raw_status_code: 400,
      },
      kind: 'not_found',
    },
    {
      name: 'a rate limit, with its headers',
      status: 429,
      headers: {
        'retry-after': '3',
        'x-ratelimit-limit-req-minute': '60',
        'x-ratelimit-remaining-req-minute': '0',
        'x-ratelimit-limit-tokens-minute': '500000',
        'x-ratelimit-remaining-tokens-minute': '499000',
        'x-ratelimit-tokens-query-cost': '3204',
      },
      body: {
        object: 'error',
        message: 'Rate limit exceeded',
        type: 'rate_limited',
        param: null,
        code: '1300',
        raw_status_code: 429,
      },
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 3000,
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        object: 'error',
        message:
          'Prompt contains 159202 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
        type: 'invalid_request_invalid_args',
        param: null,
        code: '3051',
        raw_status_code: 400,
      },
      kind: 'context_overflow',
    },
  ],
  refusals: [
    {
      name: 'fields that its schema does not know',
      isRefused: (body) => Object.keys(body).some((field) => !KNOWN_FIELDS.has(field)),
      status: 422,
      body: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'stream_options'],
            msg: 'Extra inputs are not permitted',
          },
        ],
      },
    },
    {
      name: 'fields of messages that its schema does not know',
      isRefused: (body) =>
        messagesOf(body).some((message) =>
          Object.keys(message).some((field) => !KNOWN_MESSAGE_FIELDS.has(field)),
        ),
      status: 422,
      body: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'messages', 2, 'assistant', 'reasoning_content'],
            msg: 'Extra inputs are not permitted',
          },
        ],
      },
    },
    {
      name: 'ids of calls in the form of other vendors',
      isRefused: (body) => callIdsOf(body).some((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id))),
      status: 400,
      body: {
        object: 'error',
        message:
          'Tool call id was toolu_01AAAAAAAAAAAAAAAAAAAAAA but must be a-z, A-Z, 0-9, with a length of 9.',
        type: 'invalid_function_call',
        code: '3280',
      },
      by: { model: 'zai-glm-5-2', isOfAnotherModel: true },
    },
    {
      name: 'the name of the limit in the newer API of OpenAI',
      isRefused: hasField('max_completion_tokens'),
      status: 422,
      body: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', 'max_completion_tokens'],
            msg: 'Extra inputs are not permitted',
          },
        ],
      },
      isNotSent: true,
    },
  ],
};
