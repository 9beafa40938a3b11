import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns, hasField } from './chat.ts';
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

// Sources: openapi.yaml of togethercomputer/openapi (2026-04), https://docs.together.ai, recordings of
// anomalyco/opencode (togetherai-*.json, 2026-04), and errors that users have published.

const MODEL = 'zai-org/GLM-5.3';
const SHAPE = {
  id: 'ogzjfRD-6Ng1vN-9f391a2bb8ca75e1',
  object: 'chat.completion.chunk',
  created: 1777411135,
  model: MODEL,
};
const chunk = (delta: JsonObject, finish_reason: string | null = null, used?: JsonObject) => ({
  ...SHAPE,
  choices: [
    {
      index: 0,
      text: typeof delta['content'] === 'string' ? delta['content'] : '',
      logprobs: null,
      finish_reason,
      // Larger than any integer that JavaScript can hold.
      seed: 15_924_764_223_251_450_000,
      delta: { token_id: null, role: 'assistant', content: '', ...delta },
    },
  ],
  ...(used === undefined ? {} : { usage: used }),
});
const USED = { prompt_tokens: 194, completion_tokens: 19, total_tokens: 213, cached_tokens: 128 };
const READ = usage(66, 19, { cacheRead: 128 });
const IDS = ['call_yu1mxtmex7x48nximi9c8jpo', 'call_kd83hxnv01mzq57tbwpeylsa'] as const;

