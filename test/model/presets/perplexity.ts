import type { JsonObject } from '../../../src/base/json.ts';
import { responsesTurns } from './responses.ts';
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

// Sources: https://docs.perplexity.ai (agent-api, openai-compatibility), the vendor's skill
// migrate-sonar-to-agent-api, recordings of crmne/ruby_llm, and captures that clients describe (2026-08, 2026-10).

const MODEL = 'anthropic/claude-sonnet-5';
const IDS = ['call_Ku9yfMSIZWrJBGm2wqCaFF0G', 'call_Yb3xPq8LmTz5RwV1dNcHs4Ke'] as const;
const ITEM_IDS = ['fc_a181bc3f', 'fc_b292cd40'] as const;
const SIGNATURES = ['CkYBVKhc7uZ0', 'CkYBVKhc7uZ1'] as const;
const response = {
  id: 'resp_02',
  object: 'response',
  created_at: 1756800000,
  model: MODEL,
  output: [],
};
const created = {
  type: 'response.created',
  sequence_number: 0,
  response: { ...response, status: 'in_progress' },
};
const completed = {
  type: 'response.completed',
  sequence_number: 13,
  response: {
    ...response,
    completed_at: 1756800003,
    status: 'completed',
    usage: {
      input_tokens: 150,
      output_tokens: 40,
      total_tokens: 190,
      input_tokens_details: { cache_creation_input_tokens: 20, cache_read_input_tokens: 100 },
      output_tokens_details: { reasoning_tokens: 9 },
      cost: { currency: 'USD', input_cost: 0.001, output_cost: 0.002, total_cost: 0.003 },
    },
  },
};
const READ = usage(30, 40, { cacheRead: 100, cacheWrite: 20, reasoning: 9 });
const error = (message: string, type: string, code: number, more: JsonObject = {}) => ({
  error: { message, type, code, ...more },
});

/** The fields that the vendor or probes of clients name. Any other is refused. */
const KNOWN_FIELDS = new Set(
  'model input instructions tools tool_choice parallel_tool_calls max_output_tokens stream store include reasoning temperature top_p response_format preset user'.split(
    ' ',
  ),
);
const RESERVED =
  /^(?:web_search|search_web|people_search|search_people|fetch_url|finance_search|sandbox)$/;

