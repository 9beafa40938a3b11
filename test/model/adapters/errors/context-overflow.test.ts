import { describe, expect, test } from 'vitest';
import { extractErrorText } from '../../../../src/model/adapters/errors/error-body.ts';
import {
  OVERFLOW_WORDINGS,
  isContextOverflow,
} from '../../../../src/model/adapters/errors/context-overflow.ts';
import { classifyStatus } from '../../../../src/model/adapters/errors/read-refusal.ts';

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
  {
    vendor: 'vLLM of 2024',
    status: 400,
    body: {
      object: 'error',
      message: 'max_tokens must be at least 1, got -186.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  },
  said('Moonshot, as its list of errors has it', 'Input token length too long'),
  {
    vendor: 'Perplexity',
    status: 400,
    body: {
      error: {
        message: 'The total length of all messages is too long.',
        type: 'too_many_prompt_tokens',
        code: 400,
      },
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
  said(
    'vLLM, the decoder prompt',
    'The decoder prompt (length 40000) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.',
  ),
  said(
    'vLLM, an old version',
    'Input prompt (40000 tokens) is too long and exceeds limit of 32768',
  ),
  {
    vendor: 'SiliconFlow',
    status: 400,
    body: {
      code: 20015,
      message: 'length of prompt_tokens (147509) must be less than max_seq_len (65536).',
      data: null,
    },
  },
  said('Ark', 'Input length 140000 exceeds the maximum length 131072. Request id: 0217'),
  said('Ark, with images', 'Total tokens of image and text exceed max message tokens.'),
  said('Zhipu', 'Prompt 超长'),
  {
    vendor: 'Zhipu, only its code',
    status: 400,
    body: { error: { code: 1261, message: '参数有误' } },
  },
  said(
    'llama.cpp, older',
    'Input prompt is too big compared to KV size. Please try increasing KV size.',
    500,
  ),
  said(
    'LM Studio, while it answers',
    'Reached context length of 4096 tokens with this model, but this model does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.',
  ),
  said(
    'TensorRT-LLM',
    'The sum of prompt length (9351.0), query length (0) should not exceed max_num_tokens (8192)',
  ),
  said('TensorRT-LLM, older', 'Prompt length (40000) exceeds maximum input length (32768).', 500),
  said('Databricks', 'BAD_REQUEST: prompt token count (33000) cannot exceed 32768.'),
  {
    vendor: 'Bedrock behind an AWS gateway',
    status: 400,
    body: { Message: 'Input is too long for requested model.' },
  },
  said(
    'NVIDIA NIM',
    "in ensemble 'nvidia_nv', Input length 1024 exceeds maximum allowed token size 512",
  ),
  {
    vendor: 'watsonx',
    status: 400,
    body: {
      errors: [
        {
          code: 'invalid_input_argument',
          message:
            'Invalid input argument for Model: the number of input tokens 5139 cannot exceed the total tokens limit 4096 for this model',
        },
      ],
      trace: 'c1',
      status_code: 400,
    },
  },
  {
    vendor: 'Cloudflare, its own error list',
    status: 400,
    body: {
      success: false,
      result: {},
      messages: [],
      errors: [
        {
          code: 5021,
          message:
            'AiError: The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).',
        },
      ],
    },
  },
  {
    vendor: 'Baidu',
    status: 400,
    body: { error_code: 336103, error_msg: 'Prompt tokens too long', id: 'as-1' },
  },
  {
    vendor: 'Baidu, another one',
    status: 400,
    body: { error_code: 336007, error_msg: 'the max length of current question is 2000' },
  },
  {
    vendor: 'Tencent',
    status: 400,
    body: { Response: { Error: { Code: 'InvalidParameter', Message: '输入内容长度超过限制' } } },
  },
  said('a Chinese server', '请求失败：超出模型最大上下文长度 (32768)'),
  {
    vendor: 'a FastAPI server',
    status: 400,
    body: { detail: [{ loc: ['body', 'messages'], msg: 'input length too long' }] },
  },
  said(
    'SambaNova',
    'Requested generation length 1000 is not possible! The provided prompt is 4023 tokens long, so generating 1000 tokens requires a sequence length of 5023, but the maximum supported sequence length is just 4096!',
  ),
  said('a server with two numbers', 'Input text is too long: 40000 tokens > max 32768'),
  said('a gateway that says 403', 'prompt is too long: 213462 tokens > 200000 maximum', 403),
  said('a gateway that says 408', 'prompt is too long: 213462 tokens > 200000 maximum', 408),
  said('a gateway that says 409', 'context_length_exceeded', 409),
  said(
    'a gateway that says 503',
    'litellm.ServiceUnavailableError: ContextWindowExceededError: AnthropicException',
    503,
  ),
  said('a gateway that says 529', 'prompt is too long: 213462 tokens > 200000 maximum', 529),
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
  {
    ...said(
      'SambaNova, output',
      'Requested generation length 8000 is not possible! The provided prompt is 23 tokens long, so generating 8000 tokens requires a sequence length of 8023, but the maximum supported sequence length is just 4096!',
    ),
    kind: 'bad_request',
  },
  {
    ...said(
      'OpenRouter, credits',
      'Prompt tokens limit exceeded: 12000 > 9000. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account',
      402,
    ),
    kind: 'rate_limit',
  },
  { ...said('a wrong key', 'prompt is too long for this key', 401), kind: 'auth' },
  {
    ...said('credits under 403', 'Token limit exceeded: you have no credits left', 403),
    kind: 'auth',
  },
  {
    ...said('a budget under 403', 'Monthly token limit exceeded for this key', 403),
    kind: 'auth',
  },
  {
    ...said('a quota under 403', 'Token limit exceeded: your quota is used up', 403),
    kind: 'auth',
  },
  {
    ...said('a region under 403', 'Country, region, or territory not supported', 403),
    kind: 'auth',
  },
  {
    ...said('a busy server', 'The model is overloaded: too many tokens are waiting', 503),
    kind: 'overloaded',
  },
  {
    ...said('a busy server under 529', 'Too many tokens in flight, try again later', 529),
    kind: 'overloaded',
  },
  { ...said('a time-out', 'Request timed out', 408), kind: 'server' },
  {
    ...said('a rate limit in Chinese', '请求频率超出限制，输入过长时请稍后', 429),
    kind: 'rate_limit',
  },
  { ...said('a number that is no code', 'You sent 1261 messages'), kind: 'bad_request' },
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
  return classifyStatus(status, { text: 'x', body: text, retryAfterMs: undefined }).kind;
}

describe('a refusal', () => {
  test.each(OVERFLOWS)('of $vendor is about the length of the conversation', (example) => {
    expect(kindOf(example)).toBe('context_overflow');
  });

  test.each(OTHERS)('of $vendor is about something else', (example) => {
    expect(kindOf(example)).toBe(example.kind);
  });

  test('of a long request with an empty body is about its length', () => {
    const details = { text: '', body: '', retryAfterMs: undefined };
    expect(classifyStatus(400, { ...details, requestLength: 100_000 }).kind).toBe(
      'context_overflow',
    );
    expect(classifyStatus(400, { ...details, requestLength: 1_000 }).kind).toBe('bad_request');
  });
});

test.each(OVERFLOW_WORDINGS)('the wording of %s has an example', (_vendor, pattern) => {
  const words = OVERFLOWS.map(({ body }) => extractErrorText(JSON.stringify(body)));
  expect(words.some((one) => pattern.test(one) && isContextOverflow(one))).toBe(true);
});

test('a long hostile error is read quickly', () => {
  const parts = [
    'context ',
    'exceed ',
    'input ',
    'request too large for ',
    'total number of tokens ',
  ];
  for (const part of parts) {
    const body = JSON.stringify({ error: { message: part.repeat(50_000) } });
    expect(extractErrorText(body).length).toBeLessThanOrEqual(4_000);
    expect(kindOf({ vendor: '', status: 400, body })).toMatch(/bad_request|context_overflow/);
  }
  const nested = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
  expect(extractErrorText(nested)).toBe('');
});
