import type { PresetName } from './presets.ts';
import { effortLevels, type ProviderQuirks, reasoningEfforts } from './provider-quirks.ts';

/** The efforts that most servers with levels accept. */
const COMMON_EFFORTS = effortLevels(['low', 'medium', 'high']);
/** The switch for thinking, which several vendors have taken over from Anthropic. */
const THINKING_OFF = { thinking: { type: 'disabled' } };
const THINKING_ON = { thinking: { type: 'enabled' } };
/** The class of an error that only a payment, or a day of waiting, removes. */
const SPENT = { kind: 'rate_limit', isTransient: false } as const;

/** The differences of the known providers from their protocols. The others have none. */
export const PRESET_QUIRKS: Readonly<Partial<Record<PresetName, ProviderQuirks>>> = {
  openrouter: {
    // All pieces are sent back unchanged: https://openrouter.ai/docs/use-cases/reasoning-tokens
    thoughts: 'reasoning_details',
    // https://openrouter.ai/docs/guides/best-practices/prompt-caching
    cacheMarks: /^~?(?:anthropic|qwen)\//,
    efforts: [
      {
        fields: reasoningEfforts(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
      },
    ],
    // "Key limit exceeded (total limit)" with HTTP 403
    errors: [{ text: /\bkey limit exceeded\b/i, ...SPENT }],
  },
  deepseek: {
    efforts: [{ fields: { none: THINKING_OFF, ...effortLevels(['low', 'high', 'max']) } }],
  },
  mistral: {
    thoughts: 'content',
    efforts: [
      {
        models: /^mistral-(?:small-latest|small-2603|medium-latest|medium-3-5)$/,
        fields: effortLevels(['none', 'high']),
      },
    ],
  },
  groq: {
    // "property 'reasoning_content' is unsupported"
    thoughts: 'reasoning',
    efforts: [
      { models: /gpt-oss/, fields: COMMON_EFFORTS },
      {
        models: /qwen/,
        fields: { none: { reasoning_effort: 'none' }, high: { reasoning_effort: 'default' } },
      },
    ],
    // It checks the calls of the model, and fails instead of passing on a wrong one.
    errors: [
      {
        text: /\btool_use_failed\b|but model did not call a tool/i,
        kind: 'malformed',
        isTransient: true,
      },
    ],
  },
  cerebras: {
    thoughts: 'reasoning',
    efforts: [
      { models: /gpt-oss/, fields: COMMON_EFFORTS },
      { models: /qwen/, fields: effortLevels(['none', 'low', 'medium', 'high']) },
    ],
  },
  xai: {
    // Without this field no thoughts can be sent back: https://docs.x.ai/developers/advanced-api-usage/troubleshooting-reasoning
    body: { include: ['reasoning.encrypted_content'] },
    efforts: [
      { models: /^grok-4\.3/, fields: reasoningEfforts(['none', 'low', 'medium', 'high']) },
      { models: /^grok-4\.5/, fields: reasoningEfforts(['low', 'medium', 'high']) },
      { models: /^grok-4\.[6-9]/, fields: reasoningEfforts(['low', 'medium', 'high', 'xhigh']) },
    ],
  },
  together: {
    efforts: [
      { models: /glm-5\.3/i, fields: effortLevels(['low', 'medium', 'high', 'max']) },
      { models: /deepseek-v4/i, fields: effortLevels(['high', 'max']) },
      { fields: COMMON_EFFORTS },
    ],
  },
  fireworks: { efforts: [{ fields: COMMON_EFFORTS }] },
  moonshot: {
    efforts: [
      { models: /^kimi-k3/, fields: effortLevels(['low', 'high', 'max']) },
      { models: /^kimi-k2\.[56]/, fields: { none: THINKING_OFF, high: THINKING_ON } },
    ],
  },
  zai: {
    // Otherwise the thoughts of earlier turns are dropped, and arguments come only when they are complete:
    // https://docs.z.ai/guides/tools/stream-tool
    body: { thinking: { type: 'enabled', clear_thinking: false } },
    bodyWithTools: { tool_stream: true },
    efforts: [
      { models: /^glm-5\.3/i, fields: effortLevels(['low', 'high', 'max']) },
      { models: /^glm-5\.2/i, fields: effortLevels(['none', 'high', 'max']) },
      { fields: { none: THINKING_OFF, high: {} } },
    ],
    // https://docs.z.ai/api-reference/api-code. The messages may be Chinese, and most come with HTTP 429.
    errors: [
      { text: /\bcode: (?:1113|1308|1309|1310)\b/, ...SPENT },
      { text: /\bcode: 1211\b/, kind: 'not_found', isTransient: false },
      { text: /\bcode: 1261\b/, kind: 'context_overflow', isTransient: false },
    ],
  },
  qwen: {
    // It is off by default.
    bodyWithTools: { parallel_tool_calls: true },
    efforts: [
      {
        models: /^qwen3\.8-max/,
        fields: effortLevels(['none', 'low', 'medium', 'xhigh']),
      },
      { models: /coder/, fields: {} },
      { fields: { none: { enable_thinking: false }, high: { enable_thinking: true } } },
    ],
    errors: [
      // A limit of tokens per minute, unlike at OpenAI.
      { text: /\binsufficient_quota\b/, kind: 'rate_limit', isTransient: true },
      {
        text: /\b(?:Arrearage|PrepaidBillOverdue|PostpaidBillOverdue|CommodityNotPurchased|FreeTierOnly|Unpurchased)\b/,
        ...SPENT,
      },
      { text: /\bEndpoint\.AccessDenied\b/, kind: 'not_found', isTransient: false },
    ],
  },
  minimax: {
    efforts: [
      {
        models: /^MiniMax-M3$/i,
        fields: { none: THINKING_OFF, high: { thinking: { type: 'adaptive' } } },
      },
      { fields: {} },
    ],
    // https://platform.minimax.io/docs/api-reference/errorcode. The code is in parentheses at the end of the
    // message, or in `base_resp`, which may come with HTTP 200.
    errors: [
      { text: /context window exceeds limit/i, kind: 'context_overflow', isTransient: false },
      { text: /\bunknown model\b/i, kind: 'not_found', isTransient: false },
      { text: /\((?:1008|2056)\)|\bcode: (?:1008|2056)\b/, ...SPENT },
      {
        text: /\((?:1004|2049)\)|\bcode: (?:1004|2049)\b/,
        kind: 'auth',
        isTransient: false,
      },
      { text: /\(1002\)|\bcode: 1002\b/, kind: 'rate_limit', isTransient: true },
      {
        text: /\((?:1026|2013)\)|\bcode: (?:1026|2013)\b/,
        kind: 'bad_request',
        isTransient: false,
      },
    ],
  },
  perplexity: {
    // "max_output_tokens is required when using Anthropic models"
    outputLimit: 32_000,
    efforts: [{ fields: reasoningEfforts(['minimal', 'low', 'medium', 'high', 'xhigh', 'max']) }],
    errors: [{ text: /\bchat_completions_not_available\b/, kind: 'not_found', isTransient: false }],
  },
  ollama: { thoughts: 'reasoning' },
  // It is off by default.
  llamacpp: { bodyWithTools: { parallel_tool_calls: true } },
  // It drops `reasoning_content`: vllm/entrypoints/chat_utils.py
  vllm: { thoughts: 'reasoning' },
};
