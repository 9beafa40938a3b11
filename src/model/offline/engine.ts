import { errorMessage } from '../../base/errors.ts';
import type { AssistantPart, Message } from '../../protocol/message.ts';
import {
  NO_USAGE,
  type ModelPart,
  type ModelPort,
  type ModelRequest,
  type Usage,
} from '../../protocol/model.ts';
import { nextOfflineStep, type OfflineStep } from './plan.ts';
import { readSituation } from './situation.ts';

/**
 * Creates a model that answers by searching. The answer depends only on the request, which contains the results of the
 * earlier tool calls. The model has no state, so the same request always gives the same answer. The usage is estimated.
 */
export function createOfflineModel(): ModelPort {
  return { stream };
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (signal.aborted) {
    yield createCancelledPart();
    return;
  }
  yield { type: 'accepted' };
  const step = planStep(request);
  if (step instanceof Error) {
    yield {
      type: 'failed',
      failure: {
        kind: 'server',
        message: `the offline engine failed on this request (a bug in Muster): ${step.message}`,
        retryable: false,
      },
    };
    return;
  }
  const content = toAnswerContent(step, request.messages.length);
  for (const part of content) {
    if (signal.aborted) {
      yield createCancelledPart();
      return;
    }
    yield* toProgressParts(part);
  }
  yield {
    type: 'finished',
    message: { role: 'assistant', content },
    usage: estimateUsage(request, content),
    reason: step.type === 'calls' ? 'tool_calls' : 'stop',
  };
}

/** Plans the next step. Returns an error instead of throwing it, because a model port never throws. */
function planStep(request: ModelRequest): OfflineStep | Error {
  try {
    return nextOfflineStep(readSituation(request));
  } catch (thrown) {
    return new Error(errorMessage(thrown), { cause: thrown });
  }
}

/**
 * Converts a step to the content of an answer. The call ids contain the number of messages, so that they are unique in
 * the conversation and the same when a request is repeated.
 */
function toAnswerContent(step: OfflineStep, messages: number): readonly AssistantPart[] {
  if (step.type === 'answer') return [{ type: 'text', text: step.text }];
  return step.calls.map(({ name, input }, index) => ({
    type: 'tool_call',
    id: `offline_${messages}_${index}`,
    name,
    input,
  }));
}

function* toProgressParts(part: AssistantPart): Generator<ModelPart> {
  if (part.type === 'tool_call') {
    yield { type: 'tool_call_started', id: part.id, name: part.name };
  } else if (part.type === 'text') {
    for (const text of part.text.split(/(?<=\n)/)) yield { type: 'text_delta', text };
  }
}

function createCancelledPart(): ModelPart {
  return {
    type: 'failed',
    failure: { kind: 'cancelled', message: 'the offline engine was stopped', retryable: false },
  };
}

/** The average number of characters of a token in English text and code, for the estimate of the usage. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Estimates the usage as if a provider cached every prefix: everything up to the last answer counts as read from the
 * cache, and everything after it counts as `input`.
 */
function estimateUsage(request: ModelRequest, answer: readonly AssistantPart[]): Usage {
  const answered = request.messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const prefix = JSON.stringify(request.prefix).length;
  const before = countCharacters(request.messages.slice(0, answered));
  const since = countCharacters(request.messages.slice(answered));
  const isFirst = answered === 0;
  return {
    ...NO_USAGE,
    input: estimateTokens(isFirst ? prefix + since : since),
    cacheRead: estimateTokens(isFirst ? 0 : prefix + before),
    output: estimateTokens(JSON.stringify(answer).length),
  };
}

function countCharacters(messages: readonly Message[]): number {
  let characters = 0;
  for (const message of messages) {
    for (const part of message.content) {
      characters +=
        part.type === 'tool_call' ? JSON.stringify(part.input).length : part.text.length;
    }
  }
  return characters;
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
