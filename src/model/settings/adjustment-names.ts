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
  'custom_tools',
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
