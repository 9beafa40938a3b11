import { isOutputLimitError } from './output-limit-errors.ts';

/**
 * The patterns for the errors of vendors and servers that a request is longer than the model accepts. The tests have an
 * example for each of them.
 */
export const OVERFLOW_WORDINGS: readonly (readonly [vendor: string, pattern: RegExp])[] = [
  // https://docs.claude.com/en/api/errors, https://github.com/anthropics/claude-code/issues/42
  ['Anthropic', /prompt is too long|input length and `?max_tokens`? exceed context limit/i],
  // The stop reason of an answer, which gateways also send as an error:
  // https://docs.claude.com/en/api/handling-stop-reasons
  ['Anthropic (stop reason)', /model_context_window_exceeded/i],
  // https://platform.openai.com/docs/guides/error-codes
  // https://github.com/anomalyco/opencode/issues/17746
  [
    'OpenAI',
    /context_length_exceeded|exceeds? the context window|input tokens exceed the configured limit/i,
  ],
  // OpenAI's older wording, which Azure, vLLM, DeepSeek, OpenRouter, Cloudflare, Fireworks and many others use:
  // https://github.com/vllm-project/vllm/issues/20409, https://github.com/MoonshotAI/kimi-code/issues/476
  // https://github.com/anomalyco/models.dev/pull/4422, https://github.com/ogx-ai/ogx/issues/697
  ['vLLM', /maximum context length|context length is only [\d,]+ tokens/i],
  // "Request too large for gpt-4o … on tokens per min (TPM): Limit 30000, Requested 30601." Waiting does
  // not help, because this single request exceeds the limit: https://github.com/Aider-AI/aider/issues/1880
  [
    'OpenAI, Groq (one request above the limit of a minute)',
    /request too large for .{1,200}\blimit [\d,]+, requested [\d,]+/i,
  ],
  // https://github.com/google-gemini/gemini-cli/issues/4692
  ['Google, Vertex', /input token count.{0,40}(?:exceeds the maximum|model only supports)/i],
  // https://github.com/aws-samples/bedrock-chat/issues/95, https://github.com/continuedev/continue/issues/9592
  ['Bedrock', /input is too long for requested model|too many input tokens/i],
  // https://github.com/anomalyco/opencode/issues/3058, https://github.com/ericc-ch/copilot-api/issues/210
  [
    'GitHub Copilot',
    /model_max_prompt_tokens_exceeded|token count of [\d,]+ exceeds the limit of/i,
  ],
  // https://github.com/cline/cline/issues/2115, https://github.com/eslint/tsc-meetings/pull/593
  ['GitHub Models', /tokens_limit_reached|body too large for .{1,80} max size: [\d,]+ tokens/i],
  // https://github.com/cline/cline/issues/3120
  ['xAI', /maximum prompt length is [\d,]+/i],
  // https://github.com/MoonshotAI/kimi-code/pull/207, https://github.com/MoonshotAI/kimi-code/issues/476
  ['Moonshot, Kimi', /exceeded model token limit|total message size [\d,]+ exceeds limit/i],
  // https://github.com/ggml-org/llama.cpp/pull/15780
  [
    'llama.cpp',
    /exceed_context_size_error|exceeds? the available context size|context size has been exceeded/i,
  ],
  // https://github.com/rllm-team/rllm/issues/55
  ['llama-cpp-python', /requested tokens \(\d+\) exceed context window/i],
  // "prompt too long; exceeded max context length by 4 tokens":
  // https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
  ['Ollama', /prompt too long|input length exceeds the context length/i],
  // https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/237, …/issues/2205
  // https://github.com/anomalyco/opencode/issues/11141
  [
    'LM Studio',
    /greater than the context length|trying to keep the first \d+ tokens|cannot truncate prompt with n_keep/i,
  ],
  // https://github.com/cline/cline/issues/5140 (Cerebras), https://console.groq.com/docs/errors
  ['Groq, Cerebras', /reduce the length of the (?:messages|prompt|input)/i],
  // https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
  ['Mistral', /too large for model with [\d,]+ maximum context length/i],
  // https://github.com/MiniMax-AI/MiniMax-M2/issues/119
  ['MiniMax', /context window exceeds limit/i],
  // https://github.com/NousResearch/hermes-agent/pull/61728, …/pull/1877
  // https://github.com/modu-ai/moai-adk/issues/676
  [
    'z.ai, GLM',
    /prompt exceeds max length|tokens in request more than max tokens|reached its context window limit/i,
  ],
  // https://github.com/anomalyco/opencode/pull/45834
  ['Qwen, DashScope', /range of input length should be/i],
  // https://github.com/earendil-works/pi/issues/5677
  ['Together, SGLang', /longer than the model'?s context length/i],
  // https://github.com/stanford-crfm/helm/pull/2079, https://github.com/stanford-crfm/helm/issues/1820
  [
    'Text Generation Inference',
    /`inputs` must have less than [\d,]+ tokens|`inputs` tokens \+ `max_new_tokens` must be/i,
  ],
  // https://github.com/anomalyco/opencode/blob/dev/packages/ai/test/provider-error.test.ts
  ['OpenRouter, Poolside', /maximum allowed input length/i],
  // https://github.com/cohere-ai/sandbox-topically/issues/4
  ['Cohere', /total number of tokens .{0,40}(?:cannot exceed|exceeds)/i],
  // https://github.com/BerriAI/litellm/blob/main/litellm/exceptions.py
  ['LiteLLM', /ContextWindowExceededError/i],
  [
    'vLLM (length of the prompt)',
    /longer than the maximum model length|input prompt \([\d,]+ tokens\) is too long/i,
  ],
  // https://github.com/CherryHQ/cherry-studio/issues/1131
  ['SiliconFlow', /prompt_tokens \([\d,]+\) must be less than max_seq_len/i],
  // https://github.com/vllm-project/vllm/issues/4667: nothing of the window is left for the answer.
  ['vLLM (older)', /max_tokens must be at least 1, got -\d/i],
  ['Moonshot (length of the input)', /input token length too long/i],
  ['Perplexity', /\btoo_many_prompt_tokens\b|total length of all messages is too long/i],
  [
    'Volcengine Ark',
    /input length [\d,]+ exceeds the maximum length|tokens .{0,40}exceed max message tokens/i,
  ],
  // The messages are translated, but the code for a prompt that is too long is the same in every language.
  ['Zhipu', /prompt\s*超长|\bcode: 1261\b/i],
  ['llama.cpp (older)', /too big compared to KV size/i],
  ['LM Studio (while it answers)', /reached context length of [\d,]+ tokens|context overflow/i],
  // https://github.com/NVIDIA/TensorRT-LLM/issues/9277
  // https://github.com/triton-inference-server/tensorrtllm_backend/issues/565
  [
    'TensorRT-LLM',
    /prompt length .{0,60}should not exceed max_num_tokens|prompt length \([\d,.]+\) exceeds maximum input length/i,
  ],
  ['Databricks', /prompt token count .{0,20}cannot exceed/i],
  // https://github.com/NVIDIA/nim-anywhere/issues/58
  ['NVIDIA NIM', /input length [\d,]+ exceeds maximum allowed token size/i],
  ['watsonx', /number of input tokens [\d,]+ cannot exceed/i],
  ['Baidu', /prompt tokens too long|max length of current question is/i],
  ['SambaNova', /maximum supported sequence length is/i],
  // Messages in Chinese: the input or context is "too long", or exceeds the context or the maximum length.
  [
    'Chinese servers',
    /(?:输入|上下文|提示词).{0,40}(?:超长|过长|超过|超出)|(?:超过|超出).{0,20}(?:上下文|最大长度|长度限制)/i,
  ],
  ['any other (too long)', /\b(?:input|prompt)(?: text| length| tokens)?(?: is| are)? too long/i],
  // General wordings, for servers that are not in this list.
  [
    'any other',
    /context[ _-]?(?:length|window|size|limit)\b.{0,40}\b(?:exceed|overflow|too (?:long|large|small))|(?:exceed|longer than|larger than)[^.]{0,40}context[ _-]?(?:length|window|size|limit)|configured context size is|too many tokens|token limit exceeded|(?:input|prompt|messages?)\b[^.]{0,60}exceeds?[^.]{0,40}tokens/i,
  ],
];

/**
 * Matches errors about rate limits, spent credits and busy servers. Such errors are solved by waiting or paying, and not
 * by a shorter conversation.
 */
const OTHER_LIMIT = new RegExp(
  [
    'rate.?limit|throttl|too many requests|please wait|quota|per[ _](?:second|min|hour|day|month)',
    '\\b[TR]P[MDS]\\b|\\b(?:hourly|daily|weekly|monthly|credits?|balance|billing|afford)\\b',
    'overloaded|at capacity|try again later|频率|速率|限流|额度|配额|余额|并发',
  ].join('|'),
  'i',
);

/** Returns true if the text of an error says that the conversation is too long for the model. */
export function isContextOverflow(text: string): boolean {
  if (isOutputLimitError(text)) return false;
  if (OTHER_LIMIT.test(text) && !/request too large for/i.test(text)) return false;
  return OVERFLOW_WORDINGS.some(([, pattern]) => pattern.test(text));
}
