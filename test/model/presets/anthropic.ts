import { block, callBlock, messagesTurns } from './messages.ts';
import {
  efforts,
  namedEvents,
  PATHS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://docs.claude.com/en/docs/build-with-claude/streaming, …/en/api/errors, …/en/api/rate-limits

const MODEL = 'claude-sonnet-5';
const IDS = ['toolu_01A09q90qw90lq917835lq9', 'toolu_01B19r91rw91mr028946mr0'] as const;
const SIGNATURE = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds';
const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5-20260701',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 25,
      cache_creation_input_tokens: 40,
      cache_read_input_tokens: 900,
      output_tokens: 1,
      service_tier: 'standard',
    },
  },
};
const end = (reason: string) => [
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 55, output_tokens_details: { thinking_tokens: 21 } },
  },
  { type: 'message_stop' },
];
const READ = usage(25, 55, { cacheRead: 900, cacheWrite: 40, reasoning: 21 });
const error = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});

export const wire: ProviderWire = {
  key: { variable: 'ANTHROPIC_API_KEY', prefix: 'sk-ant-api03-' },
  model: MODEL,
  url: 'https://api.anthropic.com/v1/messages',
  headers: { 'x-api-key': 'KEY', 'anthropic-version': '2023-06-01' },
  turns: messagesTurns({
    model: MODEL,
    fields: {
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
    },
    ids: IDS,
    thought: { type: 'thinking', thinking: 'Both files.', signature: SIGNATURE },
    answers: turnAnswers({
      ids: IDS,
      thoughts: [thought('Both files.', { anthropic: { signature: SIGNATURE } })],
      bodies: [
        namedEvents([
          start,
          ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
            { type: 'thinking_delta', thinking: 'Both' },
            { type: 'thinking_delta', thinking: ' files.' },
            { type: 'signature_delta', signature: SIGNATURE },
          ]),
          { type: 'ping' },
          ...PATHS.flatMap((path, index) => callBlock(index + 1, IDS[index] ?? '', path)),
          ...end('tool_use'),
        ]),
        namedEvents([
          start,
          { type: 'ping' },
          ...block(0, { type: 'text', text: '' }, [
            { type: 'text_delta', text: 'One constant' },
            { type: 'text_delta', text: ' each.' },
          ]),
          ...end('end_turn'),
        ]),
      ],
      usages: [READ, READ],
      servedBy: 'claude-sonnet-5-20260701',
    }),
  }),
  recordings: {},
  efforts: {
    [MODEL]: efforts('disabled low low medium high xhigh max', (effort) =>
      effort === 'disabled'
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } },
    ),
  },
  errors: [
    {
      name: 'a wrong key',
      status: 401,
      body: error('authentication_error', 'invalid x-api-key'),
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 404,
      body: error('not_found_error', 'model: claude-nope'),
      kind: 'not_found',
    },
    {
      name: 'a rate limit, with its headers',
      status: 429,
      headers: {
        'retry-after': '12',
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '49',
        'anthropic-ratelimit-tokens-remaining': '0',
        'anthropic-ratelimit-tokens-reset': '2026-11-27T04:00:00Z',
      },
      body: error(
        'rate_limit_error',
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
      ),
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 12_000,
    },
    {
      name: 'out of credit',
      status: 400,
      body: error(
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
      kind: 'rate_limit',
    },
    {
      name: 'a problem with the billing',
      status: 402,
      body: error('billing_error', 'There is an issue with your billing or payment information.'),
      kind: 'rate_limit',
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error('invalid_request_error', 'prompt is too long: 213462 tokens > 200000 maximum'),
      kind: 'context_overflow',
    },
    {
      name: 'a request with too many bytes',
      status: 413,
      body: error('request_too_large', 'Request exceeds the maximum allowed number of bytes.'),
      kind: 'context_overflow',
    },
    {
      name: 'an overload',
      status: 529,
      body: error('overloaded_error', 'Overloaded'),
      kind: 'overloaded',
      isTransient: true,
    },
    {
      name: 'an overload inside the answer',
      body: namedEvents([start, error('overloaded_error', 'Overloaded')]),
      kind: 'overloaded',
      isTransient: true,
      statusInside: 529,
      says: 'Overloaded',
    },
  ],
  refusals: [
    {
      name: 'more than four marks for the cache',
      isRefused: (body) => (JSON.stringify(body).match(/"cache_control"/g) ?? []).length > 4,
      status: 400,
      body: error(
        'invalid_request_error',
        'A maximum of 4 blocks with cache_control may be provided. Found 5.',
      ),
      isNotSent: true,
    },
    {
      name: 'thoughts of another model',
      isRefused: ({ messages }) =>
        JSON.stringify(messages).includes('"type":"thinking"') &&
        !JSON.stringify(messages).includes(SIGNATURE),
      status: 400,
      body: error(
        'invalid_request_error',
        'messages.1.content.0: Invalid `signature` in `thinking` block',
      ),
      isNotSent: true,
    },
  ],
};
