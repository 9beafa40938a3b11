import type { JsonObject } from '../../../src/base/json.ts';
import { chatTurns, hasMessageField } from './chat.ts';
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

// Sources: docs/features (tool_calling.md, reasoning_outputs.md) and entrypoints/chat_utils.py of vllm-project/vllm,
// chunks and errors that users have published (v0.15 to v0.28).

const MODEL = 'Qwen/Qwen3.8-27B';
const SHAPE = {
  id: 'chatcmpl-ac0e1a6028c01fc8',
  object: 'chat.completion.chunk',
  created: 1782310028,
  model: MODEL,
};
/** Some versions send an empty list of calls in every delta. */
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...SHAPE,
  choices: [
    {
      index: 0,
      delta: { tool_calls: [], ...delta },
      logprobs: null,
      finish_reason,
      token_ids: null,
    },
  ],
});
const USED = {
  ...SHAPE,
  choices: [],
  usage: {
    prompt_tokens: 300,
    total_tokens: 330,
    completion_tokens: 30,
    prompt_tokens_details: null,
  },
};
const IDS = [
  'chatcmpl-tool-ca99dda515524c6abe47d1ea22813507',
  'chatcmpl-tool-0f4e2b7a91d84c53a6f0b8d2e17c9a45',
] as const;
/** Ids of more than 40 characters, which OpenAI's own API refuses, are replaced by ids that are derived from them. */
const SENT_IDS = ['53db1f8cb776dc3cf550f6c2', '1e9fb9d6b4af731d18c98996'] as const;
const error = (message: string, type: string, code: number, param: string | null = null) => ({
  error: { message, type, param, code },
});

export const wire: ProviderWire = {
  key: { variable: 'VLLM_API_KEY', prefix: 'vllm-' },
  settings: {},
  model: MODEL,
  url: 'http://127.0.0.1:8000/v1/chat/completions',
  headers: BEARER,
  turns: chatTurns({
    model: MODEL,
    fields: { reasoning_effort: 'high' },
    ids: SENT_IDS,
    thoughts: { reasoning: 'Both files.' },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.', { openaiCompatible: { field: 'reasoning' } })],
      bodies: [
        data([
          {
            ...chunk({ role: 'assistant', content: '' }),
            prompt_token_ids: null,
            prompt_text: null,
          },
          chunk({ role: 'assistant', reasoning: 'Both' }),
          chunk({ reasoning: ' files.' }),
          ...PATHS.flatMap((path, index) => [
            // The first piece has a name and no arguments.
            chunk({
              tool_calls: [
                { id: IDS[index] ?? '', type: 'function', index, function: { name: 'Read' } },
              ],
            }),
            chunk({ tool_calls: [{ index, function: { arguments: '{"path": "' } }] }),
            chunk({ tool_calls: [{ index, function: { arguments: `${path}"}` } }] }),
          ]),
          chunk({}, 'tool_calls'),
          USED,
        ]),
        data([
          chunk({ role: 'assistant', content: '' }),
          chunk({ content: 'One constant' }),
          chunk({ content: ' each.' }),
          chunk({ content: '' }, 'stop'),
          USED,
        ]),
      ],
      usages: [usage(300, 30), usage(300, 30)],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    'text with an empty list of calls': {
      body: String.raw`data: {"id":"chatcmpl-ac0e1a6028c01fc8","object":"chat.completion.chunk","created":1782310028,"model":"glm-5.2","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}

data: {"id":"chatcmpl-ac0e1a6028c01fc8","object":"chat.completion.chunk","created":1782310028,"model":"glm-5.2","choices":[{"index":0,"delta":{"content":"你好","tool_calls":[]},"logprobs":null,"finish_reason":null,"token_ids":null}]}

`,
      content: [{ type: 'text', text: '你好' }],
      usage: usage(0, 0),
      usageMissing: 'all',
      reason: 'stop',
      servedBy: 'glm-5.2',
      repairs: { missing_finish_reason: 1, missing_usage: 1 },
    },
  },
  efforts: { [MODEL]: efforts('none minimal low medium high xhigh max') },
  errors: [
    { name: 'a wrong key', status: 401, body: { error: 'Unauthorized' }, kind: 'auth' },
    {
      name: 'an unknown model',
      status: 404,
      body: error('The model `not-a-served-model` does not exist.', 'NotFoundError', 404, 'model'),
      kind: 'not_found',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error(
        "This model's maximum context length is 40960 tokens. However, you requested 0 output tokens and your prompt contains at least 40961 input tokens, for a total of at least 40961 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=40961)",
        'BadRequestError',
        400,
        'input_tokens',
      ),
      kind: 'context_overflow',
    },
    {
      name: 'a conversation that leaves no room for the answer',
      status: 400,
      body: error(
        "You passed 27905 input tokens and requested 4096 output tokens. However, the model's context length is only 32000 tokens, resulting in a maximum input length of 27904 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=27905)",
        'BadRequestError',
        400,
        'input_tokens',
      ),
      kind: 'context_overflow',
    },
    {
      name: 'a conversation that is too long, in an older version',
      status: 400,
      body: {
        object: 'error',
        message: 'max_tokens must be at least 1, got -186.',
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
      kind: 'context_overflow',
    },
    {
      name: 'a server without a parser for calls',
      status: 400,
      body: error(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        'BadRequestError',
        400,
      ),
      kind: 'bad_request',
    },
  ],
  refusals: [
    {
      name: 'a limit that does not fit beside the input',
      isRefused: ({ max_tokens: limit }) => Number(limit) > 12_000,
      status: 400,
      body: error(
        "This model's maximum context length is 32000 tokens. However, you requested 20000 output tokens and your prompt contains at least 12001 input tokens, for a total of at least 32001 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=12001)",
        'BadRequestError',
        400,
        'input_tokens',
      ),
      by: { maxOutputTokens: 20_000 },
    },
    {
      name: 'thoughts in the field of other vendors, which it drops',
      isRefused: hasMessageField('reasoning_content'),
      status: 400,
      body: error('dropped', 'BadRequestError', 400),
      isNotSent: true,
    },
  ],
};
