import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import type { ParsedBody } from '../wire-request.ts';

/** An answer with everything decided, ready to be put into a protocol's words. */
export interface PreparedAnswer {
  /** Unique among the server's answers; protocols put their prefix before it. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  /** The pieces it is streamed in. Null: none. May be endless. */
  readonly thinking: Iterable<string> | null;
  readonly text: Iterable<string> | null;
  readonly calls: readonly StreamedCall[];
  readonly usage: Usage;
  readonly stop: 'stop' | 'tool_calls' | 'length' | 'content_filter';
}

export interface StreamedCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, unless it is broken on purpose. */
  readonly args: string;
  readonly pieces: readonly string[];
  /** `cut`: the answer ended for length inside of it. `broken`: the model wrote invalid JSON. */
  readonly state: 'whole' | 'cut' | 'broken';
}

/**
 * One event of a stream as the bytes that are sent. `open` comes before any content, `close` tells
 * that the answer is whole. A `piece` carries one piece of thinking, text or a call, what else there
 * is of content comes with it; the one with `usage` carries the final usage.
 */
export interface Frame {
  readonly stage: 'open' | 'content' | 'close';
  readonly text: string;
  readonly piece?: true;
  readonly usage?: true;
}

/** A stretch of the prompt in the order in which a provider caches it: tools, system, messages. */
export interface PromptBlock {
  readonly section: 'tools' | 'system' | 'messages';
  /** JSON without cache markers. */
  readonly text: string;
  /** A cache marker stood on it. */
  readonly breakpoint: boolean;
}

/** One wire protocol: reads requests, writes answers. Pure. */
export interface WireCodec {
  readonly callIdPrefix: string;
  /** How the provider's cache works: where the client marks it, or on any long prefix. */
  readonly cache: 'breakpoints' | 'automatic';
  parse(body: JsonObject, path: string): ParsedBody;
  blocks(body: JsonObject): readonly PromptBlock[];
  frames(answer: PreparedAnswer, request: ParsedBody): Iterable<Frame>;
  /** The answer as one JSON body. */
  whole(answer: PreparedAnswer, request: ParsedBody): JsonObject;
  /** The body of an HTTP error. */
  errorBody(status: number, message: string): JsonObject;
  /** The error with which the provider breaks off a stream when it is overloaded. */
  readonly overloaded: { readonly status: number; readonly message: string };
  /** The event with which it breaks off a stream for what would be that HTTP status. */
  errorEvent(status: number, message: string): string;
  /** A sign of life without content. */
  readonly ping: string;
}

/** A server-sent event as bytes; `event` names it where the protocol does. */
export function sse(data: object, event?: string): string {
  const head = event === undefined ? '' : `event: ${event}\n`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}

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
