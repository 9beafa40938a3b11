import type { JsonObject } from '../../../base/json.ts';
import { numberOf, objectOf, textOf } from './reader.ts';
import type { ReportedUsage } from './usage.ts';

export type BlockKind = 'text' | 'reasoning' | 'call' | 'unknown';

/** Returns the type of a block, by its other fields where it has none; undefined: they do not tell. */
export function typeOfBlock(block: JsonObject): string | undefined {
  const type = textOf(block['type']);
  if (type !== undefined) return type;
  if (textOf(block['name']) !== undefined) return 'tool_use';
  if (typeof block['thinking'] === 'string') return 'thinking';
  return typeof block['text'] === 'string' ? 'text' : undefined;
}

/** Returns the kind of block that an answer keeps for a type of the protocol. */
export function blockKind(type: string): BlockKind {
  switch (type) {
    case 'text':
      return 'text';
    case 'thinking':
    case 'redacted_thinking':
      return 'reasoning';
    default:
      return type === 'tool_use' ? 'call' : 'unknown';
  }
}

/** Returns the type of a delta, by its other fields where it has none. */
export function deltaType(delta: JsonObject): string | undefined {
  const type = textOf(delta['type']);
  if (type !== undefined) return type;
  if (delta['text'] !== undefined) return 'text_delta';
  if (delta['thinking'] !== undefined) return 'thinking_delta';
  return delta['partial_json'] === undefined ? undefined : 'input_json_delta';
}

/** Returns the usage that an object of the protocol reports; some servers use the names of Chat. */
export function anthropicUsage(usage: JsonObject): ReportedUsage {
  return {
    uncached: numberOf(usage['input_tokens'] ?? usage['prompt_tokens']),
    cacheRead: numberOf(usage['cache_read_input_tokens']),
    cacheWrite: numberOf(usage['cache_creation_input_tokens']),
    output: numberOf(usage['output_tokens'] ?? usage['completion_tokens']),
    reasoning: numberOf(objectOf(usage['output_tokens_details'])?.['thinking_tokens']),
  };
}
