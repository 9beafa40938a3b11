import type { JsonObject } from '../../../src/base/json.ts';
import { callPiece, chatTurns, chunks, hasField } from './chat.ts';
import {
  BEARER,
  data,
  efforts,
  nested,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: recordings of anomalyco/opencode (openrouter-*.json, 2026-05), crmne/ruby_llm (2026-06, 2026-08) and
// pydantic/pydantic-ai (test_openrouter, 2025-11), and the OpenAPI description of OpenRouterTeam/typescript-sdk.

const MODEL = 'anthropic/claude-haiku-4.5';
const SHAPE = {
  id: 'gen-1786403070-P09zUfOhE2qt2A6q4btq',
  object: 'chat.completion.chunk',
  created: 1786403070,
  model: MODEL,
  provider: 'Amazon Bedrock',
};
const delta = (fields: JsonObject, reason: string | null = null, native = reason) => ({
  delta: { role: 'assistant', ...fields },
  finish_reason: reason,
  native_finish_reason: native,
});
const IDS = ['toolu_bdrk_01L9pX1Wp4FAEq9TT2Z6UAe7', 'toolu_bdrk_01QxYmC4mN2dFz5sHvQm1bRa'] as const;
const SAID = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
const SIGNATURE = 'EvsCCkgIEBABGAIqQNe0';
const COMMENT = ': OPENROUTER PROCESSING\n\n';
/** The usage comes in a last chunk that repeats the finish reason. */
const end = (reason: string, native: string) => [
  ...chunks(SHAPE, [delta({ content: '', reasoning: null }, reason, native)]),
  {
    ...SHAPE,
    choices: [{ index: 0, ...delta({ content: '' }, reason, native) }],
    usage: {
      prompt_tokens: 1200,
      completion_tokens: 60,
      total_tokens: 1260,
      cost: 0.00105,
      is_byok: false,
      prompt_tokens_details: {
        cached_tokens: 900,
        cache_write_tokens: 200,
        audio_tokens: 0,
        video_tokens: 0,
      },
      cost_details: {
        upstream_inference_cost: 0.00105,
        upstream_inference_prompt_cost: 0.00075,
        upstream_inference_completions_cost: 0.0003,
      },
      completion_tokens_details: { reasoning_tokens: 20, image_tokens: 0, audio_tokens: 0 },
    },
  },
];
const USED = usage(100, 60, { cacheRead: 900, cacheWrite: 200, reasoning: 20 });

export const wire: ProviderWire = {
  key: { variable: 'OPENROUTER_API_KEY', prefix: 'sk-or-v1-' },
  model: MODEL,
  url: 'https://openrouter.ai/api/v1/chat/completions',
  headers: { ...BEARER, 'x-openrouter-title': 'Muster', 'x-openrouter-categories': 'cli-agent' },
  turns: chatTurns({
    model: MODEL,
    fields: { reasoning: { effort: 'high' } },
    ids: IDS,
    isMarked: true,
    thoughts: {
      reasoning_details: [
        { ...SAID, text: 'The user asks for two files.', signature: SIGNATURE },
        {
          type: 'reasoning.encrypted',
          data: 'gAAAA0',
          id: 'rs_0aa4',
          format: 'openai-responses-v1',
          index: 1,
        },
      ],
    },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [
        thought('The user asks for two files.', {
          openaiCompatible: { ...SAID, signature: SIGNATURE },
        }),
        thought('', {
          openaiCompatible: {
            type: 'reasoning.encrypted',
            data: 'gAAAA0',
            id: 'rs_0aa4',
            format: 'openai-responses-v1',
            index: 1,
          },
        }),
      ],
      bodies: [
        data([
          COMMENT,
          COMMENT,
          ...chunks(SHAPE, [
            delta({
              content: '',
              reasoning: 'The user asks',
              reasoning_details: [{ ...SAID, text: 'The user asks' }],
            }),
            delta({
              content: '',
              reasoning: ' for two files.',
              reasoning_details: [{ ...SAID, text: ' for two files.' }],
            }),
            delta({ content: '', reasoning_details: [{ ...SAID, signature: SIGNATURE }] }),
            delta({
              content: '',
              reasoning: null,
              reasoning_details: [
                {
                  type: 'reasoning.encrypted',
                  data: 'gAAAA0',
                  id: 'rs_0aa4',
                  format: 'openai-responses-v1',
                  index: 1,
                },
              ],
            }),
            ...PATHS.flatMap((path, index) => [
              delta({ content: null, tool_calls: [callPiece(index, IDS[index] ?? '', '')] }),
              delta({
                content: null,
                tool_calls: [{ index, function: { arguments: `{"path": "${path}` } }],
              }),
              delta({ content: null, tool_calls: [{ index, function: { arguments: '"}' } }] }),
            ]),
          ]),
          ...end('tool_calls', 'tool_use'),
        ]),
        data([
          COMMENT,
          ...chunks(SHAPE, [delta({ content: 'One constant' }), delta({ content: ' each.' })]),
          ...end('stop', 'end_turn'),
        ]),
      ],
      usages: [USED, USED],
      servedBy: MODEL,
    }),
  }),
  recordings: {
    'text, with a comment, and the cost in the usage': {
      body: String.raw`: OPENROUTER PROCESSING

data: {"id":"gen-1778031306-UD7bR0I1JNCsPvVzlXat","object":"chat.completion.chunk","created":1778031306,"model":"openai/gpt-4o-mini","provider":"Azure","system_fingerprint":"fp_eb37e061ec","choices":[{"index":0,"delta":{"content":"Hello","role":"assistant"},"finish_reason":null,"native_finish_reason":null}]}

data: {"id":"gen-1778031306-UD7bR0I1JNCsPvVzlXat","object":"chat.completion.chunk","created":1778031306,"model":"openai/gpt-4o-mini","provider":"Azure","system_fingerprint":"fp_eb37e061ec","choices":[{"index":0,"delta":{"content":"","role":"assistant"},"finish_reason":"stop","native_finish_reason":"stop"}]}

data: {"id":"gen-1778031306-UD7bR0I1JNCsPvVzlXat","object":"chat.completion.chunk","created":1778031306,"model":"openai/gpt-4o-mini","provider":"Azure","system_fingerprint":"fp_eb37e061ec","choices":[{"index":0,"delta":{"content":"","role":"assistant"},"finish_reason":"stop","native_finish_reason":"stop"}],"usage":{"prompt_tokens":21,"completion_tokens":3,"total_tokens":24,"cost":0.00000495,"is_byok":false,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0,"audio_tokens":0,"video_tokens":0},"cost_details":{"upstream_inference_cost":0.00000495,"upstream_inference_prompt_cost":0.00000315,"upstream_inference_completions_cost":0.0000018},"completion_tokens_details":{"reasoning_tokens":0,"image_tokens":0,"audio_tokens":0}}}

data: [DONE]

`,
      content: [{ type: 'text', text: 'Hello' }],
      usage: usage(21, 3),
      reason: 'stop',
      servedBy: 'openai/gpt-4o-mini',
    },
    'a thought with its signature, and a call': {
      body: String.raw`data: {"id":"gen-1786403070-P09zUfOhE2qt2A6q4btq","object":"chat.completion.chunk","created":1786403070,"model":"anthropic/claude-haiku-4.5","provider":"Amazon Bedrock","choices":[{"index":0,"delta":{"content":"","role":"assistant","reasoning":"The user is asking for the weather in","reasoning_details":[{"type":"reasoning.text","text":"The user is asking for the weather in","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null}]}

data: {"id":"gen-1786403070-P09zUfOhE2qt2A6q4btq","object":"chat.completion.chunk","created":1786403070,"model":"anthropic/claude-haiku-4.5","provider":"Amazon Bedrock","choices":[{"index":0,"delta":{"content":"","role":"assistant","reasoning_details":[{"type":"reasoning.text","signature":"EvsCCkgIEBABGAIqQNe…","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null}]}

data: {"id":"gen-1786403070-P09zUfOhE2qt2A6q4btq","object":"chat.completion.chunk","created":1786403070,"model":"anthropic/claude-haiku-4.5","provider":"Amazon Bedrock","choices":[{"index":0,"delta":{"content":null,"role":"assistant","tool_calls":[{"index":0,"id":"toolu_bdrk_01L9pX1Wp4FAEq9TT2Z6UAe7","type":"function","function":{"name":"reasoning_weather","arguments":""}}]},"finish_reason":null,"native_finish_reason":null}]}

data: {"id":"gen-1786403070-P09zUfOhE2qt2A6q4btq","object":"chat.completion.chunk","created":1786403070,"model":"anthropic/claude-haiku-4.5","provider":"Amazon Bedrock","choices":[{"index":0,"delta":{"content":null,"role":"assistant","tool_calls":[{"index":0,"function":{"arguments":"{\"city\": \"Berlin"}}]},"finish_reason":null,"native_finish_reason":null}]}

data: {"id":"gen-1786403070-P09zUfOhE2qt2A6q4btq","object":"chat.completion.chunk","created":1786403070,"model":"anthropic/claude-haiku-4.5","provider":"Amazon Bedrock","choices":[{"index":0,"delta":{"content":null,"role":"assistant","tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]},"finish_reason":null,"native_finish_reason":null}]}

data: {"id":"gen-1786403070-P09zUfOhE2qt2A6q4btq","object":"chat.completion.chunk","created":1786403070,"model":"anthropic/claude-haiku-4.5","provider":"Amazon Bedrock","choices":[{"index":0,"delta":{"content":"","role":"assistant","reasoning":null},"finish_reason":"tool_calls","native_finish_reason":"tool_use"}]}

`,
      content: [
        thought('The user is asking for the weather in', {
          openaiCompatible: {
            type: 'reasoning.text',
            format: 'anthropic-claude-v1',
            index: 0,
            signature: 'EvsCCkgIEBABGAIqQNe…',
          },
        }),
        {
          type: 'tool_call',
          id: 'toolu_bdrk_01L9pX1Wp4FAEq9TT2Z6UAe7',
          name: 'reasoning_weather',
          input: { city: 'Berlin' },
        },
      ],
      usage: usage(0, 0),
      usageMissing: 'all',
      repairs: { missing_usage: 1 },
      reason: 'tool_calls',
      servedBy: 'anthropic/claude-haiku-4.5',
    },
  },
  efforts: { [MODEL]: efforts('none minimal low medium high xhigh max', nested) },
  errors: [
    {
      name: 'no key',
      status: 401,
      body: { error: { message: 'Missing Authentication header', code: 401 } },
      kind: 'auth',
    },
    {
      name: 'a wrong key',
      status: 401,
      body: { error: { message: 'User not found.', code: 401 } },
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 400,
      body: {
        error: { message: 'openai/gpt-oss-90b is not a valid model ID', code: 400 },
        user_id: 'user_30mJ0GpP57Kj9wLQ4mDCfMS5nk0',
      },
      kind: 'not_found',
    },
    {
      name: 'no server for tools',
      status: 404,
      body: {
        error: {
          message:
            'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection',
          code: 404,
        },
      },
      kind: 'not_found',
    },
    {
      name: 'out of credit',
      status: 402,
      body: {
        error: {
          message:
            'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 27342. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account',
          code: 402,
          metadata: { provider_name: null },
        },
        user_id: 'user_3D0IVsejFIV6kOYwkxFE9nKiq0g',
      },
      kind: 'rate_limit',
    },
    {
      name: 'a limit of the account that is lifted later',
      status: 402,
      headers: { 'retry-after': '30' },
      body: { error: { message: 'Spend limit for this minute', code: 402 } },
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 30_000,
    },
    {
      name: 'the limit of a key',
      status: 403,
      body: { error: { message: 'Key limit exceeded (total limit)', code: 403 } },
      kind: 'rate_limit',
    },
    {
      name: 'a rate limit of the server behind it',
      status: 429,
      body: {
        error: {
          code: 429,
          message: 'Provider returned error',
          metadata: {
            provider_name: 'Google',
            raw: 'google/gemini-2.0-flash-exp:free is temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits: https://openrouter.ai/settings/integrations',
          },
        },
        user_id: 'user_2wT5ElBE4Es3R4QrNLpZiXICmQP',
      },
      kind: 'rate_limit',
      isTransient: true,
      says: 'Provider returned error: google/gemini-2.0-flash-exp:free is temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits: https://openrouter.ai/settings/integrations',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        error: {
          message:
            "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens (2500021 of text input). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
          code: 400,
          metadata: { provider_name: null, previous_errors: [] },
        },
        user_id: 'user_x',
      },
      kind: 'context_overflow',
    },
    {
      name: 'an error inside the answer, with its usage',
      body: data([
        COMMENT,
        {
          id: 'gen-1762179802-UN8pkJI4AGZvryk0kFnb',
          provider: 'Minimax',
          error: { code: 400, message: 'Token limit reached' },
          model: 'minimax/minimax-m2:free',
          object: 'chat.completion.chunk',
          created: 1762179802,
          choices: [
            {
              index: 0,
              delta: { role: 'assistant', content: '' },
              finish_reason: null,
              native_finish_reason: null,
              logprobs: null,
            },
          ],
          usage: {
            prompt_tokens: 43,
            completion_tokens: 10,
            total_tokens: 53,
            cost: 0,
            is_byok: false,
          },
        },
      ]),
      kind: 'bad_request',
      statusInside: 400,
      says: 'Token limit reached',
      usage: usage(43, 10),
    },
    {
      name: 'a server behind it that fails inside the answer',
      body: data([
        COMMENT,
        ...chunks(SHAPE, [delta({ content: 'One' })]),
        {
          ...SHAPE,
          error: { code: 502, message: 'Provider disconnected' },
          choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
        },
      ]),
      kind: 'server',
      isTransient: true,
      statusInside: 502,
      says: 'Provider disconnected',
    },
  ],
  refusals: [
    {
      name: 'a choice of tools on a route without it',
      isRefused: hasField('tool_choice'),
      status: 400,
      body: {
        error: {
          message: "No endpoints found that support the provided 'tool_choice' value",
          code: 400,
        },
      },
      isOnlyOnSomeModels: true,
    },
  ],
};
