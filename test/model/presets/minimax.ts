import { block, callBlock, messagesTurns } from './messages.ts';
import {
  data,
  efforts,
  namedEvents,
  NO_EFFORTS,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://platform.minimax.io/docs (text-anthropic-api, errorcode), the vendor's OpenAPI file with the shapes of
// its errors, and errors that users have published. Its own protocol differs; Anthropic's is the one that it recommends.

const MODEL = 'MiniMax-M3';
const IDS = ['call_function_2xwz0jt1i7tq_1', 'call_function_2xwz0jt1i7tq_2'] as const;
const SIGNATURE = '4f1c7e2a9b3d';
const start = {
  type: 'message_start',
  message: {
    id: '07008f4a82fecea87b8c3822c4ed23c0',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  },
};
const end = (reason: string) => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason },
    usage: {
      input_tokens: 326,
      output_tokens: 116,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 443,
    },
  },
  { type: 'message_stop' },
];
const READ = usage(326, 116, { cacheRead: 443 });
const error = (type: string, message: string, status?: number) => ({
  type: 'error',
  error: { type, message, ...(status === undefined ? {} : { http_code: String(status) }) },
  request_id: '021785229015510a2c883cf675b9804d',
});

export const wire: ProviderWire = {
  key: { variable: 'MINIMAX_API_KEY', prefix: 'sk-api-' },
  model: MODEL,
  url: 'https://api.minimax.io/anthropic/v1/messages',
  headers: { 'x-api-key': 'KEY', 'anthropic-version': '2023-06-01' },
  turns: messagesTurns({
    model: MODEL,
    fields: { thinking: { type: 'adaptive' } },
    ids: IDS,
    thought: { type: 'thinking', thinking: 'Both files.', signature: SIGNATURE },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.', { anthropic: { signature: SIGNATURE } })],
      bodies: [
        namedEvents([
          start,
          { type: 'ping' },
          ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
            { type: 'thinking_delta', thinking: 'Both' },
            { type: 'thinking_delta', thinking: ' files.' },
            { type: 'signature_delta', signature: SIGNATURE },
          ]),
          ...PATHS.flatMap((path, index) => callBlock(index + 1, IDS[index] ?? '', path)),
          ...end('tool_use'),
        ]),
        namedEvents([
          start,
          ...block(0, { type: 'text', text: '' }, [
            { type: 'text_delta', text: 'One constant each.' },
          ]),
          ...end('end_turn'),
        ]),
      ],
      usages: [READ, READ],
      servedBy: MODEL,
    }),
  }),
  recordings: {},
  efforts: {
    [MODEL]: efforts('disabled disabled adaptive adaptive adaptive adaptive adaptive', (type) => ({
      thinking: { type },
    })),
    'MiniMax-M2.7-highspeed': NO_EFFORTS,
  },
  errors: [
    {
      name: 'no key',
      status: 401,
      body: error(
        'authorized_error',
        "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)",
        401,
      ),
      kind: 'auth',
    },
    {
      name: 'a key of the other region',
      status: 401,
      body: error('authentication_error', 'invalid api key (2049)', 401),
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 400,
      body: {
        error: {
          type: 'bad_request_error',
          message: "invalid params, unknown model 'private-model' (2013)",
        },
      },
      kind: 'not_found',
    },
    {
      name: 'a rate limit',
      status: 429,
      body: error('rate_limit_error', 'rate limit, please retry later (1002)', 429),
      kind: 'rate_limit',
      isTransient: true,
    },
    {
      name: 'a used-up plan',
      status: 429,
      body: error(
        'rate_limit_error',
        'usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (1500/1500 used), resets at 2026-05-20T20:00:00Z (2056)',
      ),
      kind: 'rate_limit',
    },
    {
      name: 'out of credit',
      status: 402,
      body: error('insufficient_balance_error', 'insufficient balance (1008)', 402),
      kind: 'rate_limit',
    },
    {
      name: 'out of credit, as it was with HTTP 500',
      status: 500,
      body: error('api_error', 'insufficient balance (1008)'),
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error('invalid_request_error', 'invalid params, context window exceeds limit (2013)'),
      kind: 'context_overflow',
    },
    {
      name: 'results that do not belong to the calls',
      status: 400,
      body: error('invalid_request_error', 'invalid params, tool call and result not match (2013)'),
      kind: 'bad_request',
    },
    {
      name: 'a fault of the server',
      status: 500,
      body: error('server_error', 'internal error (1000)', 500),
      kind: 'server',
      isTransient: true,
    },
    {
      name: 'an overload',
      status: 529,
      body: error('overloaded_error', 'overloaded', 529),
      kind: 'overloaded',
      isTransient: true,
    },
    {
      name: 'sensitive content',
      status: 422,
      body: error('unprocessable_entity_error', 'input new_sensitive (1026)', 422),
      kind: 'bad_request',
    },
    {
      name: 'a refusal of its own form with HTTP 200',
      body: data([{ base_resp: { status_code: 2013, status_msg: 'invalid params' } }], {
        isDone: false,
      }),
      kind: 'bad_request',
      says: 'invalid params',
    },
    {
      name: 'spent credit in its own form with HTTP 200',
      body: data([{ base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }], {
        isDone: false,
      }),
      kind: 'rate_limit',
      says: 'insufficient balance',
    },
    {
      name: 'an overload inside the answer',
      body: namedEvents([start, error('overloaded_error', 'overloaded (1033)', 529)]),
      kind: 'overloaded',
      isTransient: true,
      statusInside: 529,
      says: 'overloaded (1033)',
    },
  ],
  refusals: [
    {
      name: 'a budget for thinking',
      isRefused: ({ thinking }) => JSON.stringify(thinking)?.includes('budget_tokens') === true,
      status: 400,
      body: error('invalid_request_error', 'invalid params, thinking type enabled (2013)'),
      isNotSent: true,
    },
  ],
};
