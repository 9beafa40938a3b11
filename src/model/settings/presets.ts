import type { Tier } from '../../protocol/model.ts';
import type { AdjustmentName } from './adjustment-names.ts';

/** The wire protocol that a provider uses. */
export type ProtocolName =
  | 'anthropic'
  | 'openai-responses'
  | 'openai-chat'
  | 'google'
  | 'bedrock-converse';

/** The known facts about a provider, so that a key, or nothing at all, is enough to use it. */
export interface ProviderPreset {
  /** The name of the provider for people. */
  readonly title: string;
  readonly protocol: ProtocolName;
  readonly baseUrl: string;
  /** The environment variable for another base URL. Default: there is none. */
  readonly baseUrlKey?: string;
  /** The environment variable for a bearer token, which has priority over the keys. Default: there is none. */
  readonly token?: string;
  /** The environment variables for a key. The first that is set is used. */
  readonly keys: readonly string[];
  /** True for a server that people run themselves, which needs no key by default. */
  readonly isLocal?: true;
  /** The page on which a person creates a key. Default: the provider needs no key. */
  readonly keyPage?: string;
  /** The path below the base URL that only a valid key can read. Default: `/models`, if it needs a key. */
  readonly keyPath?: string;
  /** Matches the host names of the provider. Default: it has none of its own. */
  readonly hosts?: RegExp;
  /**
   * A good model of each tier for a first run, as far as the provider has fixed ids. The catalogue has a price for
   * them unless the model is newer than the catalogue.
   */
  readonly tiers: Readonly<Partial<Record<Tier, string>>>;
  /** Matches the provider's own model ids. It finds the provider of an id that is given without one. */
  readonly ids?: RegExp;
  /** The headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The parts that are left out of requests from the first one on. Default: none. */
  readonly omit?: readonly AdjustmentName[];
}

/**
 * The known providers, in the order in which their keys are looked for. docs/providers.md lists them for users.
 */
