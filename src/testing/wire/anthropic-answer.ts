import type { JsonObject } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import { sse, type Frame, type PreparedAnswer, type StreamedCall } from './codec.ts';
import { parseOrKeep } from './read-json.ts';
import type { ParsedBody } from '../wire-request.ts';

/** https://docs.claude.com/en/docs/build-with-claude/streaming */
export function* anthropicFrames(answer: PreparedAnswer, request: ParsedBody): Generator<Frame> {
  const message = { ...messageHead(answer, request), content: [], stop_reason: null };
  const usage = { ...inputUsage(answer.usage), output_tokens: 1 };
  yield frame('open', { type: 'message_start', message: { ...message, usage } });
  yield frame('open', { type: 'ping' });
  let index = 0;
  if (answer.thinking !== null) {
    const start = { type: 'thinking', thinking: '', signature: '' };
    yield* blockFrames(index++, start, thinkingDeltas(answer.thinking, signature(answer)));
  }
  if (answer.text !== null) {
    yield* blockFrames(index++, { type: 'text', text: '' }, textDeltas(answer.text));
  }
  for (const call of answer.calls) yield* callFrames(index++, call);
  yield {
    ...frame('close', {
      type: 'message_delta',
      delta: { stop_reason: STOP_REASONS[answer.stop], stop_sequence: null },
      usage: wholeUsage(answer.usage),
    }),
    usage: true,
  };
  yield frame('close', { type: 'message_stop' });
}

function callFrames(index: number, call: StreamedCall): Generator<Frame> {
  const start = { type: 'tool_use', id: call.id, name: call.name, input: {} };
  const type = 'input_json_delta';
  const pieces = ['', ...call.pieces].map((partial_json) => ({ type, partial_json }));
  return blockFrames(index, start, pieces);
}

function* blockFrames(
  index: number,
  content_block: JsonObject,
  pieces: Iterable<JsonObject>,
): Generator<Frame> {
  yield frame('content', { type: 'content_block_start', index, content_block });
  for (const delta of pieces) {
    const event = frame('content', { type: 'content_block_delta', index, delta });
    yield isPiece(delta) ? { ...event, piece: true } : event;
  }
  yield frame('content', { type: 'content_block_stop', index });
}

/**
 * Returns true if a delta is a piece of content. The signature and the empty delta before a call's arguments
 * are none.
 */
function isPiece(delta: JsonObject): boolean {
  return delta['type'] !== 'signature_delta' && delta['partial_json'] !== '';
}

function* textDeltas(pieces: Iterable<string>): Generator<JsonObject> {
  for (const text of pieces) yield { type: 'text_delta', text };
}

function* thinkingDeltas(pieces: Iterable<string>, signature: string): Generator<JsonObject> {
  for (const thinking of pieces) yield { type: 'thinking_delta', thinking };
  yield { type: 'signature_delta', signature };
}

export function anthropicWhole(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  const content: JsonObject[] = [];
  if (answer.thinking !== null) {
    const thinking = [...answer.thinking].join('');
    content.push({ type: 'thinking', thinking, signature: signature(answer) });
  }
  if (answer.text !== null) content.push({ type: 'text', text: [...answer.text].join('') });
  for (const call of answer.calls) {
    const { id, name, args } = call;
    content.push({ type: 'tool_use', id, name, input: parseOrKeep(args) });
  }
  return {
    ...messageHead(answer, request),
    content,
    stop_reason: STOP_REASONS[answer.stop],
    usage: wholeUsage(answer.usage),
  };
}

function messageHead(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    stop_sequence: null,
  };
}

/**
 * Creates the signature of a thought. A real one is opaque and must come back unchanged; this one names its
 * answer.
 */
function signature(answer: PreparedAnswer): string {
  return `sig_${answer.id}`;
}

function inputUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  };
}

function wholeUsage(usage: Usage): JsonObject {
  const { output, reasoning } = usage;
  const details = { output_tokens_details: { thinking_tokens: reasoning } };
  return { ...inputUsage(usage), output_tokens: output, ...(reasoning > 0 ? details : {}) };
}

const STOP_REASONS = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
} as const;

function frame(stage: Frame['stage'], data: JsonObject & { readonly type: string }): Frame {
  return { stage, text: sse(data, data.type) };
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

export function anthropicError(status: number, message: string): JsonObject {
  return { type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message } };
}
