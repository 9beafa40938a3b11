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

/** The adjustments that `omit` in `[models.providers.NAME]` can name: changes to requests for servers that refuse a part of them. */
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
  /** The adjustments that are made from the first request on. Default: an adjustment is made after the server refused a part. */
  readonly omit?: readonly AdjustmentName[];
  readonly baseUrl?: string;
  /** The name of the environment variable that contains the API key. */
  readonly apiKeyEnv?: string;
  readonly kind?: ProviderKind;
}

/** A list of models that are tried in turn when another model fails. */
export interface FallbackList {
  /** The configuration key or flag that contains the list. */
  readonly setting: string;
  /** The tier whose models the list replaces; null: it replaces any model. */
  readonly tier: Tier | null;
  readonly models: readonly string[];
}

/** The settings of models: `[models]` of the configuration, and the flag `--model`. */
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

/** The configured properties of a model. They have priority over the table of output limits and over the catalogue. */
export interface ModelOverride {
  readonly contextWindow?: number;
  /** The maximum number of tokens of each answer. */
  readonly outputLimit?: number;
  readonly price?: TokenPrices;
  readonly attachments?: readonly AttachmentKind[];
}

/** The overrides by `provider/id`. */
type ModelOverrides = ReadonlyMap<string, ModelOverride>;

/** The source that is displayed for a price from an override. */
export const OVERRIDE_SOURCE = 'config.toml';
