import type { Tier } from '../../protocol/model.ts';
import type { AdjustmentName } from './adjustment-names.ts';

/** The wire protocol that a provider uses. */
export type ProtocolName = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

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
  /**
   * True if a key in the environment is only used after a model or setting has named the provider, since the
   * variable usually holds a key for something else.
   */
  readonly isOptIn?: true;
  /** True for a server that people run themselves, which needs no key by default. */
  readonly isLocal?: true;
  /** The page on which a person creates a key. Default: the provider needs no key. */
  readonly keyPage?: string;
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
    keyPage: 'https://openrouter.ai/settings/keys',
    hosts: /^openrouter\.ai$/,
    // These names lead to the newest model of a family.
    tiers: {
      fast: '~openai/gpt-mini-latest',
      balanced: '~anthropic/claude-sonnet-latest',
      powerful: '~anthropic/claude-opus-latest',
    },
    // The name of the program in OpenRouter's list of requests: https://openrouter.ai/docs/app-attribution
    headers: { 'x-title': 'Muster' },
  },
  deepseek: {
    title: 'DeepSeek',
    protocol: 'openai-chat',
    baseUrl: 'https://api.deepseek.com/v1',
    keys: ['DEEPSEEK_API_KEY'],
    keyPage: 'https://platform.deepseek.com/api_keys',
    hosts: /^api\.deepseek\.com$/,
    tiers: { fast: 'deepseek-v4-flash', balanced: 'deepseek-v4-pro' },
  },
  mistral: {
    title: 'Mistral',
    protocol: 'openai-chat',
    baseUrl: 'https://api.mistral.ai/v1',
    keys: ['MISTRAL_API_KEY'],
    keyPage: 'https://console.mistral.ai/api-keys',
    hosts: /^(?:api|codestral)\.mistral\.ai$/,
    tiers: {
      fast: 'mistral-small-latest',
      balanced: 'devstral-latest',
      powerful: 'mistral-large-latest',
    },
    omit: ['stream_options', 'reasoning_content'],
  },
  groq: {
    title: 'Groq',
    protocol: 'openai-chat',
    baseUrl: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    keyPage: 'https://console.groq.com/keys',
    hosts: /^api\.groq\.com$/,
    tiers: { fast: 'openai/gpt-oss-20b', balanced: 'openai/gpt-oss-120b' },
  },
  cerebras: {
    title: 'Cerebras',
    protocol: 'openai-chat',
    baseUrl: 'https://api.cerebras.ai/v1',
    keys: ['CEREBRAS_API_KEY'],
    keyPage: 'https://cloud.cerebras.ai/platform',
    hosts: /^api\.cerebras\.ai$/,
    tiers: { fast: 'gpt-oss-120b', balanced: 'zai-glm-4.7' },
  },
  xai: {
    title: 'xAI',
    protocol: 'openai-chat',
    baseUrl: 'https://api.x.ai/v1',
    keys: ['XAI_API_KEY'],
    keyPage: 'https://console.x.ai',
    hosts: /^(?:[\w-]+\.)?api\.x\.ai$/,
    tiers: { fast: 'grok-code-fast-1', balanced: 'grok-4.6' },
  },
  together: {
    title: 'Together AI',
    protocol: 'openai-chat',
    baseUrl: 'https://api.together.xyz/v1',
    keys: ['TOGETHER_API_KEY', 'TOGETHERAI_API_KEY', 'TOGETHER_AI_API_KEY'],
    keyPage: 'https://api.together.ai/settings/api-keys',
    hosts: /^api\.together\.(?:xyz|ai)$/,
    tiers: { fast: 'openai/gpt-oss-20b', balanced: 'zai-org/GLM-5.2' },
  },
  fireworks: {
    title: 'Fireworks AI',
    protocol: 'openai-chat',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keys: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY'],
    keyPage: 'https://app.fireworks.ai/settings/users/api-keys',
    hosts: /^api\.fireworks\.ai$/,
    tiers: {
      fast: 'accounts/fireworks/models/gpt-oss-20b',
      balanced: 'accounts/fireworks/models/glm-5p2',
    },
  },
  moonshot: {
    title: 'Moonshot AI (Kimi)',
    protocol: 'openai-chat',
    baseUrl: 'https://api.moonshot.ai/v1',
    baseUrlKey: 'MOONSHOT_BASE_URL',
    keys: ['MOONSHOT_API_KEY'],
    keyPage: 'https://platform.moonshot.ai/console/api-keys',
    hosts: /^api\.moonshot\.(?:ai|cn)$/,
    tiers: { fast: 'kimi-k2.7-code-highspeed', balanced: 'kimi-k2.7-code', powerful: 'kimi-k3' },
  },
  zai: {
    title: 'Z.ai',
    protocol: 'openai-chat',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keys: ['ZAI_API_KEY', 'Z_AI_API_KEY', 'ZHIPU_API_KEY'],
    keyPage: 'https://z.ai/manage-apikey/apikey-list',
    hosts: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    tiers: { fast: 'glm-5.3-flash', balanced: 'glm-5.3' },
  },
  qwen: {
    title: 'Qwen (Alibaba Model Studio)',
    protocol: 'openai-chat',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    baseUrlKey: 'DASHSCOPE_BASE_URL',
    keys: ['DASHSCOPE_API_KEY'],
    keyPage: 'https://modelstudio.console.alibabacloud.com/?tab=playground#/api-key',
    hosts: /^dashscope[a-z-]*\.aliyuncs\.com$/,
    tiers: { fast: 'qwen3-coder-flash', balanced: 'qwen3-coder-plus', powerful: 'qwen3-max' },
  },
  minimax: {
    title: 'MiniMax',
    protocol: 'openai-chat',
    baseUrl: 'https://api.minimax.io/v1',
    keys: ['MINIMAX_API_KEY'],
    keyPage: 'https://platform.minimax.io/user-center/basic-information/interface-key',
    hosts: /^api\.(?:minimax\.io|minimaxi\.com)$/,
    tiers: { fast: 'MiniMax-M2.7-highspeed', balanced: 'MiniMax-M3' },
  },
  perplexity: {
    title: 'Perplexity',
    protocol: 'openai-chat',
    baseUrl: 'https://api.perplexity.ai',
    keys: ['PERPLEXITY_API_KEY', 'PPLX_API_KEY'],
    keyPage: 'https://www.perplexity.ai/account/api/keys',
    hosts: /^api\.perplexity\.ai$/,
    tiers: { fast: 'sonar', balanced: 'sonar-pro', powerful: 'sonar-reasoning-pro' },
  },
  'github-models': {
    title: 'GitHub Models',
    protocol: 'openai-chat',
    baseUrl: 'https://models.github.ai/inference',
    keys: ['GITHUB_MODELS_TOKEN', 'GITHUB_TOKEN'],
    isOptIn: true,
    keyPage: 'https://github.com/settings/personal-access-tokens',
    hosts: /^models\.github\.ai$/,
    tiers: { fast: 'openai/gpt-4.1-mini', balanced: 'openai/gpt-5' },
    headers: { 'x-github-api-version': '2026-03-10' },
  },
  lmstudio: {
    title: 'LM Studio',
    protocol: 'openai-chat',
    baseUrl: 'http://127.0.0.1:1234/v1',
    keys: ['LM_API_TOKEN'],
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
    keys: ['LLAMA_API_KEY'],
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
    keys: ['LITELLM_API_KEY', 'LITELLM_PROXY_API_KEY', 'LITELLM_MASTER_KEY'],
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
