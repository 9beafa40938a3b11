import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import type { ParsedBody } from '../wire-request.ts';

/** An answer of which everything is decided, so that a protocol can write it. */
export interface PreparedAnswer {
  /** The id of the answer, which is unique in the server. Protocols add a prefix. */
  readonly id: string;
  /** The time of the answer in seconds since the epoch. */
  readonly createdAt: number;
  /** The pieces in which it is streamed, which may be endless; null if there is none. */
  readonly thinking: Iterable<string> | null;
  readonly text: Iterable<string> | null;
  readonly calls: readonly StreamedCall[];
  readonly usage: Usage;
  readonly stop: 'stop' | 'tool_calls' | 'length' | 'content_filter';
}

export interface StreamedCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON, unless it is invalid on purpose. */
  readonly args: string;
  readonly pieces: readonly string[];
  /**
   * The state of the call. `cut`: the answer ended inside it because of its length. `broken`: its JSON is
   * invalid.
   */
  readonly state: 'whole' | 'cut' | 'broken';
}

/**
 * One event of a stream in the form in which it is sent. `open` comes before any content, and `close` says that
 * the answer is complete. `piece`: the event contains a piece of thinking, text or arguments. `usage`: it
 * contains the final usage.
 */
export interface Frame {
  readonly stage: 'open' | 'content' | 'close';
  readonly text: string;
  readonly piece?: true;
  readonly usage?: true;
}

/**
 * A block of the prompt. Blocks are in the order in which a provider caches them: tools, system prompt,
 * messages.
 */
export interface PromptBlock {
  readonly section: 'tools' | 'system' | 'messages';
  /** The JSON of the block without cache markers. */
  readonly text: string;
  /** True if the block had a cache marker. */
  readonly breakpoint: boolean;
}

/** One wire protocol, which reads requests and writes answers. */
export interface WireCodec {
  readonly callIdPrefix: string;
  /** The way in which the provider caches: up to the markers of the client, or any long prefix. */
  readonly cache: 'breakpoints' | 'automatic';
  parse(body: JsonObject, path: string): ParsedBody;
  blocks(body: JsonObject): readonly PromptBlock[];
  frames(answer: PreparedAnswer, request: ParsedBody): Iterable<Frame>;
  /** Writes the answer as one JSON body. */
  whole(answer: PreparedAnswer, request: ParsedBody): JsonObject;
  /** Creates the body of an HTTP error. */
  errorBody(status: number, message: string): JsonObject;
  /** The error with which the provider breaks off a stream when it is overloaded. */
  readonly overloaded: { readonly status: number; readonly message: string };
  /** Creates the event with which the provider breaks off a stream for an error with this HTTP status. */
  errorEvent(status: number, message: string): string;
  /** An event without content, which only shows that the connection is alive. */
  readonly ping: string;
}

/** Writes a server-sent event. `event`: its name, if the protocol names its events. */
export function sse(data: object, event?: string): string {
  const head = event === undefined ? '' : `event: ${event}\n`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}

/** The fields that only control a provider's cache. Two prompts that differ only in them are the same. */
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

/** Creates one block for each part of a message, since a later turn may append parts to a cached message. */
export function partBlocks(
  section: PromptBlock['section'],
  role: JsonValue | undefined,
  content: JsonValue | undefined,
): readonly PromptBlock[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(parts)) return [];
  return parts.map((part: JsonObject) => promptBlock(section, { role, part }));
}
