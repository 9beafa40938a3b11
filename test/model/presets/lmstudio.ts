import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns } from './chat.ts';
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

// Sources: lmstudio-ai/docs (2026-04), and answers and errors that users have published. The chunks of calls are printed
// there as objects of Python.

const MODEL = 'openai/gpt-oss-20b';
const SHAPE = {
  id: 'chatcmpl-160c39e6qb3fdo4yj0rm7',
  object: 'chat.completion.chunk',
  created: 1789957451,
  model: MODEL,
  system_fingerprint: MODEL,
};
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...SHAPE,
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
});
const USED = {
  ...SHAPE,
  choices: [],
  usage: {
    prompt_tokens: 293,
    completion_tokens: 22,
    total_tokens: 315,
    completion_tokens_details: { reasoning_tokens: 5 },
  },
};
const READ = usage(293, 22, { reasoning: 5 });
/** The ids are numbers. */
const IDS = ['814890118', '931693397'] as const;

export const wire: ProviderWire = {
  key: { variable: 'LM_API_TOKEN', prefix: 'lms-' },
  settings: {},
  model: MODEL,
  url: 'http://127.0.0.1:1234/v1/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { reasoning_effort: 'high' },
    ids: IDS,
    thoughts: { reasoning: 'Both files.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.', { openaiCompatible: { field: 'reasoning' } })],
      bodies: [
        data([
          chunk({ role: 'assistant', reasoning: 'Both' }),
          chunk({ reasoning: ' files.' }),
          ...PATHS.flatMap((path, index) => [
            chunk({ tool_calls: [callPiece(index, IDS[index] ?? '', '')] }),
            // Before version 0.3.16, later pieces had an empty name.
            chunk({ tool_calls: [{ index, function: { name: '', arguments: '{"' } }] }),
            chunk({ tool_calls: [{ index, function: { arguments: `path":"${path}"}` } }] }),
          ]),
          chunk({}, 'tool_calls'),
          USED,
        ]),
        data([
          chunk({ role: 'assistant', content: 'One constant' }),
          chunk({ content: ' each.' }),
          chunk({}, 'stop'),
          USED,
        ]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    'text without a finish reason': {
      body: String.raw`data: {"id":"chatcmpl-160c39e6qb3fdo4yj0rm7","object":"chat.completion.chunk","created":1744024035,"model":"qwen2.5-7b-instruct-1m","system_fingerprint":"qwen2.5-7b-instruct-1m","choices":[{"index":0,"delta":{"role":"assistant","content":"It"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-k9muxp9t9a9s0jpn6dej7","object":"chat.completion.chunk","created":1789957451,"model":"qwen3.5-4b","system_fingerprint":"qwen3.5-4b","choices":[{"index":0,"delta":{"content":"“"},"logprobs":null,"finish_reason":null}]}

data: [DONE]

`,
      content: [{ type: 'text', text: 'It“' }],
      usage: usage(0, 0),
      usageMissing: 'all',
      reason: 'stop',
      servedBy: 'qwen3.5-4b',
      repairs: { missing_finish_reason: 1, missing_usage: 1 },
    },
    'a document in place of a stream': {
      body: String.raw`{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"","reasoning_content":"","tool_calls":[{"type":"function","id":"931693397","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]}}],"usage":{"prompt_tokens":293,"completion_tokens":22,"total_tokens":315,"completion_tokens_details":{"reasoning_tokens":0}},"stats":{},"system_fingerprint":"qwen/qwen3-coder-30b"}`,
      content: [
        { type: 'tool_call', id: '931693397', name: 'get_weather', input: { city: 'Paris' } },
      ],
      usage: usage(293, 22),
      reason: 'tool_calls',
      repairs: { json_instead_of_stream: 1, missing_index: 1 },
    },
  },
  efforts: { [MODEL]: efforts('none minimal low medium high xhigh max') },
  errors: [
    {
      name: 'no key',
      status: 401,
      body: {
        error: {
          message:
            "An LM Studio API token is required to make requests to this server, but none was provided using the Authorization header using the 'Bearer' scheme ...",
          code: 'invalid_api_key',
        },
      },
      kind: 'auth',
    },
    {
      name: 'a wrong key',
      status: 401,
      body: {
        error: {
          type: 'invalid_request',
          code: 'invalid_api_key',
          message:
            'Malformed LM Studio API token provided: 22aac52a71... Ensure you are using a valid token.',
        },
      },
      kind: 'auth',
    },
    {
      name: 'no model',
      status: 404,
      body: {
        error: {
          message:
            "No models loaded. Please load a model in the developer page or use the 'lms load' command.",
          type: 'invalid_request_error',
          param: 'model',
          code: null,
        },
      },
      kind: 'not_found',
    },
    {
      name: 'a conversation that is too long, as a plain text',
      status: 400,
      body: {
        error:
          'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 4158>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
      },
      kind: 'context_overflow',
    },
    {
      name: 'a conversation that is too long, inside the answer',
      body: data(
        [
          {
            error: {
              message:
                'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 23678>= n_ctx: 9472). Try to load the model with a larger context length, or provide a shorter input.',
            },
          },
        ],
        { isDone: false },
      ),
      kind: 'context_overflow',
      says: 'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 23678>= n_ctx: 9472). Try to load the model with a larger context length, or provide a shorter input.',
    },
    {
      name: 'a model that cannot be loaded',
      status: 400,
      body: {
        error: {
          message:
            'Failed to load model "qwen3-coder-30b-a3b-instruct". Error: Failed to load model.',
        },
      },
      kind: 'bad_request',
    },
  ],
  refusals: [
    {
      name: 'a choice of one tool',
      isRefused: ({ tool_choice: choice }) => typeof choice === 'object',
      status: 400,
      body: {
        error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
      },
      isNotSent: true,
    },
  ],
};
