import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { PromptBlock } from './codec.ts';

/** Fields that only steer a provider's cache: two prompts that differ in them alone are the same. */
const CACHE_MARKERS = new Set(['cache_control', 'prompt_cache_breakpoint']);

export function promptBlock(section: PromptBlock['section'], value: JsonValue): PromptBlock {
  let breakpoint = false;
  const text = JSON.stringify(value, (key, inner: JsonValue) => {
    if (!CACHE_MARKERS.has(key)) return inner;
    breakpoint = true;
    return undefined;
  });
  return { section, text, breakpoint };
}

/** A message's parts as one block each: what a provider caches, and what a later turn may append to. */
export function partBlocks(
  section: PromptBlock['section'],
  role: JsonValue | undefined,
  content: JsonValue | undefined,
): readonly PromptBlock[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(parts)) return [];
  return parts.map((part: JsonObject) => promptBlock(section, { role, part }));
}
