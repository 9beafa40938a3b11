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

// Sources: docs/my-website/docs of BerriAI/litellm (reasoning_content.md, proxy), https://docs.litellm.ai/docs/proxy
// (2026-10), and errors that users have published or measured.

const MODEL = 'claude-sonnet';
const SHAPE = {
  id: 'chatcmpl-3f0d',
  object: 'chat.completion.chunk',
  created: 1790000000,
  model: MODEL,
};
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...SHAPE,
  choices: [{ index: 0, delta, finish_reason }],
  usage: null,
});
const USED = {
  ...SHAPE,
  choices: [],
  usage: {
    prompt_tokens: 400,
    completion_tokens: 30,
    total_tokens: 430,
    prompt_tokens_details: { cached_tokens: 300 },
    completion_tokens_details: { reasoning_tokens: 12 },
  },
};
const READ = usage(100, 30, { cacheRead: 300, reasoning: 12 });
const IDS = ['tooluse_QV9r0aGzSaOsx4GbSvSxnA', 'tooluse_Zr8kXw2LTmKpdQ1vBnYcEg'] as const;
/** The status is a text. */
const error = (
  message: string,
  code: string,
  type: string | null = null,
  param: string | null = null,
) => ({
  error: { message, type, param, code },
});

export const wire: ProviderWire = {
  key: { variable: 'LITELLM_PROXY_API_KEY', prefix: 'sk-' },
  env: { LITELLM_PROXY_API_BASE: 'http://127.0.0.1:4000' },
  model: MODEL,
  url: 'http://127.0.0.1:4000/v1/chat/completions',
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
          chunk({
            role: 'assistant',
            content: '',
            reasoning_content: 'Both',
            thinking_blocks: [{ type: 'thinking', thinking: 'Both' }],
          }),
          chunk({
            reasoning_content: ' files.',
            thinking_blocks: [{ type: 'thinking', thinking: ' files.' }],
          }),
          ...PATHS.flatMap((path, at) => {
            // The first call need not have the index 0.
            const index = at + 2;
            return [
              chunk({ tool_calls: [callPiece(index, IDS[at] ?? '', '')] }),
              chunk({ tool_calls: [{ index, function: { arguments: `{"path":"${path}"}` } }] }),
            ];
          }),
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
  recordings: {},
  efforts: { [MODEL]: efforts('none minimal low medium high xhigh max') },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: error(
        'Authentication Error, Invalid proxy server token passed. Received API Key = sk-...qrtQ, Key Hash (Token) =bfc5. Unable to find token in cache or `LiteLLM_VerificationTokenTable`',
        '401',
        'token_not_found_in_db',
        'key',
      ),
      // A part of the key is replaced, too.
      says: 'Authentication Error, Invalid proxy server token passed. Received API Key = [key], Key Hash (Token) =bfc5. Unable to find token in cache or `LiteLLM_VerificationTokenTable`',
      kind: 'auth',
    },
    {
      name: 'a key of another form, with HTTP 400',
      status: 400,
      body: error(
        "Authentication Error, LiteLLM Virtual Key expected. Received=your_api_key_here, expected to start with 'sk-'.",
        '400',
        'auth_error',
      ),
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 400,
      body: {
        error:
          '/chat/completions: Invalid model name passed in model=gpt-4o. Call `/v1/models` to view available models for your key.',
      },
      kind: 'not_found',
    },
    {
      name: 'a limit of the key',
      status: 429,
      headers: { 'retry-after': '60', 'x-litellm-key-rpm-limit': '10' },
      body: { detail: 'Rate limit exceeded for team: t. Limit type: requests.' },
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 60_000,
    },
    {
      name: 'a spent budget, with HTTP 400',
      status: 400,
      body: error(
        'Budget has been exceeded! Current cost: 10.0, Max budget: 5.0',
        '400',
        'budget_exceeded',
      ),
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long for the server behind it',
      status: 400,
      body: error(
        'litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: Vertex_ai_betaException - b\'{\n  "error": {\n    "code": 400,\n    "message": "The input token count exceeds the maximum number of tokens allowed 1048576.",\n    "status": "INVALID_ARGUMENT"\n  }\n}\n\'',
        '400',
      ),
      says: `litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: Vertex_ai_betaException - b'{ "error": { "code": 400, "message": "The input token count exceeds the maximum number of tokens allowed 1048576.", "status": "INVALID_ARGUMENT" } } '`,
      kind: 'context_overflow',
    },
    {
      name: 'a fault of the server behind it',
      status: 503,
      body: error('litellm.ServiceUnavailableError: AnthropicException - Overloaded', '503'),
      kind: 'overloaded',
      isTransient: true,
    },
    {
      name: 'spent credit of the server behind it, inside the answer',
      body: data(
        [
          error(
            'litellm.APIConnectionError: APIConnectionError: OpenAIException - You exceeded your current quota, please check your plan and billing details.',
            '500',
          ),
        ],
        { isDone: false },
      ),
      kind: 'rate_limit',
      statusInside: 500,
      says: 'litellm.APIConnectionError: APIConnectionError: OpenAIException - You exceeded your current quota, please check your plan and billing details.',
    },
  ],
  refusals: [
    {
      name: 'an effort that the server behind it does not know',
      isRefused: hasField('reasoning_effort'),
      status: 400,
      body: error(
        "litellm.UnsupportedParamsError: hosted_vllm does not support parameters: ['reasoning_effort'], for model=gpt-oss-120b. To drop these, set litellm.drop_params=True or for proxy: … send allowed_openai_params=['reasoning_effort'] in your request.",
        '400',
      ),
      isOnlyOnSomeModels: true,
    },
    {
      name: 'calls in the history without tools',
      isRefused: ({ tools, messages }) =>
        tools === undefined && JSON.stringify(messages).includes('"tool_calls"'),
      status: 400,
      body: error(
        "litellm.UnsupportedParamsError: Anthropic doesn't support tool calling without `tools=` param specified.",
        '400',
      ),
      isNotSent: true,
    },
  ],
};
