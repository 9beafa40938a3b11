import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns } from './chat.ts';
import { data, efforts, PATHS, thought, turnAnswers, usage, type ProviderWire } from './wire.ts';

// Sources: tools/server/README.md and docs/function-calling.md of ggml-org/llama.cpp (autumn 2026), and chunks and errors
// that users have published.

const MODEL = 'Qwen3.5-9B-Q4_K_M.gguf';
const SHAPE = {
  created: 1785448476,
  id: 'chatcmpl-I4WgrztxOTEX0xEmPSlDiBPzNt7AelGx',
  model: MODEL,
  system_fingerprint: 'b9199-39cf5d619',
  object: 'chat.completion.chunk',
};
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  choices: [{ finish_reason, index: 0, delta }],
  ...SHAPE,
});
const USED = {
  choices: [],
  ...SHAPE,
  usage: {
    completion_tokens: 65,
    prompt_tokens: 808,
    total_tokens: 873,
    prompt_tokens_details: { cached_tokens: 804 },
  },
  timings: { cache_n: 804, prompt_n: 4, prompt_ms: 128.301 },
};
const READ = usage(4, 65, { cacheRead: 804 });
/** The ids have 32 letters and digits, and no prefix. */
const IDS = ['MXwBDrauDogFz0tKPbvYoNN7HWXYmtSt', 'q3JdVtYp8LrXz1Nc5BhKmWs7GfTe0UaO'] as const;
const error = (code: number, message: string, type: string, more: JsonObject = {}) => ({
  error: { code, message, type, ...more },
});

const callChunks = (path: string, index: number) => [
  chunk({ tool_calls: [callPiece(index, IDS[index] ?? '', '{')] }),
  ...['"path":"', path, '"}'].map((piece) =>
    chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
  ),
];

export const wire: ProviderWire = {
  settings: {},
  model: MODEL,
  url: 'http://127.0.0.1:8080/v1/chat/completions',
  headers: {},
  turns: chatTurns({
    model: MODEL,
    fields: { reasoning_effort: 'high', parallel_tool_calls: true },
    ids: IDS,
    thoughts: { reasoning_content: 'Both files.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.')],
      bodies: [
        data([
          chunk({ role: 'assistant', content: null }),
          ':\n\n',
          chunk({ reasoning_content: 'Both' }),
          chunk({ reasoning_content: ' files.' }),
          ...PATHS.flatMap(callChunks),
          chunk({}, 'tool_calls'),
          USED,
        ]),
        data([
          chunk({ role: 'assistant', content: null }),
          chunk({ content: 'One constant' }),
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
    'text and the usage with timings': {
      body: String.raw`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1778040349,"id":"chatcmpl-yQMMAFzny5PM9OKAjg4lXbnwLSL5O2f1","model":"gemma-4-E2B-it-Q4_K_M.gguf","system_fingerprint":"b9020-a4701c98f","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"One"}}],"created":1787418132,"id":"chatcmpl-xnR9","model":"/Users/someone/Paper/models/x.gguf","system_fingerprint":"b10375","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":"tool_calls","index":0,"delta":{}}],"created":1779349198,"id":"chatcmpl-nFCxRKKHfmmnVXEHbeKtPcEqHXBZvQCr","model":"Qwen3.5-9B-Q4_K_M.gguf","system_fingerprint":"b9251-e2b129e1b","object":"chat.completion.chunk"}

data: {"choices":[],"created":1779349198,"id":"chatcmpl-nFCxRKKHfmmnVXEHbeKtPcEqHXBZvQCr","model":"Qwen3.5-9B-Q4_K_M.gguf","system_fingerprint":"b9251-e2b129e1b","object":"chat.completion.chunk","usage":{"completion_tokens":665,"prompt_tokens":808,"total_tokens":1473,"prompt_tokens_details":{"cached_tokens":804}},"timings":{"cache_n":804,"prompt_n":4,"prompt_ms":128.301}}

data: [DONE]

`,
      content: [{ type: 'text', text: 'One' }],
      usage: usage(4, 665, { cacheRead: 804 }),
      // The chunks are from several answers.
      reason: 'tool_calls',
      servedBy: 'Qwen3.5-9B-Q4_K_M.gguf',
    },
  },
  efforts: { [MODEL]: efforts('none minimal low medium high xhigh max') },
  errors: [
    {
      name: 'a missing key',
      status: 401,
      body: error(401, 'Invalid API Key', 'authentication_error'),
      kind: 'auth',
    },
    {
      name: 'a model that is still being loaded',
      status: 503,
      body: error(503, 'Loading model', 'unavailable_error'),
      kind: 'overloaded',
      isTransient: true,
    },
    {
      name: 'an unknown model in the router mode',
      status: 400,
      body: error(400, 'model not found', 'invalid_request_error'),
      kind: 'not_found',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error(
        400,
        'request (20010 tokens) exceeds the available context size (2048 tokens), try increasing it',
        'exceed_context_size_error',
        { n_prompt_tokens: 20_010, n_ctx: 2048 },
      ),
      kind: 'context_overflow',
    },
    {
      name: 'an answer that its parser does not understand',
      status: 500,
      body: error(
        500,
        'The model produced output that does not match the expected peg-native format',
        'server_error',
      ),
      kind: 'server',
      isTransient: true,
    },
    {
      name: 'a schema that its grammar does not know',
      status: 400,
      body: error(400, 'Failed to parse grammar', 'invalid_request_error'),
      kind: 'bad_request',
    },
    {
      name: 'an error as a line of its own',
      body: `${data([chunk({ content: 'One' })], { isDone: false })}error: ${JSON.stringify(
        error(500, 'context size has been exceeded', 'server_error').error,
      )}\n\n`,
      kind: 'context_overflow',
      statusInside: 500,
      says: 'context size has been exceeded',
    },
  ],
  refusals: [
    {
      name: 'no name of a model in the router mode',
      isRefused: ({ model }) => model === undefined || model === '',
      status: 400,
      body: error(400, 'model name is missing from the request', 'invalid_request_error'),
      isNotSent: true,
    },
  ],
};
