import type { JsonObject } from '../../../base/json.ts';
import { asNumber, asObject } from '../answers/reader.ts';
import type { ReportedUsage } from '../answers/reported-usage.ts';

/** Reads a usage object, also with the field names of other protocols, which gateways pass on. */
export function readChatUsage(usage: JsonObject): ReportedUsage {
  const promptDetails = asObject(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const outputDetails = asObject(
    usage['completion_tokens_details'] ?? usage['output_tokens_details'],
  );
  const output = asNumber(usage['completion_tokens'] ?? usage['output_tokens']);
  const total = asNumber(usage['total_tokens']);
  return {
    prompt:
      asNumber(usage['prompt_tokens'] ?? usage['input_tokens']) ??
      (total === undefined || output === undefined ? undefined : total - output),
    cacheRead:
      asNumber(promptDetails?.['cached_tokens']) ??
      // Moonshot and DeepSeek.
      asNumber(usage['cached_tokens'] ?? usage['prompt_cache_hit_tokens']),
    output,
    reasoning: asNumber(outputDetails?.['reasoning_tokens']),
  };
}
