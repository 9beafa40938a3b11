import type { JsonObject } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import { formatServerEvent, type Frame, type PreparedAnswer, type StreamedCall } from './codec.ts';
import { parseOrKeep } from './read-json.ts';
import type { ParsedBody } from '../wire-request.ts';

/** Writes a stream of https://docs.claude.com/en/docs/build-with-claude/streaming. */
export function* writeAnthropicFrames(
  answer: PreparedAnswer,
  request: ParsedBody,
): Generator<Frame> {
  const message = { ...createMessageHead(answer, request), content: [], stop_reason: null };
  const usage = { ...createInputUsage(answer.usage), output_tokens: 1 };
  yield createFrame('open', { type: 'message_start', message: { ...message, usage } });
  yield createFrame('open', { type: 'ping' });
  let index = 0;
  if (answer.thinking !== null) {
    const start = { type: 'thinking', thinking: '', signature: '' };
    yield* writeBlockFrames(
      index++,
      start,
      createThinkingDeltas(answer.thinking, createSignature(answer)),
    );
  }
  for (const block of createSearchBlocks(answer)) yield* writeBlockFrames(index++, block, []);
  if (answer.text !== null) {
    yield* writeBlockFrames(index++, { type: 'text', text: '' }, createTextDeltas(answer.text));
  }
  for (const call of answer.calls) yield* writeCallFrames(index++, call);
  yield {
    ...createFrame('close', {
      type: 'message_delta',
      delta: { stop_reason: STOP_REASONS[answer.stop], stop_sequence: null },
      usage: createFullUsage(answer.usage),
    }),
    usage: true,
  };
  yield createFrame('close', { type: 'message_stop' });
}

function writeCallFrames(index: number, call: StreamedCall): Generator<Frame> {
  const start = { type: 'tool_use', id: call.id, name: call.name, input: {} };
  const type = 'input_json_delta';
  const pieces = ['', ...call.pieces].map((partial_json) => ({ type, partial_json }));
  return writeBlockFrames(index, start, pieces);
}

function* writeBlockFrames(
  index: number,
  content_block: JsonObject,
  pieces: Iterable<JsonObject>,
): Generator<Frame> {
  yield createFrame('content', { type: 'content_block_start', index, content_block });
  for (const delta of pieces) {
    const event = createFrame('content', { type: 'content_block_delta', index, delta });
    yield isPiece(delta) ? { ...event, piece: true } : event;
  }
  yield createFrame('content', { type: 'content_block_stop', index });
}

/**
 * Returns true if a delta is a piece of content, and not a signature or the empty delta before the arguments of a call.
 */
function isPiece(delta: JsonObject): boolean {
  return delta['type'] !== 'signature_delta' && delta['partial_json'] !== '';
}

function* createTextDeltas(pieces: Iterable<string>): Generator<JsonObject> {
  for (const text of pieces) yield { type: 'text_delta', text };
}

function* createThinkingDeltas(pieces: Iterable<string>, signature: string): Generator<JsonObject> {
  for (const thinking of pieces) yield { type: 'thinking_delta', thinking };
  yield { type: 'signature_delta', signature };
}

export function writeAnthropicBody(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  const content: JsonObject[] = [];
  if (answer.thinking !== null) {
    const thinking = [...answer.thinking].join('');
    content.push({ type: 'thinking', thinking, signature: createSignature(answer) });
  }
  content.push(...createSearchBlocks(answer));
  if (answer.text !== null) content.push({ type: 'text', text: [...answer.text].join('') });
  for (const call of answer.calls) {
    const { id, name, args } = call;
    content.push({ type: 'tool_use', id, name, input: parseOrKeep(args) });
  }
  return {
    ...createMessageHead(answer, request),
    content,
    stop_reason: STOP_REASONS[answer.stop],
    usage: createFullUsage(answer.usage),
  };
}

/** Creates the blocks of https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool. */
function createSearchBlocks({ id, search }: PreparedAnswer): readonly JsonObject[] {
  if (search === null) return [];
  const { query, pages } = search;
  const tool_use_id = `srvtoolu_${id}`;
  const content = pages.map(({ url, title }) => ({
    type: 'web_search_result',
    url,
    title,
    encrypted_content: 'x',
    page_age: null,
  }));
  return [
    { type: 'server_tool_use', id: tool_use_id, name: 'web_search', input: { query } },
    { type: 'web_search_tool_result', tool_use_id, content },
  ];
}

function createMessageHead(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    stop_sequence: null,
  };
}

/**
 * Creates the signature of a thought. It contains the id of the answer, so that a test can check that it is sent back
 * unchanged.
 */
function createSignature(answer: PreparedAnswer): string {
  return `sig_${answer.id}`;
}

function createInputUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  };
}

function createFullUsage(usage: Usage): JsonObject {
  const { output, reasoning } = usage;
  const details = { output_tokens_details: { thinking_tokens: reasoning } };
  return { ...createInputUsage(usage), output_tokens: output, ...(reasoning > 0 ? details : {}) };
}

const STOP_REASONS = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
} as const;

function createFrame(stage: Frame['stage'], data: JsonObject & { readonly type: string }): Frame {
  return { stage, text: formatServerEvent(data, data.type) };
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function createAnthropicError(status: number, message: string): JsonObject {
  return { type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } };
}
