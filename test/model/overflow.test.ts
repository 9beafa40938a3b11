import { describe, expect, test } from 'vitest';
import { errorWords } from '../../src/model/adapters/error-words.ts';
import { OVERFLOW_WORDINGS, saysOverflow } from '../../src/model/adapters/overflow.ts';
import { readStatus } from '../../src/model/adapters/refusal-reading.ts';

interface Example {
  readonly vendor: string;
  readonly status: number;
  readonly body: unknown;
}

const said = (vendor: string, message: string, status = 400): Example => ({
  vendor,
  status,
  body: { error: { message } },
});

/** Refusals of a conversation that is too long, as the vendors and servers word them. */
const OVERFLOWS: readonly Example[] = [
  {
    vendor: 'Anthropic',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 213462 tokens > 200000 maximum',
      },
    },
  },
  said(
    'Anthropic, with the answer',
    'input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798, decrease input length or `max_tokens` and try again',
  ),
  {
    vendor: 'Anthropic, too many bytes',
    status: 413,
    body: {
      type: 'error',
      error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
    },
  },
  said('Anthropic, its stop reason', 'Provider finish_reason: model_context_window_exceeded'),
  {
    vendor: 'OpenAI Responses',
    status: 400,
    body: {
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  },
  said(
    'OpenAI Chat',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 173172 tokens. Please reduce the length of the messages.",
  ),
  said(
    'OpenAI, configured',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.',
  ),
  {
    vendor: 'OpenAI, a code without words for it',
    status: 400,
    body: { error: { message: 'Bad request.', code: 'context_length_exceeded' } },
  },
  said(
    'OpenAI, one request above the limit of a minute',
    'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.',
    429,
  ),
  {
    vendor: 'Groq, one request above the limit of a minute',
    status: 413,
    body: {
      error: {
        message:
          'Request too large for model `llama-3.3-70b-versatile` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    },
  },
  {
    vendor: 'Azure',
    status: 400,
    body: {
      error: {
        message: "This model's maximum context length is 8192 tokens, however you requested 10235.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
  said(
    'Google',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
  ),
  said(
    'Vertex',
    'Unable to submit request because the input token count is 1100000 but model only supports up to 1048576.',
  ),
  {
    vendor: 'Bedrock',
    status: 400,
    body: {
      message: 'The model returned the following errors: Input is too long for requested model.',
    },
  },
  said('Bedrock Titan', '400 Bad Request: Too many input tokens. Max input tokens: 8192'),
  {
    vendor: 'GitHub Copilot',
    status: 400,
    body: {
      error: {
        message: 'prompt token count of 135099 exceeds the limit of 128000',
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
  },
  {
    vendor: 'GitHub Copilot behind a gateway',
    status: 400,
    body: {
      error: {
        message: '{"error":{"message":"too many","code":"model_max_prompt_tokens_exceeded"}}\n',
        type: 'error',
      },
    },
  },
  {
    vendor: 'GitHub Models',
    status: 413,
    body: {
      error: {
        code: 'tokens_limit_reached',
        message: 'Request body too large for gpt-4o model. Max size: 8000 tokens.',
      },
    },
  },
  {
    vendor: 'xAI',
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
  },
  said(
    'Moonshot, Kimi',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)',
  ),
  said('Kimi, too many bytes', 'total message size 10176584 exceeds limit 2097152'),
  {
    vendor: 'llama.cpp',
    status: 400,
    body: {
      error: {
        code: 400,
        message:
          'request (124071 tokens) exceeds the available context size (123904 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 124071,
        n_ctx: 123904,
      },
    },
  },
  said('llama.cpp, while it answers', 'Context size has been exceeded.', 500),
  said('llama-cpp-python', 'Requested tokens (2285) exceed context window of 2048', 500),
  {
    vendor: 'Ollama',
    status: 400,
    body: { error: 'prompt too long; exceeded max context length by 4 tokens' },
  },
  said('Ollama, embedding', 'the input length exceeds the context length', 500),
  {
    vendor: 'LM Studio',
    status: 400,
    body: {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
    },
  },
  said(
    'LM Studio, older',
    'Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
  ),
  said('LM Studio, newer', 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)'),
  said(
    'vLLM',
    "This model's maximum context length is 196608 tokens. However, you requested 16384 output tokens and your prompt contains at least 180225 input tokens, for a total of at least 196609 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
  ),
  said(
    'vLLM, another version',
    "You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 99072 tokens. Please reduce the length of the input prompt.",
  ),
  {
    vendor: 'Groq',
    status: 400,
    body: {
      error: {
        message: 'Please reduce the length of the messages or completion.',
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
  said(
    'Cerebras',
    'Please reduce the length of the messages or completion. Current length is 69553 while limit is 65536',
  ),
  { vendor: 'Cerebras, without a word', status: 413, body: '' },
  {
    vendor: 'Mistral',
    status: 400,
    body: {
      object: 'error',
      message:
        'Prompt contains 40006 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_prompt',
      code: '3051',
    },
  },
  said(
    'DeepSeek',
    "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (136000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
  ),
  said(
    'OpenRouter',
    "This endpoint's maximum context length is 202752 tokens. However, you requested about 203889 tokens (183648 of text input, 4241 of tool input, 16000 in the output). Please reduce the length of either one.",
  ),
  {
    vendor: 'OpenRouter, the words of the provider behind it',
    status: 400,
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: '{"error":{"message":"Input length 131393 exceeds the maximum allowed input length of 131040 tokens."}}',
          provider_name: 'Poolside',
        },
      },
    },
  },
  {
    vendor: 'MiniMax',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'invalid params, context window exceeds limit (2013)',
      },
    },
  },
  {
    vendor: 'GLM',
    status: 400,
    body: { error: { code: '1261', message: 'Prompt exceeds max length' } },
  },
  {
    vendor: 'z.ai',
    status: 400,
    body: { error: { code: '1210', message: 'tokens in request more than max tokens allowed' } },
  },
  said('z.ai, Anthropic protocol', 'The model has reached its context window limit.'),
  {
    vendor: 'Qwen, DashScope',
    status: 400,
    body: {
      error: {
        code: 'invalid_parameter_error',
        message:
          '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 202752]',
      },
    },
  },
  said(
    'Together',
    "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
  ),
  said(
    'Together, text generation inference',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4090 `inputs` tokens and 30 `max_new_tokens`',
    422,
  ),
  said(
    'Text generation inference',
    'Input validation error: `inputs` must have less than 1024 tokens. Given: 1244',
    422,
  ),
  said('Fireworks', 'The prompt is too long: 46177, model maximum context length: 32767'),
  said(
    'Cloudflare',
    "Requested token count exceeds the model's maximum context length of 256000 tokens. You requested a total of 276878 tokens: 251216 tokens from the input messages and 25662 tokens for the completion.",
  ),
  said(
    'Cohere',
    'too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.',
  ),
  said(
    'LiteLLM',
    'litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicException',
  ),
  said('SGLang', "Input length (265330) exceeds model's maximum context length (262144)."),
  said('oMLX', 'Prompt too long: 41911 tokens exceeds max context window of 32768 tokens'),
  said('mlx-serve', 'Prompt exceeds maximum context length'),
  said(
    'a server that is not known',
    'Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens',
  ),
  said('another one', 'Too many tokens'),
  said('a third one', 'Token limit exceeded'),
];

/** Refusals that a shorter conversation does not help against. */
const OTHERS: readonly (Example & { readonly kind: string })[] = [
  {
    ...said(
      'OpenAI, rate limit',
      'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.',
      429,
    ),
    kind: 'rate_limit',
  },
  {
    ...said('Bedrock, throttled', 'Too many tokens, please wait before trying again.', 429),
    kind: 'rate_limit',
  },
  {
    ...said('Bedrock behind a gateway', 'ThrottlingException: Too many tokens per day', 400),
    kind: 'bad_request',
  },
  {
    ...said(
      'Cerebras, rate limit',
      'Tokens per minute limit exceeded - too many tokens processed.',
      429,
    ),
    kind: 'rate_limit',
  },
  {
    ...said(
      'Anthropic, rate limit',
      'This request would exceed your organization’s rate limit of 30,000 input tokens per minute.',
      429,
    ),
    kind: 'rate_limit',
  },
  {
    ...said(
      'Anthropic, output',
      'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022',
    ),
    kind: 'bad_request',
  },
  {
    ...said(
      'OpenAI, output',
      'max_tokens is too large: 50000. This model supports at most 16384 completion tokens, whereas you provided 50000.',
    ),
    kind: 'bad_request',
  },
  {
    ...said(
      'Groq, output',
      '`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    ),
    kind: 'bad_request',
  },
  {
    ...said('Bedrock, output', 'The maximum tokens you requested exceeds the model limit of 4096.'),
    kind: 'bad_request',
  },
  {
    ...said(
      'vLLM, output',
      "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens (32000 > 32768 - 1000).",
    ),
    kind: 'bad_request',
  },
  {
    ...said(
      'Anthropic, an image',
      'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes',
    ),
    kind: 'bad_request',
  },
  {
    ...said(
      'Anthropic, many images',
      'At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
    ),
    kind: 'bad_request',
  },
  {
    ...said('too many tools', "Invalid 'tools': array too long. Expected maximum length 128."),
    kind: 'bad_request',
  },
  {
    vendor: 'a proxy’s page',
    status: 413,
    body: '<html>\r\n<head><title>413 Request Entity Too Large</title></head></html>',
    kind: 'bad_request',
  },
  { vendor: 'without a word', status: 400, body: '', kind: 'bad_request' },
  {
    vendor: 'a server that sends the refused request back',
    status: 422,
    body: {
      detail: [
        {
          type: 'missing',
          msg: 'Field required',
          input: { messages: [{ content: 'What does context_length_exceeded mean?' }] },
        },
      ],
    },
    kind: 'bad_request',
  },
];

function kindOf({ status, body }: Example): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readStatus(status, { says: 'x', body: text, retryAfterMs: undefined }).kind;
}

describe('a refusal', () => {
  test.each(OVERFLOWS)('of $vendor is about the length of the conversation', (example) => {
    expect(kindOf(example)).toBe('context_overflow');
  });

  test.each(OTHERS)('of $vendor is about something else', (example) => {
    expect(kindOf(example)).toBe(example.kind);
  });

  test('of a long request without a word is about its length', () => {
    const details = { says: '', body: '', retryAfterMs: undefined };
    expect(readStatus(400, { ...details, sent: 100_000 }).kind).toBe('context_overflow');
    expect(readStatus(400, { ...details, sent: 1_000 }).kind).toBe('bad_request');
  });
});

test.each(OVERFLOW_WORDINGS)('the wording of $vendor has an example', ({ pattern }) => {
  const words = OVERFLOWS.map(({ body }) => errorWords(JSON.stringify(body)));
  expect(words.some((one) => pattern.test(one) && saysOverflow(one))).toBe(true);
});

test('a long hostile error is read in a moment', () => {
  const parts = [
    'context ',
    'exceed ',
    'input ',
    'request too large for ',
    'total number of tokens ',
  ];
  for (const part of parts) {
    const body = JSON.stringify({ error: { message: part.repeat(50_000) } });
    expect(errorWords(body).length).toBeLessThanOrEqual(4_000);
    expect(kindOf({ vendor: '', status: 400, body })).toMatch(/bad_request|context_overflow/);
  }
  const nested = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
  expect(errorWords(nested)).toBe('');
});
