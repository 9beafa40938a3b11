import type { JsonObject } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import type { ParsedBody } from '../wire-request.ts';
import { formatServerEvent, type Frame, type PreparedAnswer } from './codec.ts';

/**
 * Writes a stream of https://platform.openai.com/docs/api-reference/chat-streaming. Thinking is sent as
 * `reasoning_content`, the field of compatible servers; OpenAI's server sends no thinking.
 */
export function* writeChatFrames(answer: PreparedAnswer, request: ParsedBody): Generator<Frame> {
  const head = createChunkHead(answer, request);
  const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
    formatServerEvent({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(request.streamUsage ? { usage: null } : {}),
    });
  yield { stage: 'open', text: chunk({ role: 'assistant', content: '', refusal: null }) };
  for (const piece of answer.thinking ?? []) {
    yield { stage: 'content', piece: true, text: chunk({ reasoning_content: piece }) };
  }
  for (const piece of answer.text ?? []) {
    yield { stage: 'content', piece: true, text: chunk({ content: piece }) };
  }
  for (const [index, call] of answer.calls.entries()) {
    const named = { id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    yield { stage: 'content', text: chunk({ tool_calls: [{ index, ...named }] }) };
    for (const piece of call.pieces) {
      const delta = { index, function: { arguments: piece } };
      yield { stage: 'content', piece: true, text: chunk({ tool_calls: [delta] }) };
    }
  }
  yield { stage: 'close', text: chunk({}, answer.stop) };
  if (request.streamUsage) {
    const text = formatServerEvent({ ...head, choices: [], usage: createChatUsage(answer.usage) });
    yield { stage: 'close', text, usage: true };
  }
  yield { stage: 'close', text: 'data: [DONE]\n\n' };
}

function createChunkHead(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  return {
    id: `chatcmpl-${answer.id}`,
    object: 'chat.completion.chunk',
    created: answer.createdAt,
    model: request.model,
    service_tier: 'default',
    system_fingerprint: null,
  };
}

export function writeChatBody(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  const message: Record<string, JsonObject[string]> = {
    role: 'assistant',
    content: answer.text === null ? null : [...answer.text].join(''),
    refusal: null,
  };
  if (answer.thinking !== null) message['reasoning_content'] = [...answer.thinking].join('');
  if (answer.calls.length > 0) {
    message['tool_calls'] = answer.calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.args },
    }));
  }
  return {
    ...createChunkHead(answer, request),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: answer.stop }],
    usage: createChatUsage(answer.usage),
  };
}

function createChatUsage(usage: Usage): JsonObject {
  const prompt_tokens = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens,
    completion_tokens: usage.output,
    total_tokens: prompt_tokens + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 ? { cache_write_tokens: usage.cacheWrite } : {}),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** Creates the body of an HTTP error, which is the same for Responses and Chat Completions. */
export function createOpenaiError(status: number, message: string): JsonObject {
  return {
    error: { message, type: chooseErrorType(status), param: null, code: chooseErrorCode(status) },
  };
}

function chooseErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

function chooseErrorCode(status: number): string | null {
  if (status === 401) return 'invalid_api_key';
  if (status === 404) return 'model_not_found';
  if (status === 429) return 'rate_limit_exceeded';
  return null;
}
