import { responsesTurns } from './responses.ts';
import {
  BEARER,
  efforts,
  namedEvents,
  nested,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://platform.openai.com/docs/api-reference/responses-streaming, …/guides/error-codes,
// …/guides/rate-limits

const MODEL = 'gpt-6-sol';
const IDS = ['call_a1B2c3D4e5F6g7H8i9J0k1L2', 'call_m3N4o5P6q7R8s9T0u1V2w3X4'] as const;
const RS = 'rs_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b';
const ENCRYPTED = 'gAAAAABo';
const USED = {
  input_tokens: 1300,
  input_tokens_details: { cached_tokens: 1024 },
  output_tokens: 60,
  output_tokens_details: { reasoning_tokens: 40 },
  total_tokens: 1360,
};
const READ = usage(276, 60, { cacheRead: 1024, reasoning: 40 });
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1790000000,
  model: `${MODEL}-2026-09-01`,
  output: [],
};
const created = {
  type: 'response.created',
  sequence_number: 0,
  response: { ...response, status: 'in_progress' },
};
const completed = {
  type: 'response.completed',
  sequence_number: 30,
  response: { ...response, status: 'completed', usage: USED },
};
const message = { id: 'msg_1', type: 'message', role: 'assistant' };
const error = (text: string, type: string, code: string | null, param: string | null = null) => ({
  error: { message: text, type, param, code },
});

export const wire: ProviderWire = {
  key: { variable: 'OPENAI_API_KEY', prefix: 'sk-proj-' },
  model: MODEL,
  url: 'https://api.openai.com/v1/responses',
  headers: BEARER,
  turns: responsesTurns({
    model: MODEL,
    systemRole: 'developer',
    fields: { include: ['reasoning.encrypted_content'], reasoning: { effort: 'high' } },
    ids: IDS,
    thought: { type: 'reasoning', id: RS, encrypted_content: ENCRYPTED, summary: [] },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('', { openai: { itemId: RS, reasoningEncryptedContent: ENCRYPTED } })],
      callMeta: [{ openai: { itemId: 'fc_0' } }, { openai: { itemId: 'fc_1' } }],
      bodies: [
        namedEvents([
          created,
          {
            type: 'response.in_progress',
            sequence_number: 1,
            response: { ...response, status: 'in_progress' },
          },
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: { id: RS, type: 'reasoning', encrypted_content: 'gAAAA', summary: [] },
          },
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: { id: RS, type: 'reasoning', encrypted_content: ENCRYPTED, summary: [] },
          },
          ...PATHS.flatMap((path, index) => {
            const item = {
              id: `fc_${index}`,
              type: 'function_call',
              call_id: IDS[index] ?? '',
              name: 'Read',
            };
            const args = JSON.stringify({ path });
            const place = { item_id: item.id, output_index: index + 1 };
            return [
              {
                type: 'response.output_item.added',
                output_index: index + 1,
                item: { ...item, status: 'in_progress', arguments: '' },
              },
              {
                type: 'response.function_call_arguments.delta',
                ...place,
                delta: args.slice(0, 4),
                obfuscation: 'oNvvy8',
              },
              { type: 'response.function_call_arguments.delta', ...place, delta: args.slice(4) },
              { type: 'response.function_call_arguments.done', ...place, arguments: args },
              {
                type: 'response.output_item.done',
                output_index: index + 1,
                item: { ...item, status: 'completed', arguments: args },
              },
            ];
          }),
          completed,
        ]),
        namedEvents([
          created,
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: { ...message, status: 'in_progress', content: [] },
          },
          {
            type: 'response.content_part.added',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          {
            type: 'response.output_text.delta',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            delta: 'One constant each.',
            logprobs: [],
          },
          {
            type: 'response.output_text.done',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            text: 'One constant each.',
          },
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: {
              ...message,
              status: 'completed',
              content: [{ type: 'output_text', text: 'One constant each.', annotations: [] }],
            },
          },
          completed,
        ]),
      ],
      usages: [READ, READ],
      servedBy: `${MODEL}-2026-09-01`,
      textMeta: { openai: { itemId: 'msg_1' } },
    }),
  }),
  recordings: {},
  efforts: { [MODEL]: efforts('none low low medium high xhigh max', nested) },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: error(
        'Incorrect API key provided: sk-proj-********3456. You can find your API key at https://platform.openai.com/account/api-keys.',
        'invalid_request_error',
        'invalid_api_key',
      ),
      says: 'Incorrect API key provided: [key]. You can find your API key at https://platform.openai.com/account/api-keys.',
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 400,
      body: error(
        "The requested model 'gpt-nope' does not exist.",
        'invalid_request_error',
        'model_not_found',
        'model',
      ),
      kind: 'not_found',
    },
    {
      name: 'a rate limit, with its headers',
      status: 429,
      headers: {
        'retry-after-ms': '1500',
        'retry-after': '2',
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1s',
      },
      body: error(
        'Rate limit reached for gpt-6-sol in organization org-x on requests per min (RPM): Limit 60, Used 60, Requested 1. Please try again in 1s.',
        'requests',
        'rate_limit_exceeded',
      ),
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 1500,
    },
    {
      name: 'out of credit',
      status: 429,
      body: error(
        'You exceeded your current quota, please check your plan and billing details.',
        'insufficient_quota',
        'insufficient_quota',
      ),
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error(
        'Your input exceeds the context window of this model. Please adjust your input and try again.',
        'invalid_request_error',
        'context_length_exceeded',
        'input',
      ),
      kind: 'context_overflow',
    },
    {
      name: 'a server that fails inside the answer',
      body: namedEvents([
        created,
        {
          type: 'response.failed',
          response: {
            ...response,
            status: 'failed',
            error: {
              code: 'server_error',
              message: 'The server had an error while processing your request.',
            },
          },
        },
      ]),
      kind: 'server',
      isTransient: true,
      statusInside: 500,
      says: 'The server had an error while processing your request.',
    },
    {
      name: 'a rate limit inside the answer',
      body: namedEvents([
        created,
        {
          type: 'error',
          error: {
            type: 'tokens',
            code: 'rate_limit_exceeded',
            message: 'Please try again in 1.5s.',
          },
        },
      ]),
      kind: 'rate_limit',
      isTransient: true,
      statusInside: 429,
      retryAfterMs: 1500,
      says: 'Please try again in 1.5s.',
    },
  ],
  refusals: [
    {
      name: 'thoughts without their encrypted content',
      isRefused: ({ input }) =>
        Array.isArray(input) &&
        input.some((item) => {
          const { type, encrypted_content: encrypted } = item as Record<string, unknown>;
          return type === 'reasoning' && encrypted === undefined;
        }),
      status: 404,
      body: error(
        `Item with id '${RS}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        'invalid_request_error',
        null,
        'input',
      ),
      isNotSent: true,
    },
  ],
};
