import { responsesTurns } from './responses.ts';
import {
  BEARER,
  data,
  efforts,
  namedEvents,
  nested,
  NO_EFFORTS,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://docs.x.ai (guides/reasoning, troubleshooting-reasoning, grok-4-7), recordings of crmne/ruby_llm
// (grok-4.3, 2026-08), anomalyco/opencode and vercel/ai, and errors that users have published.

const MODEL = 'grok-4.6';
const IDS = [
  'call-5386e269-cd64-432e-aa64-5c80dd4e0286-0',
  'call-5386e269-cd64-432e-aa64-5c80dd4e0286-1',
] as const;
const RESPONSE = '1c1cae28-e3a2-9687-8eb0-6f07b789a60e';
const ENCRYPTED = 'V0dVkyZID50';
const ITEM = {
  id: `rs_${RESPONSE}`,
  type: 'reasoning',
  summary: [{ text: 'Both files.\n', type: 'summary_text' }],
};
const USED = {
  input_tokens: 199,
  input_tokens_details: { cached_tokens: 128 },
  output_tokens: 160,
  output_tokens_details: { reasoning_tokens: 152 },
  total_tokens: 359,
  num_sources_used: 0,
  num_server_side_tools_used: 0,
  cost_in_usd_ticks: 5143500,
  context_details: { input_tokens: 199, output_tokens: 160 },
};
const READ = usage(71, 160, { cacheRead: 128, reasoning: 152 });
const created = {
  type: 'response.created',
  response: { id: RESPONSE, object: 'response', model: MODEL, status: 'in_progress', output: [] },
};
const completed = {
  type: 'response.completed',
  response: {
    id: RESPONSE,
    object: 'response',
    model: MODEL,
    status: 'completed',
    usage: USED,
    output: [],
  },
};
const META = {
  openai: { itemId: ITEM.id, reasoningEncryptedContent: ENCRYPTED },
};
const message = { type: 'message', id: `msg_${RESPONSE}`, role: 'assistant' };

export const wire: ProviderWire = {
  key: { variable: 'XAI_API_KEY', prefix: 'xai-' },
  model: MODEL,
  url: 'https://api.x.ai/v1/responses',
  headers: BEARER,
  turns: responsesTurns({
    model: MODEL,
    systemRole: 'system',
    fields: { include: ['reasoning.encrypted_content'], reasoning: { effort: 'high' } },
    ids: IDS,
    thought: {
      type: 'reasoning',
      id: ITEM.id,
      encrypted_content: ENCRYPTED,
      summary: [{ type: 'summary_text', text: 'Both files.\n' }],
    },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.\n', META)],
      callMeta: [
        { openai: { itemId: `fc_${RESPONSE}_0` } },
        { openai: { itemId: `fc_${RESPONSE}_1` } },
      ],
      bodies: [
        namedEvents([
          created,
          {
            type: 'response.output_item.added',
            output_index: 0,
            item: { id: ITEM.id, type: 'reasoning', summary: [] },
          },
          {
            type: 'response.reasoning_summary_text.delta',
            delta: 'Both',
            item_id: ITEM.id,
            output_index: 0,
            summary_index: 0,
          },
          {
            type: 'response.reasoning_summary_text.delta',
            delta: ' files.\n',
            item_id: ITEM.id,
            output_index: 0,
            summary_index: 0,
          },
          {
            type: 'response.output_item.done',
            item: { ...ITEM, status: 'completed', encrypted_content: ENCRYPTED },
            output_index: 0,
          },
          ...PATHS.flatMap((path, index) => {
            const item = {
              arguments: '',
              call_id: IDS[index] ?? '',
              name: 'Read',
              type: 'function_call',
              id: `fc_${RESPONSE}_${index}`,
            };
            const args = JSON.stringify({ path });
            return [
              {
                type: 'response.output_item.added',
                item: { ...item, status: 'in_progress' },
                output_index: index + 1,
              },
              {
                type: 'response.function_call_arguments.delta',
                delta: args,
                item_id: item.id,
                output_index: index + 1,
              },
              {
                type: 'response.output_item.done',
                item: { ...item, arguments: args, status: 'completed' },
                output_index: index + 1,
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
            type: 'response.output_text.delta',
            delta: 'One constant each.',
            item_id: message.id,
            output_index: 0,
            content_index: 0,
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
      servedBy: MODEL,
      textMeta: { openai: { itemId: message.id } },
    }),
  }),
  recordings: {},
  efforts: {
    'grok-4.3': efforts('none low low medium high high high', nested),
    'grok-4.5': efforts('low low low medium high high high', nested),
    [MODEL]: efforts('low low low medium high xhigh xhigh', nested),
    'grok-4.7': efforts('low low low medium high xhigh xhigh', nested),
    'grok-4.20-0309-non-reasoning': NO_EFFORTS,
    'grok-build-0.1': NO_EFFORTS,
  },
  errors: [
    {
      name: 'a wrong key, with HTTP 400',
      status: 400,
      body: {
        code: 'invalid-argument',
        error: 'Incorrect API key provided. You can obtain an API key from https://console.x.ai.',
      },
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 404,
      body: {
        code: 'not-found',
        error:
          'The model grok-4-1-fast-reasoning does not exist or your team <team_id> does not have access to it. If you believe this is a mistake, please contact support and quote your team ID and the model name.',
      },
      kind: 'not_found',
    },
    {
      name: 'a team without credit',
      status: 403,
      body: {
        code: 'The caller does not have permission to execute the specified operation',
        error:
          "Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/c853730f-fe0f-4537-b8a2-0e6e33c8342d.",
      },
      kind: 'rate_limit',
    },
    {
      name: 'used-up credit',
      status: 429,
      body: {
        code: 'Some resource has been exhausted',
        error:
          'Your team c853730f has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
      },
      kind: 'rate_limit',
    },
    {
      name: 'a rate limit, with its headers',
      status: 429,
      headers: {
        'x-ratelimit-limit-requests': '1800',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-limit-tokens': '10000000',
        'x-ratelimit-remaining-tokens': '9000000',
      },
      body: { code: 'resource-exhausted', error: 'Too many requests' },
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: {
        code: 'invalid-argument',
        error:
          "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      },
      kind: 'context_overflow',
    },
    {
      name: 'a server that fails inside the answer',
      body: data(
        [
          created,
          {
            type: 'response.failed',
            response: {
              status: 'failed',
              error: { code: 'server_error', message: 'Service temporarily unavailable' },
            },
          },
        ],
        { isDone: false },
      ),
      kind: 'server',
      isTransient: true,
      statusInside: 500,
      says: 'Service temporarily unavailable',
    },
  ],
  refusals: [
    {
      name: 'penalties',
      isRefused: (body) =>
        body['presence_penalty'] !== undefined || body['frequency_penalty'] !== undefined,
      status: 400,
      body: {
        code: 'invalid-argument',
        error: 'Model grok-4.6 does not support parameter presencePenalty.',
      },
      isNotSent: true,
    },
    {
      name: 'the role of the newer API of OpenAI',
      isRefused: ({ input }) => JSON.stringify(input).includes('"role":"developer"'),
      status: 400,
      body: { code: 'invalid-argument', error: 'Invalid role developer' },
      isNotSent: true,
    },
    {
      name: 'an effort that the model does not have',
      isRefused: ({ reasoning }) => JSON.stringify(reasoning)?.includes('none') === true,
      status: 400,
      body: {
        code: 'invalid-argument',
        error: "This model does not support 'reasoning_effort' value 'none'",
      },
      isNotSent: true,
    },
  ],
};
