import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { ThoughtsField } from '../../settings/provider-quirks.ts';
import type { AssistantContent } from '../protocol-adapter.ts';
import { asNumber, asObjects, asText } from '../answers/json-fields.ts';

// Thoughts have no field in OpenAI's Chat Completions. Servers send them in fields of their own, and most of them
// accept thoughts only in the field in which they send them.

/** A piece of a thought as a server sent it. */
export interface ThoughtPiece {
  readonly text: string;
  /** The key of the thought that the piece belongs to. Default: the thought that is being received. */
  readonly key?: string;
  /** The metadata with which the thought can be sent back in its field. Default: none is needed. */
  readonly meta?: JsonObject;
}

/** Reads the thoughts in a delta or message. */
export function readThoughts(holder: JsonObject): readonly ThoughtPiece[] {
  // OpenRouter, MiniMax: https://openrouter.ai/docs/use-cases/reasoning-tokens
  const details = asObjects(holder['reasoning_details']).map(readDetail);
  // The same text is repeated in a plain field.
  if (details.some(({ text }) => text !== '')) return details;
  return [...readPlainThought(holder), ...details];
}

function readPlainThought(holder: JsonObject): readonly ThoughtPiece[] {
  const content = asText(holder['reasoning_content']);
  if (content !== undefined) return [{ text: content }];
  const reasoning = asText(holder['reasoning']);
  if (reasoning !== undefined) return [{ text: reasoning, meta: { field: 'reasoning' } }];
  const thinking = asText(holder['thinking']);
  return thinking === undefined ? [] : [{ text: thinking }];
}

/** Reads one of `reasoning_details`. Its text becomes that of the thought, and the other fields its metadata. */
function readDetail(detail: JsonObject): ThoughtPiece {
  const { text, summary, ...meta } = detail;
  const key = `${asText(meta['type']) ?? ''} ${asNumber(meta['index']) ?? ''}`;
  return { text: asText(text) ?? asText(summary) ?? '', key, meta };
}

type Thought = Extract<AssistantContent[number], { readonly type: 'reasoning' }>;

/** The key of the provider package's metadata. */
export const CHAT_META_KEY = 'openaiCompatible';

/**
 * Returns the fields of a message that contain the thoughts of an answer. Returns null if it has none, or if the
 * package writes them as `reasoning_content`. `preferred`: the field in which the server expects thoughts; undefined:
 * the field in which they came.
 */
export function toThoughtFields(
  content: AssistantContent,
  preferred: ThoughtsField | undefined,
): JsonObject | null {
  const thoughts = content.filter((part) => part.type === 'reasoning');
  if (thoughts.length === 0) return null;
  const text = thoughts.map((thought) => thought.text).join('');
  switch (preferred ?? findReceivedField(thoughts)) {
    case 'reasoning':
      return { reasoning: text };
    case 'reasoning_details': {
      const details = thoughts.flatMap(toDetail);
      return details.length > 0 ? { reasoning_details: details } : { reasoning: text };
    }
    case 'content':
      return { content: [toThinkingPart(text), ...toTextParts(content)] };
    case 'reasoning_content':
      return null;
  }
}

function findReceivedField(thoughts: readonly Thought[]): ThoughtsField {
  if (thoughts.some((thought) => toDetail(thought).length > 0)) return 'reasoning_details';
  const isReasoning = thoughts.some((thought) => metaOf(thought)['field'] === 'reasoning');
  return isReasoning ? 'reasoning' : 'reasoning_content';
}

function metaOf({ providerOptions }: Thought): JsonObject {
  const meta: unknown = providerOptions?.[CHAT_META_KEY];
  return isJsonObject(meta) ? meta : {};
}

/** Returns the detail that a thought was read from; empty: it was read from another field. */
function toDetail(thought: Thought): readonly JsonObject[] {
  const { type, ...rest } = metaOf(thought);
  if (typeof type !== 'string') return [];
  if (thought.text === '') return [{ type, ...rest }];
  const field = type === 'reasoning.summary' ? 'summary' : 'text';
  return [{ type, [field]: thought.text, ...rest }];
}

/** Returns a thought as a part of a content: https://docs.mistral.ai/capabilities/reasoning */
function toThinkingPart(text: string): JsonObject {
  return { type: 'thinking', thinking: [{ type: 'text', text }], closed: true };
}

function toTextParts(content: AssistantContent): readonly JsonObject[] {
  return content.flatMap((part) =>
    part.type === 'text' ? [{ type: 'text', text: part.text }] : [],
  );
}
