import type { Tier } from '../protocol/model.ts';
import type { ModelOverrides } from './catalogue/model-overrides.ts';

export const PROVIDER_KINDS = [
  'anthropic',
  'openai',
  'openai-responses',
  'google',
  'openai-compatible',
  'ollama',
] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/** Names of the parts that `omit` in `[models.providers.NAME]` can leave out of requests. */
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

export function isAdjustment(name: unknown): name is AdjustmentName {
  return ADJUSTMENT_NAMES.some((known) => known === name);
}

/** `[models.providers.NAME]`. */
export interface ProviderSettings {
  /** Absent: nothing, until the server refuses it. */
  readonly omit?: readonly AdjustmentName[];
  readonly baseUrl?: string;
  /** Name of the environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly kind?: ProviderKind;
}

/** Models that are tried in turn where another one fails. */
export interface FallbackList {
  /** The key or flag that names them. */
  readonly where: string;
  /** Whose models they stand in for; null: any. */
  readonly tier: Tier | null;
  readonly models: readonly string[];
}

/** `[models]` of the configuration, and the flag. */
export interface ModelSettings {
  /** `--model`. */
  readonly flag?: string;
  readonly default?: string;
  readonly fast?: string;
  readonly balanced?: string;
  readonly powerful?: string;
  /** `[models.catalogue."PROVIDER/MODEL"]`. Absent: none. */
  readonly catalogue?: ModelOverrides;
  /** Absent: none. */
  readonly fallbacks?: readonly FallbackList[];
  readonly providers: Readonly<Record<string, ProviderSettings>>;
}