const TABLE = {
  anthropic: {
    title: 'Anthropic',
    protocol: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    baseUrlKey: 'ANTHROPIC_BASE_URL',
    // Claude Code's order: https://code.claude.com/docs/en/authentication
    token: 'ANTHROPIC_AUTH_TOKEN',
    keys: ['ANTHROPIC_API_KEY'],
    keyPage: 'https://platform.claude.com/settings/keys',
    hosts: /^api\.anthropic\.com$/,
    tiers: { fast: 'claude-haiku-4-5', balanced: 'claude-sonnet-5', powerful: 'claude-opus-5-5' },
    ids: /^claude-/,
  },
  openai: {
    title: 'OpenAI',
    protocol: 'openai-responses',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlKey: 'OPENAI_BASE_URL',
    keys: ['OPENAI_API_KEY'],
    keyPage: 'https://platform.openai.com/api-keys',
    hosts: /^api\.openai\.com$/,
    tiers: { fast: 'gpt-6-luna', balanced: 'gpt-6-sol', powerful: 'gpt-6-astra' },
    ids: /^(gpt-|chatgpt-|codex-|o\d)/,
  },
  google: {
    title: 'Google Gemini',
    protocol: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    baseUrlKey: 'GOOGLE_GEMINI_BASE_URL',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    keyPage: 'https://aistudio.google.com/apikey',
    hosts: /^generativelanguage\.googleapis\.com$/,
    tiers: {
      fast: 'gemini-3.5-flash-lite',
      balanced: 'gemini-3.8-flash',
      powerful: 'gemini-4-argon',
    },
    ids: /^(gemini-|gemma-)/,
  },
  openrouter: {
    title: 'OpenRouter',
    protocol: 'openai-chat',
    baseUrl: 'https://openrouter.ai/api/v1',
    baseUrlKey: 'OPENROUTER_BASE_URL',
    keys: ['OPENROUTER_API_KEY'],
    keyPage: 'https://openrouter.ai/keys',
    // The limits of a key; the list of models is public: https://openrouter.ai/docs/api-reference/limits
    keyPath: '/key',
    hosts: /^openrouter\.ai$/,
    // These names lead to the newest model of a family.
    tiers: {
      fast: '~anthropic/claude-haiku-latest',
      balanced: '~anthropic/claude-sonnet-latest',
      powerful: '~anthropic/claude-opus-latest',
    },
    // The name of the program in the user's list of requests: https://openrouter.ai/docs/app-attribution
    headers: { 'x-openrouter-title': 'Muster', 'x-openrouter-categories': 'cli-agent' },
  },
  deepseek: {
    title: 'DeepSeek',
    protocol: 'openai-chat',
    baseUrl: 'https://api.deepseek.com',
    baseUrlKey: 'DEEPSEEK_BASE_URL',
    keys: ['DEEPSEEK_API_KEY'],
    keyPage: 'https://platform.deepseek.com/api_keys',
    hosts: /^api\.deepseek\.com$/,
    tiers: { fast: 'deepseek-flash', balanced: 'deepseek-v4-pro' },
    // It thinks by default, and then refuses calls without thoughts: https://api-docs.deepseek.com/guides/thinking_mode
    omit: ['calls_without_reasoning'],
  },
  mistral: {
    title: 'Mistral',
    protocol: 'openai-chat',
    baseUrl: 'https://api.mistral.ai/v1',
    keys: ['MISTRAL_API_KEY'],
    keyPage: 'https://console.mistral.ai/api-keys',
    hosts: /^(?:api|codestral)\.mistral\.ai$/,
    tiers: { fast: 'mistral-small-latest', balanced: 'mistral-medium-latest' },
    // Its schema does not know `stream_options`: https://docs.mistral.ai/api. Its rules for calls hold for all models.
    omit: ['stream_options', 'long_call_ids', 'user_after_tool'],
  },
  groq: {
    title: 'Groq',
    protocol: 'openai-chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    keyPage: 'https://console.groq.com/keys',
    hosts: /^api\.groq\.com$/,
    tiers: { fast: 'openai/gpt-oss-20b', balanced: 'openai/gpt-oss-120b' },
    // `max_tokens` is the deprecated name: https://console.groq.com/docs/api-reference
    omit: ['max_tokens'],
  },
  cerebras: {
    title: 'Cerebras',
    protocol: 'openai-chat',
    baseUrl: 'https://api.cerebras.ai/v1',
    keys: ['CEREBRAS_API_KEY'],
    keyPage: 'https://cloud.cerebras.ai',
    hosts: /^api\.cerebras\.ai$/,
    tiers: { fast: 'gpt-oss-120b', balanced: 'qwen-3.8-27b' },
    headers: { 'x-cerebras-3rd-party-integration': 'muster' },
    // https://inference-docs.cerebras.ai/resources/openai
    omit: ['parallel_tool_calls', 'max_tokens'],
  },
  xai: {
    title: 'xAI',
    // Its Chat Completions are deprecated, and cannot send thoughts back.
    protocol: 'openai-responses',
    baseUrl: 'https://api.x.ai/v1',
    keys: ['XAI_API_KEY'],
    keyPage: 'https://console.x.ai',
    hosts: /^(?:[\w-]+\.)?api\.x\.ai$/,
    tiers: { fast: 'grok-build-0.1', balanced: 'grok-4.6', powerful: 'grok-4.7' },
  },
  together: {
    title: 'Together AI',
    protocol: 'openai-chat',
    baseUrl: 'https://api.together.ai/v1',
    keys: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
    keyPage: 'https://api.together.ai/settings/api-keys',
    hosts: /^api\.together\.(?:ai|xyz)$/,
    tiers: {
      fast: 'zai-org/GLM-5.3-Flash',
      balanced: 'zai-org/GLM-5.3',
      powerful: 'moonshotai/Kimi-K3',
    },
  },
  fireworks: {
    title: 'Fireworks AI',
    protocol: 'openai-chat',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keys: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY'],
    keyPage: 'https://app.fireworks.ai/settings/users/api-keys',
    hosts: /^api\.fireworks\.ai$/,
    tiers: {
      fast: 'accounts/fireworks/models/glm-5p3-flash',
      balanced: 'accounts/fireworks/models/glm-5p3',
      powerful: 'accounts/fireworks/models/kimi-k3',
    },
  },
  moonshot: {
    title: 'Moonshot AI (Kimi)',
    protocol: 'openai-chat',
    baseUrl: 'https://api.moonshot.ai/v1',
    keys: ['MOONSHOT_API_KEY'],
    keyPage: 'https://platform.kimi.ai/console/api-keys',
    hosts: /^api\.(?:moonshot\.(?:ai|cn)|kimi\.com)$/,
    tiers: { balanced: 'kimi-k3.1-pro' },
    // "invalid temperature: only 1 is allowed for this model"; `max_tokens` stands for the limit of the older API.
    omit: ['calls_without_reasoning', 'max_tokens', 'temperature', 'top_p', 'strict'],
  },
  zai: {
    title: 'Z.ai',
    protocol: 'openai-chat',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keys: ['ZAI_API_KEY', 'Z_AI_API_KEY'],
    keyPage: 'https://z.ai/model-api',
    hosts: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    tiers: { fast: 'glm-5.3-flash', balanced: 'glm-5.3' },
    // "Tool choice must be auto"
    omit: ['tool_choice'],
  },
  qwen: {
    title: 'Qwen (Alibaba Model Studio)',
    protocol: 'openai-chat',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    baseUrlKey: 'DASHSCOPE_BASE_URL',
    keys: ['DASHSCOPE_API_KEY'],
    keyPage: 'https://modelstudio.console.alibabacloud.com/',
    hosts:
      /^(?:dashscope[a-z-]*\.aliyuncs\.com|coding[a-z-]*\.dashscope\.aliyuncs\.com|[\w.-]+\.maas\.aliyuncs\.com)$/,
    tiers: { fast: 'qwen3.8-flash', balanced: 'qwen3.7-plus', powerful: 'qwen3.8-max' },
  },
  minimax: {
    title: 'MiniMax',
    // Its other protocol mixes the thoughts into the text.
    protocol: 'anthropic',
    baseUrl: 'https://api.minimax.io/anthropic',
    keys: ['MINIMAX_API_KEY'],
    keyPage: 'https://platform.minimax.io/user-center/basic-information/interface-key',
    hosts: /^api\.minimaxi?\.(?:io|com)$/,
    tiers: { fast: 'MiniMax-M2.7-highspeed', balanced: 'MiniMax-M3' },
  },
  perplexity: {
    title: 'Perplexity',
    // The Chat Completions of its Sonar models ended on 2026-09-27.
    protocol: 'openai-responses',
    baseUrl: 'https://api.perplexity.ai/v1',
    keys: ['PERPLEXITY_API_KEY'],
    keyPage: 'https://console.perplexity.ai',
    hosts: /^api\.perplexity\.ai$/,
    tiers: {
      fast: 'openai/gpt-5.6-luna',
      balanced: 'anthropic/claude-sonnet-5',
      powerful: 'anthropic/claude-opus-5',
    },
  },
  lmstudio: {
    title: 'LM Studio',
    protocol: 'openai-chat',
    baseUrl: 'http://127.0.0.1:1234/v1',
    keys: ['LM_API_TOKEN', 'LMSTUDIO_API_KEY'],
    isLocal: true,
    tiers: {},
  },
  ollama: {
    title: 'Ollama',
    protocol: 'openai-chat',
    baseUrl: 'http://127.0.0.1:11434/v1',
    baseUrlKey: 'OLLAMA_HOST',
    keys: ['OLLAMA_API_KEY'],
    isLocal: true,
    hosts: /^ollama\.com$/,
    tiers: {},
  },
  llamacpp: {
    title: 'llama.cpp',
    protocol: 'openai-chat',
    baseUrl: 'http://127.0.0.1:8080/v1',
    keys: [],
    isLocal: true,
    tiers: {},
  },
  vllm: {
    title: 'vLLM',
    protocol: 'openai-chat',
    baseUrl: 'http://127.0.0.1:8000/v1',
    keys: ['VLLM_API_KEY'],
    isLocal: true,
    tiers: {},
  },
  litellm: {
    title: 'LiteLLM',
    protocol: 'openai-chat',
    baseUrl: 'http://127.0.0.1:4000/v1',
    baseUrlKey: 'LITELLM_PROXY_API_BASE',
    keys: ['LITELLM_PROXY_API_KEY', 'LITELLM_API_KEY'],
    isLocal: true,
    tiers: {},
  },
} as const satisfies Readonly<Record<string, ProviderPreset>>;

/** The name of a known provider. */
export type PresetName = keyof typeof TABLE;

export const PRESETS: Readonly<Record<PresetName, ProviderPreset>> = TABLE;

/** The names of the known providers, in the order in which their keys are looked for. */
export const PRESET_NAMES = Object.keys(TABLE).filter(isPreset);

/** Returns true if a name is that of a known provider. */
export function isPreset(name: string): name is PresetName {
  return Object.hasOwn(TABLE, name);
}

/** Finds the provider to which a host belongs; null: it belongs to none of them. */
export function findPresetByHost(host: string): PresetName | null {
  return PRESET_NAMES.find((name) => PRESETS[name].hosts?.test(host) === true) ?? null;
}
