import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import type { AnswerSearch } from '../answer.ts';
import type { ParsedBody } from '../wire-request.ts';

/** A complete answer with ids and usage, which a codec can write in its protocol. */
export interface PreparedAnswer {
  /** The id of the answer, which is unique in the server. The codecs add a prefix. */
  readonly id: string;
  /** The time of the answer in seconds since the epoch. */
  readonly createdAt: number;
  /** The pieces of the thinking, which may be endless; null: there is no thinking. */
  readonly thinking: Iterable<string> | null;
  /** The pieces of the text; null: there is no text. */
  readonly text: Iterable<string> | null;
  readonly calls: readonly StreamedCall[];
  /** The search by the provider; null: there is none. */
  readonly search: AnswerSearch | null;
  readonly usage: Usage;
  readonly stop: 'stop' | 'tool_calls' | 'length' | 'content_filter';
}

export interface StreamedCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON, which a fault can make invalid. */
  readonly args: string;
  readonly pieces: readonly string[];
  /**
   * The state of the call. `cut`: the answer ended inside the call because of its length. `broken`: the JSON of the
   * arguments is invalid.
   */
  readonly state: 'complete' | 'cut' | 'broken';
}

/**
 * The text of one event of a stream. `stage`: `open` comes before any content, and `close` marks the end of a complete
 * answer. `piece`: the event contains a piece of thinking, text or arguments. `usage`: the event contains the final usage.
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
  /** The JSON of the block, without cache markers. */
  readonly text: string;
  /** True if the block had a cache marker. */
  readonly breakpoint: boolean;
}

/** Reads the requests and writes the answers of one wire protocol. */
export interface WireCodec {
  /** The prefix of the ids of calls. */
  readonly callIdPrefix: string;
  /** The prefixes that the provider caches: those that end with a marker of the client, or all long prefixes. */
  readonly cache: 'breakpoints' | 'automatic';
  parse(body: JsonObject, path: string): ParsedBody;
  /** Lists the blocks of the prompt. */
  listBlocks(body: JsonObject): readonly PromptBlock[];
  /** Writes the answer as a stream of events. */
  writeFrames(answer: PreparedAnswer, request: ParsedBody): Iterable<Frame>;
  /** Writes the answer as one JSON body. */
  writeBody(answer: PreparedAnswer, request: ParsedBody): JsonObject;
  /** Writes the body of an HTTP error. */
  writeErrorBody(status: number, message: string): JsonObject;
  /** The error with which the provider ends a stream when it is overloaded. */
  readonly overloaded: { readonly status: number; readonly message: string };
  /** Creates the event with which the provider ends a stream because of an error with this HTTP status. */
  writeErrorEvent(status: number, message: string): string;
  /** An event without content, which only shows that the connection works. */
  readonly ping: string;
}

/** Formats a server-sent event. `event`: the name of the event, if the protocol has named events. */
export function formatServerEvent(data: object, event?: string): string {
  const head = event === undefined ? '' : `event: ${event}\n`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}

/** The fields that only control a provider's cache. The cache treats prompts that differ only in these fields as equal. */
const CACHE_MARKERS = new Set(['cache_control', 'prompt_cache_breakpoint']);

export function createPromptBlock(section: PromptBlock['section'], value: JsonValue): PromptBlock {
  let breakpoint = false;
  const text = JSON.stringify(value, (key, inner: JsonValue) => {
    if (!CACHE_MARKERS.has(key)) return inner;
    breakpoint = true;
    return undefined;
  });
  return { section, text, breakpoint };
}

/** Creates one block for each part of a message, because a later request may append parts to a cached message. */
export function createPartBlocks(
  section: PromptBlock['section'],
  role: JsonValue | undefined,
  content: JsonValue | undefined,
): readonly PromptBlock[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(parts)) return [];
  return parts.map((part: JsonObject) => createPromptBlock(section, { role, part }));
}