export const wire: ProviderWire = {
  key: { variable: 'TOGETHER_API_KEY', prefix: 'tgp_v1_' },
  model: MODEL,
  url: 'https://api.together.ai/v1/chat/completions',
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
          chunk({}),
          chunk({ reasoning_content: 'Both' }),
          chunk({ reasoning_content: ' files.' }),
          ...PATHS.flatMap((path, index) => [
            chunk({ tool_calls: [callPiece(index, IDS[index] ?? '', '')] }),
            chunk(
              {
                tool_calls: [{ index, function: { arguments: JSON.stringify({ path }) } }],
              },
              // The finish reason comes twice.
              index === 0 ? null : 'tool_calls',
            ),
          ]),
          chunk({ token_id: 128_009 }, 'tool_calls', USED),
        ]),
        data([
          chunk({ content: 'One constant' }),
          chunk({ content: ' each.' }),
          // Some models say `eos`, and the usage may come in a chunk of its own.
          chunk({ token_id: 128_009 }, 'eos'),
          { ...SHAPE, choices: [], usage: USED },
        ]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    text: {
      body: String.raw`data: {"id":"ogzjdpL-6Ng1vN-9f391a08f8af75e1","object":"chat.completion.chunk","created":1777411129,"choices":[{"index":0,"text":"Hello","logprobs":null,"finish_reason":null,"seed":null,"delta":{"token_id":9906,"role":"assistant","content":"Hello"}}],"model":"meta-llama/Llama-3.3-70B-Instruct-Turbo","usage":null}

data: {"id":"ogzjdpL-6Ng1vN-9f391a08f8af75e1","object":"chat.completion.chunk","created":1777411129,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop","seed":15924764223251450000,"delta":{"token_id":128009,"role":"assistant","content":""}}],"model":"meta-llama/Llama-3.3-70B-Instruct-Turbo","usage":{"prompt_tokens":45,"completion_tokens":3,"total_tokens":48,"cached_tokens":0}}

data: [DONE]

`,
      content: [{ type: 'text', text: 'Hello' }],
      usage: usage(45, 3),
      reason: 'stop',
      servedBy: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    },
    'a call': {
      body: String.raw`data: {"id":"ogzjfRD-6Ng1vN-9f391a2bb8ca75e1","object":"chat.completion.chunk","created":1777411135,"choices":[{"index":0,"role":"assistant","text":"","logprobs":null,"finish_reason":null,"delta":{"token_id":null,"role":"assistant","content":""}}],"model":"meta-llama/Llama-3.3-70B-Instruct-Turbo"}

data: {"id":"ogzjfRD-6Ng1vN-9f391a2bb8ca75e1","object":"chat.completion.chunk","created":1777411135,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":null,"delta":{"token_id":null,"role":"assistant","content":"","tool_calls":[{"index":0,"id":"call_yu1mxtmex7x48nximi9c8jpo","type":"function","function":{"name":"get_weather","arguments":""}}]}}],"model":"meta-llama/Llama-3.3-70B-Instruct-Turbo"}

data: {"id":"ogzjfRD-6Ng1vN-9f391a2bb8ca75e1","object":"chat.completion.chunk","created":1777411135,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"tool_calls","delta":{"token_id":null,"role":"assistant","content":"","tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Paris\"}"}}]}}],"model":"meta-llama/Llama-3.3-70B-Instruct-Turbo"}

data: {"id":"ogzjfRD-6Ng1vN-9f391a2bb8ca75e1","object":"chat.completion.chunk","created":1777411135,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"tool_calls","seed":9033012299842426000,"delta":{"token_id":128009,"role":"assistant","content":""}}],"model":"meta-llama/Llama-3.3-70B-Instruct-Turbo","usage":{"prompt_tokens":194,"completion_tokens":19,"total_tokens":213,"cached_tokens":0}}

data: [DONE]

`,
      content: [
        {
          type: 'tool_call',
          id: 'call_yu1mxtmex7x48nximi9c8jpo',
          name: 'get_weather',
          input: { city: 'Paris' },
        },
      ],
      usage: usage(194, 19),
      reason: 'tool_calls',
      servedBy: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    },
    'thoughts in the other field, which most of its models have': {
      body: data([
        chunk({ reasoning: 'Hm' }),
        chunk({ reasoning: '.' }),
        chunk({ content: '4' }, 'stop', USED),
      ]),
      content: [
        thought('Hm.', { openaiCompatible: { field: 'reasoning' } }),
        { type: 'text', text: '4' },
      ],
      usage: READ,
      reason: 'stop',
      servedBy: MODEL,
    },
  },
  efforts: {
    [MODEL]: efforts('low low low medium high max max'),
    'deepseek-ai/DeepSeek-V4-Pro': efforts('high high high high high max max'),
    'openai/gpt-oss-120b': efforts('low low low medium high high high'),
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: {
        error: {
          message:
            'Invalid API key provided. You can find your API key at https://api.together.ai/settings/api-keys.',
          type: 'invalid_request_error',
          param: null,
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
          message:
            'Unable to access model bad model. Please visit https://api.together.ai/models to view the list of supported models.',
          type: 'invalid_request_error',
          param: null,
          code: 'model_not_available',
        },
      },
      kind: 'not_found',
    },
    {
      name: 'out of credit',
      status: 402,
      body: {
        id: 'o3LiXw4-62bZhn-96040daf687810ab',
        error: {
          message:
            'Credit limit exceeded. Please navigate to https://api.together.xyz/settings/billing to add credit or upgrade your plan.',
          type: 'credit_limit',
          param: null,
          code: null,
        },
      },
      kind: 'rate_limit',
    },
    ...[400, 403].map((status) => ({
      name: `a conversation that is too long, with HTTP ${status}`,
      status,
      body: {
        error: {
          message:
            "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      },
      kind: 'context_overflow' as const,
    })),
    {
      name: 'an overload',
      status: 503,
      body: {
        error: {
          message: 'The server is overloaded',
          type: 'server_error',
          param: null,
          code: null,
        },
      },
      kind: 'overloaded',
      isTransient: true,
    },
  ],
  refusals: [
    {
      name: 'a forced choice of tools with gpt-oss',
      isRefused: ({ tool_choice: choice }) => choice === 'required',
      status: 500,
      body: { error: { message: 'Internal server error', type: 'server_error' } },
      isNotSent: true,
    },
    {
      name: 'the role of the newer API of OpenAI',
      isRefused: hasField('developer'),
      status: 400,
      body: { error: { message: 'unsupported' } },
      isNotSent: true,
    },
  ],
};
