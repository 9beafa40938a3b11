import type { JsonObject } from '../../../base/json.ts';
import { numberOf, objectOf } from './reader.ts';
import type { ReportedUsage } from './usage.ts';

/** Returns the usage that an object reports, also under the names of other protocols: gateways pass them on. */
export function chatUsage(usage: JsonObject): ReportedUsage {
  const promptDetails = objectOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const outputDetails = objectOf(
    usage['completion_tokens_details'] ?? usage['output_tokens_details'],
  );
  const output = numberOf(usage['completion_tokens'] ?? usage['output_tokens']);
  const total = numberOf(usage['total_tokens']);
  return {
    prompt:
      numberOf(usage['prompt_tokens'] ?? usage['input_tokens']) ??
      (total === undefined || output === undefined ? undefined : total - output),
    cacheRead:
      numberOf(promptDetails?.['cached_tokens']) ??
      // Moonshot and DeepSeek.
      numberOf(usage['cached_tokens'] ?? usage['prompt_cache_hit_tokens']),
    output,
    reasoning: numberOf(outputDetails?.['reasoning_tokens']),
  };
}
