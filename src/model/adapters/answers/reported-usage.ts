import { toCount, type Usage, type UsageMissing } from '../../../protocol/model.ts';
import type { JsonObject } from '../../../base/json.ts';
import { asNumber, asObject } from './json-fields.ts';

/** The token counts that a server reports. A field that the server did not send is absent. */
export interface ReportedUsage {
  /** The tokens of the full prompt, including those that were read from or written to the cache. */
  readonly prompt?: number | undefined;
  /** The tokens of the prompt that were neither read from nor written to the cache. */
  readonly uncached?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  /** All generated tokens, including reasoning. */
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/**
 * Converts reported counts to the usage that budgets count, and returns which counts are missing. If a server reports
 * only zeros, all counts are missing, because every request uses tokens.
 */
export function toUsage(reported: ReportedUsage): {
  readonly usage: Usage;
  readonly missing: UsageMissing | null;
} {
  const cacheRead = clampCount(reported.cacheRead);
  const cacheWrite = clampCount(reported.cacheWrite);
  const usage: Usage = {
    input: clampCount(reported.uncached ?? clampCount(reported.prompt) - cacheRead - cacheWrite),
    output: clampCount(reported.output),
    cacheRead,
    cacheWrite,
    reasoning: clampCount(reported.reasoning),
  };
  if (usage.input + cacheRead + cacheWrite + usage.output === 0) return { usage, missing: 'all' };
  const hasInput = reported.uncached !== undefined || reported.prompt !== undefined;
  if (!hasInput) return { usage, missing: 'input' };
  return { usage, missing: reported.output === undefined ? 'output' : null };
}

/** Limits a count to the range of safe integers. A negative number would raise a budget, and sums must remain finite. */
function clampCount(tokens: number | undefined): number {
  return Math.min(toCount(tokens), Number.MAX_SAFE_INTEGER);
}

/** Reads a usage object of the OpenAI protocols. The names of both protocols are accepted, because gateways mix them. */
export function readChatUsage(usage: JsonObject): ReportedUsage {
  const promptDetails = asObject(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const outputDetails = asObject(
    usage['completion_tokens_details'] ?? usage['output_tokens_details'],
  );
  const output = asNumber(usage['completion_tokens'] ?? usage['output_tokens']);
  const total = asNumber(usage['total_tokens']);
  const prompt = asNumber(usage['prompt_tokens'] ?? usage['input_tokens']);
  const reasoning = asNumber(outputDetails?.['reasoning_tokens']);
  // xAI counts the reasoning in Chat beside the output and not in it.
  const isBeside =
    prompt !== undefined &&
    output !== undefined &&
    reasoning !== undefined &&
    total === prompt + output + reasoning;
  return {
    prompt: prompt ?? (total === undefined || output === undefined ? undefined : total - output),
    cacheRead: asNumber(
      promptDetails?.['cached_tokens'] ??
        promptDetails?.['cache_read_input_tokens'] ??
        // Moonshot, Together; DeepSeek.
        usage['cached_tokens'] ??
        usage['prompt_cache_hit_tokens'],
    ),
    // OpenRouter; Qwen and Perplexity.
    cacheWrite: asNumber(
      promptDetails?.['cache_write_tokens'] ?? promptDetails?.['cache_creation_input_tokens'],
    ),
    output: isBeside ? output + reasoning : output,
    reasoning,
  };
}