export const wire: ProviderWire = {
  key: { variable: 'PERPLEXITY_API_KEY', prefix: 'pplx-' },
  model: MODEL,
  url: 'https://api.perplexity.ai/v1/responses',
  headers: BEARER,
  turns: responsesTurns({
    model: MODEL,
    systemRole: 'system',
    fields: { reasoning: { effort: 'high' } },
    ids: IDS,
    // It sends no items with thoughts, and wants none back.
    thought: null,
    callFields: [{ thought_signature: SIGNATURES[0] }, { thought_signature: SIGNATURES[1] }],
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Looking at both.')],
      callMeta: [
        { openai: { itemId: ITEM_IDS[0], thoughtSignature: SIGNATURES[0] } },
        { openai: { itemId: ITEM_IDS[1], thoughtSignature: SIGNATURES[1] } },
      ],
      bodies: [
        data(
          [
            created,
            '\n\n',
            { type: 'response.reasoning.started', sequence_number: 2, thought: 'Looking at both.' },
            { type: 'response.reasoning.stopped', sequence_number: 5 },
            // The call is complete at its start, and no further event comes for it.
            ...PATHS.map((path, index) => ({
              type: 'response.output_item.added',
              sequence_number: 6 + index,
              output_index: index,
              item: {
                type: 'function_call',
                id: ITEM_IDS[index] ?? '',
                call_id: IDS[index] ?? '',
                name: 'Read',
                arguments: JSON.stringify({ path }),
                status: 'completed',
                thought_signature: SIGNATURES[index] ?? '',
              },
            })),
            completed,
          ],
          { isDone: false },
        ),
        data(
          [
            created,
            {
              type: 'response.output_item.added',
              sequence_number: 8,
              output_index: 1,
              item: {
                type: 'message',
                id: 'msg_02',
                status: 'in_progress',
                role: 'assistant',
                content: [],
              },
            },
            {
              type: 'response.output_text.delta',
              sequence_number: 9,
              item_id: 'msg_02',
              output_index: 1,
              content_index: 0,
              delta: 'One constant ',
            },
            {
              type: 'response.output_text.delta',
              sequence_number: 10,
              item_id: 'msg_02',
              output_index: 1,
              content_index: 0,
              delta: 'each.',
            },
            {
              type: 'response.output_text.done',
              sequence_number: 11,
              item_id: 'msg_02',
              output_index: 1,
              content_index: 0,
              text: 'One constant each.',
            },
            completed,
          ],
          { isDone: false },
        ),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
      textMeta: { openai: { itemId: 'msg_02' } },
    }),
  }),
  recordings: {
    'thoughts in events of their own': {
      body: String.raw`data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_02","object":"response","created_at":1756800000,"status":"in_progress","model":"openai/gpt-5.6-sol","output":[]}}

data: {"type":"response.reasoning.started","sequence_number":2,"thought":"Looking this up."}

data: {"type":"response.reasoning.stopped","sequence_number":5}

data: {"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"type":"message","id":"msg_02","status":"in_progress","role":"assistant","content":[]}}

data: {"type":"response.output_text.delta","sequence_number":9,"item_id":"msg_02","output_index":1,"content_index":0,"delta":"The Transformer "}

data: {"type":"response.output_text.done","sequence_number":11,"item_id":"msg_02","output_index":1,"content_index":0,"text":"The Transformer relies on attention."}

data: {"type":"response.completed","sequence_number":13,"response":{"id":"resp_02","object":"response","created_at":1756800000,"completed_at":1756800003,"status":"completed","model":"openai/gpt-5.6-sol","output":[],"usage":{"input_tokens":150,"output_tokens":40,"total_tokens":190,"input_tokens_details":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"cost":{"currency":"USD","input_cost":0.001,"output_cost":0.002,"total_cost":0.003}}}}

`,
      content: [
        thought('Looking this up.'),
        { type: 'text', text: 'The Transformer ', meta: { openai: { itemId: 'msg_02' } } },
      ],
      usage: usage(150, 40),
      reason: 'stop',
      servedBy: 'openai/gpt-5.6-sol',
    },
  },
  efforts: { [MODEL]: efforts('minimal minimal low medium high xhigh max', nested) },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: error(
        'Invalid API key provided. Ensure your API key is correct and active.',
        'invalid_api_key',
        401,
      ),
      kind: 'auth',
    },
    {
      name: 'out of credit, with HTTP 401',
      status: 401,
      body: error(
        'You exceeded your current quota, please check your plan and billing details.\nFor more information, visit https://www.perplexity.ai/settings/api.',
        'insufficient_quota',
        401,
      ),
      says: 'You exceeded your current quota, please check your plan and billing details. For more information, visit https://www.perplexity.ai/settings/api.',
      kind: 'rate_limit',
    },
    {
      name: 'an unknown model',
      status: 400,
      body: error('validation failed: model "nope/nope" is not supported', 'invalid_model', 400),
      kind: 'not_found',
    },
    {
      name: 'the API of the old Sonar models',
      status: 403,
      body: error(
        'Sonar is now the Agent API. Use /v1/responses instead of /v1/sonar.',
        'chat_completions_not_available',
        403,
      ),
      kind: 'not_found',
    },
    {
      name: 'a rate limit',
      status: 429,
      body: error(
        'Request rate limit exceeded, please try again later.',
        'request_rate_limit_exceeded',
        429,
      ),
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error('The total length of all messages is too long.', 'too_many_prompt_tokens', 400),
      kind: 'context_overflow',
    },
    {
      name: 'an overload inside the answer',
      body: data(
        [
          created,
          {
            type: 'response.failed',
            sequence_number: 1,
            error: { message: 'Model overloaded', type: 'server_error', code: 'overloaded' },
          },
        ],
        { isDone: false },
      ),
      kind: 'overloaded',
      isTransient: true,
      statusInside: 500,
      says: 'Model overloaded',
    },
  ],
  refusals: [
    {
      name: 'fields that it does not know',
      isRefused: (body) => Object.keys(body).some((field) => !KNOWN_FIELDS.has(field)),
      status: 400,
      body: error('invalid request body: json: unknown field "X"', 'invalid_request', 400, {
        param: 'X',
      }),
      isNotSent: true,
    },
    {
      name: 'a request to a model of Anthropic without a limit',
      isRefused: ({ max_output_tokens: limit }) => limit === undefined,
      status: 400,
      body: error(
        'max_output_tokens is required when using Anthropic models',
        'invalid_request',
        400,
      ),
      isNotSent: true,
    },
    {
      name: 'tools with reserved names',
      isRefused: ({ tools }) =>
        Array.isArray(tools) &&
        tools.some((tool) => RESERVED.test(String((tool as JsonObject)['name']))),
      status: 400,
      body: error('tool name is reserved', 'invalid_request', 400),
      isNotSent: true,
    },
  ],
};
