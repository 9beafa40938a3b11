import type { JsonObject } from '../../../src/base/json.ts';
import { chatTurns, hasMessageField } from './chat.ts';
import { data, efforts, thought, turnAnswers, usage, type ProviderWire } from './wire.ts';

// Sources: the code of ollama/ollama (openai/openai.go, middleware/openai.go, server/routes.go, 2026-08), and chunks that
// users have published.

const MODEL = 'qwen3.5:27b';
const SHAPE = {
  id: 'chatcmpl-304',
  object: 'chat.completion.chunk',
  created: 1744521962,
  model: MODEL,
  system_fingerprint: 'fp_ollama',
};
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...SHAPE,
  choices: [{ index: 0, delta, finish_reason }],
});
/** The usage has only the three counts. */
const USED = {
  ...SHAPE,
  choices: [],
  usage: { prompt_tokens: 300, completion_tokens: 20, total_tokens: 320 },
};
const IDS = ['call_lbcjwr0u', 'call_x81kd02m'] as const;
/** A call comes whole in one chunk. */
const call = (index: number, path: string) => ({
  id: IDS[index] ?? '',
  index,
  type: 'function',
  function: { name: 'Read', arguments: JSON.stringify({ path }) },
});
const error = (message: string, type: string) => ({
  error: { message, type, param: null, code: null },
});

export const wire: ProviderWire = {
  env: { OLLAMA_HOST: '127.0.0.1' },
  model: MODEL,
  url: 'http://127.0.0.1:11434/v1/chat/completions',
  headers: {},
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
          chunk({ role: 'assistant', content: '', reasoning: 'Both' }),
          chunk({ content: '', reasoning: ' files.' }),
          chunk({ content: '', tool_calls: [call(0, 'a.ts')] }),
          chunk({ content: '', tool_calls: [call(1, 'b.ts')] }),
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
      usages: [usage(300, 20), usage(300, 20)],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    text: {
      body: String.raw`data: {"id":"chatcmpl-936","object":"chat.completion.chunk","created":1739872009,"model":"qwen2.5-coder:32b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"H"},"finish_reason":null}]}

data: {"id":"chatcmpl-936","object":"chat.completion.chunk","created":1739872009,"model":"qwen2.5-coder:32b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"content":"ig"},"finish_reason":null}]}

data: {"id":"chatcmpl-936","object":"chat.completion.chunk","created":1739872009,"model":"qwen2.5-coder:32b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"chatcmpl-936","object":"chat.completion.chunk","created":1739872009,"model":"qwen2.5-coder:32b","system_fingerprint":"fp_ollama","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}

data: [DONE]

`,
      content: [{ type: 'text', text: 'Hig' }],
      usage: usage(3, 2),
      reason: 'stop',
      servedBy: 'qwen2.5-coder:32b',
    },
    'a whole call': {
      body: String.raw`data: {"id":"chatcmpl-304","object":"chat.completion.chunk","created":1744521962,"model":"qwen2.5-coder:7b-instruct-q8_0","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_lbcjwr0u","index":0,"type":"function","function":{"name":"run_command","arguments":"{\"command\":\"ls -a\"}"}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-304","object":"chat.completion.chunk","created":1744521962,"model":"qwen2.5-coder:7b-instruct-q8_0","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

`,
      content: [
        {
          type: 'tool_call',
          id: 'call_lbcjwr0u',
          name: 'run_command',
          input: { command: 'ls -a' },
        },
      ],
      usage: usage(0, 0),
      usageMissing: 'all',
      reason: 'tool_calls',
      servedBy: 'qwen2.5-coder:7b-instruct-q8_0',
      repairs: { missing_usage: 1 },
    },
  },
  efforts: { [MODEL]: efforts('none minimal low medium high xhigh max') },
  errors: [
    {
      name: 'an unknown model',
      status: 404,
      body: error("model 'nope' not found", 'not_found_error'),
      kind: 'not_found',
    },
    {
      name: 'a model without tools',
      status: 400,
      body: error('registry.ollama.ai/library/phi3:latest does not support tools', 'api_error'),
      kind: 'bad_request',
    },
    {
      name: 'a busy server',
      status: 503,
      body: error('server busy, please try again.  maximum pending requests exceeded', 'api_error'),
      says: 'server busy, please try again. maximum pending requests exceeded',
      kind: 'overloaded',
      isTransient: true,
    },
    {
      name: 'a cloud model without a sign-in',
      status: 401,
      body: { error: 'unauthorized', signin_url: 'https://ollama.com/connect' },
      kind: 'auth',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        error: {
          message:
            'request (16301 tokens) exceeds the available context size (4096 tokens), try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 16_301,
          n_ctx: 4096,
        },
      },
      kind: 'context_overflow',
    },
    {
      name: 'an error inside the answer, which its compatible API swallows',
      body: data([chunk({ role: 'assistant', content: '', reasoning: 'Both' })], { isDone: false }),
      kind: 'connect',
      isTransient: true,
      says: 'the answer broke off before its end',
    },
  ],
  refusals: [
    {
      name: 'an effort for a model that does not think',
      isRefused: ({ reasoning_effort: effort }) => effort !== undefined && effort !== 'none',
      status: 400,
      body: error('"llama3.2" does not support thinking', 'invalid_request_error'),
      isOnlyOnSomeModels: true,
    },
    {
      name: 'no content without calls',
      isRefused: ({ messages }) =>
        Array.isArray(messages) &&
        messages.some((message) => {
          const { content, tool_calls: calls } = message as JsonObject;
          return content === null && calls === undefined;
        }),
      status: 400,
      body: error('invalid message content type: <nil>', 'invalid_request_error'),
      isNotSent: true,
    },
    {
      name: 'thoughts in the field of other vendors, which it drops',
      isRefused: hasMessageField('reasoning_content'),
      status: 400,
      body: error('dropped', 'invalid_request_error'),
      isNotSent: true,
    },
  ],
};
