import type { Tier, TokenPrices } from '../../protocol/model.ts';

/** The values of `kind` in `[models.providers.NAME]`. */
export const PROVIDER_KINDS = [
  'anthropic',
  'openai',
  'openai-responses',
  'google',
  'openai-compatible',
  'ollama',
] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** The adjustments that `omit` in `[models.providers.NAME]` can name: parts that are left out of requests. */
export const ADJUSTMENT_NAMES = [
  'stream_options',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'prompt_cache_key',
  'tool_choice',
  'store',
  'include',
  'strict',
  'eager_input_streaming',
  'cache_control',
  'max_tokens',
  'max_completion_tokens',
  'output_limit',
  'developer_role',
  'system_role',
  'long_call_ids',
  'user_after_tool',
  'calls_without_reasoning',
  'reasoning_content',
] as const;
export type AdjustmentName = (typeof ADJUSTMENT_NAMES)[number];

/** Returns true if a value is the name of an adjustment. */
export function isAdjustment(name: unknown): name is AdjustmentName {
  return ADJUSTMENT_NAMES.some((known) => known === name);
}

/** The settings of a provider: `[models.providers.NAME]`. */
export interface ProviderSettings {
  /** The parts that are left out of requests. Default: none, until the server refuses one. */
  readonly omit?: readonly AdjustmentName[];
  readonly baseUrl?: string;
  /** The name of the environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly kind?: ProviderKind;
}

/** A list of models that are tried in turn when another model fails. */
export interface FallbackList {
  /** The configuration key or flag that contains the list. */
  readonly setting: string;
  /** The tier whose models they replace; null: they replace any model. */
  readonly tier: Tier | null;
  readonly models: readonly string[];
}

/** The settings of models: `[models]` of the configuration, and the flag. */
export interface ModelSettings {
  /** The value of `--model`. */
  readonly flag?: string;
  readonly default?: string;
  readonly fast?: string;
  readonly balanced?: string;
  readonly powerful?: string;
  /** The overrides in `[models.catalogue."PROVIDER/MODEL"]`. Default: none. */
  readonly catalogue?: ModelOverrides;
  /** The fallback models. Default: none. */
  readonly fallbacks?: readonly FallbackList[];
  readonly providers: Readonly<Record<string, ProviderSettings>>;
}

/** The kinds of attachments that a model can be configured to accept. */
export const ATTACHMENT_KINDS = ['image', 'pdf'] as const;
export type AttachmentKind = (typeof ATTACHMENT_KINDS)[number];

/** The configured properties of a model. They have priority over the table of limits and the catalogue. */
export interface ModelOverride {
  readonly contextWindow?: number;
  /** The limit in tokens on the answer to each request. */
  readonly outputLimit?: number;
  readonly price?: TokenPrices;
  readonly attachments?: readonly AttachmentKind[];
}

/** The overrides by `provider/id`. */
type ModelOverrides = ReadonlyMap<string, ModelOverride>;

/** The source of a price from an override, for messages. */
export const OVERRIDE_SOURCE = 'config.toml';
