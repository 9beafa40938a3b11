import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type { FinishReason, Usage } from '../protocol/model.ts';
import type { Attributes } from './span-record.ts';

/** The maximum length of a name in a span, in code points (`otel_name_characters`). */
const MAX_NAME_LENGTH = 200;

/**
 * Returns a name from outside as it stands in spans: on one line, without control characters, and not too long. Names
 * of agents, tools and models may come from anywhere, and some readers print them to a terminal.
 */
export function toSpanName(name: string): string {
  return truncate(sanitizeLine(name).toWellFormed(), MAX_NAME_LENGTH);
}

/** The names that the GenAI conventions give providers for which Muster has other names. */
const PROVIDER_NAMES: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['mistral', 'mistral_ai'],
  ['moonshot', 'moonshot_ai'],
  ['xai', 'x_ai'],
]);

/** The parts of a model's name, as the conventions call them. */
export interface ModelParts {
  readonly provider: string;
  readonly id: string;
}

/** Splits `provider/id`. A name without a provider, which an old log may contain, gets the provider `unknown`. */
export function splitModelName(name: string): ModelParts {
  const slash = name.indexOf('/');
  const provider = slash < 0 ? 'unknown' : name.slice(0, slash);
  return {
    provider: toSpanName(PROVIDER_NAMES.get(provider) ?? provider),
    id: toSpanName(name.slice(slash + 1)),
  };
}

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  tool_calls: 'tool_call',
  length: 'length',
  content_filter: 'content_filter',
  other: 'other',
};

export function toFinishReason(reason: FinishReason): string {
  return FINISH_REASONS[reason];
}

/** Returns the number of input tokens as the conventions count them, which includes those of the cache. */
export function countInputTokens({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

/** Returns the attributes of a usage. Those of the cache and of reasoning are left out if they are 0. */
export function usageAttributes(usage: Usage): Attributes {
  const { output, cacheRead, cacheWrite, reasoning } = usage;
  return {
    'gen_ai.usage.input_tokens': countInputTokens(usage),
    'gen_ai.usage.output_tokens': output,
    ...(cacheRead === 0 ? {} : { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
    ...(cacheWrite === 0 ? {} : { 'gen_ai.usage.cache_write.input_tokens': cacheWrite }),
    ...(reasoning === 0 ? {} : { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
  };
}
