import { describe, expect, test } from 'vitest';
import { extractErrorText } from '../../../../src/model/adapters/errors/error-body.ts';
import {
  SPENT_CREDIT,
  UNKNOWN_MODEL,
  WRONG_KEY,
} from '../../../../src/model/adapters/errors/known-refusals.ts';
import { classifyStatus } from '../../../../src/model/adapters/errors/read-refusal.ts';

/** What a server says: a status, a message, and the other fields of its error. */
type Said = readonly [status: number, message: string, fields?: Readonly<Record<string, unknown>>];

function classify([status, message, fields = {}]: Said) {
  const body = JSON.stringify({ error: { message, ...fields } });
  const { kind, retryable } = classifyStatus(status, {
    text: message,
    body,
    retryAfterMs: undefined,
  });
  return { kind, retryable };
}

/** No account is real. Sources: the files of ../../presets, and the table itself. */
const SPENT: readonly Said[] = [
  [429, 'You exceeded your current quota', { code: 'insufficient_quota' }],
  [401, 'You exceeded your current quota', { type: 'insufficient_quota', code: 401 }],
  [400, 'Your credit balance is too low to access the Anthropic API.'],
  [402, 'Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' }],
  [429, 'Insufficient balance or no resource package. Please recharge.', { code: '1113' }],
  [402, 'This request requires more credits, or fewer max_tokens.', { code: 402 }],
  [402, 'Insufficient credits. This account never purchased credits.', { code: 402 }],
  [
    429,
    'Your account org-0 <ak-test> is not active, please check your account balance',
    { type: 'exceeded_current_quota_error' },
  ],
  [429, 'Your team 0 has either used all available credits or reached its spending limit.'],
  [403, "Your newly created teams doesn't have any credits yet."],
  [
    402,
    'Credit limit exceeded. Please navigate to a page to add credit.',
    { type: 'credit_limit' },
  ],
  [
    412,
    'Account a is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
  ],
  [402, 'Payment required to access this resource.', { code: 'payment_required' }],
  [403, "You've reached your usage limit for this billing cycle."],
  [429, 'Usage limit reached for 5 hour. Your limit will reset at 2026-04-25 15:43:26'],
  [429, 'usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (2056)'],
  [429, '[1309][Your GLM Coding Plan package has expired and is temporarily unavailable.]'],
  [429, '[1310][Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-09-28 23:07:07]'],
  [400, 'Budget has been exceeded! Current cost: 10.0, Max budget: 5.0'],
  [500, 'APIConnectionError: OpenAIException - You exceeded your current quota, please check'],
  [429, '余额不足或无可用资源包,请充值。'],
];

const UNKNOWN: readonly Said[] = [
  [400, 'The model does not exist', { code: 'model_not_found' }],
  [400, 'The model `a` has been decommissioned', { code: 'model_decommissioned' }],
  [400, 'Model Not Exist', { type: 'invalid_request_error' }],
  [400, 'Invalid model: a', { type: 'invalid_model', code: '1500' }],
  [400, 'openai/gpt-oss-90b is not a valid model ID', { code: 400 }],
  [400, 'Unknown Model, please check the model code.', { code: '1211' }],
  [400, '/chat/completions: Invalid model name passed in model=gpt-4o.'],
  [400, 'validation failed: model "a/b" is not supported', { code: 400 }],
  [400, 'model not found', { code: 400, type: 'invalid_request_error' }],
  [400, "model 'a' is not supported"],
];

const WRONG: readonly Said[] = [
  [400, 'Incorrect API key provided. You can obtain an API key from https://console.x.ai.'],
  [400, 'API key not valid. Please pass a valid API key.', { status: 'INVALID_ARGUMENT' }],
  [
    400,
    "Authentication Error, LiteLLM Virtual Key expected. Received=a, expected to start with 'sk-'.",
  ],
];

describe.each([
  ['a spent credit or plan', SPENT_CREDIT, SPENT, 'rate_limit'],
  ['an unknown model', UNKNOWN_MODEL, UNKNOWN, 'not_found'],
  ['a wrong key', WRONG_KEY, WRONG, 'auth'],
] as const)('%s', (_meaning, wordings, examples, kind) => {
  test.each(examples.map((said) => [said]))('%j', (said) => {
    expect(classify(said)).toEqual({ kind, retryable: false });
  });

  test.each(wordings)('the wording of %s has an example: %s', (_server, pattern) => {
    const texts = examples.map(([, message, fields]) =>
      extractErrorText(JSON.stringify({ error: { message, ...fields } })),
    );
    expect(texts.some((text) => pattern.test(text))).toBe(true);
  });
});

test.each<readonly [number, string, Readonly<Record<string, unknown>>, kind: string]>([
  // Google's quota of a minute, which comes back.
  [
    429,
    'You exceeded your current quota, please check your plan and billing details. Please retry in 36.6s.',
    { status: 'RESOURCE_EXHAUSTED' },
    'rate_limit',
  ],
  [429, 'You have exceeded your usage limits. Please try again later', {}, 'rate_limit'],
  // Gateways that have no free server for the model.
  [503, 'No available channel for model a', { code: 'model_not_found' }, 'overloaded'],
])('HTTP %i "%s" is passing', (status, message, fields, kind) => {
  expect(classify([status, message, fields])).toEqual({ kind, retryable: true });
});
