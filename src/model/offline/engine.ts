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
 * Creates a model that answers by searching. It knows only the request, learns only from the results of
 * its own tool calls, and keeps no state, so that the same request gives the same answer. Usage is
 * estimated.
 */
export function createOfflineModel(): ModelPort {
  return { stream };
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (signal.aborted) {
    yield cancelled();
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
  const content = contentOf(step, request.messages.length);
  for (const part of content) {
    if (signal.aborted) {
      yield cancelled();
      return;
    }
    yield* deltas(part);
  }
  yield {
    type: 'finished',
    message: { role: 'assistant', content },
    usage: estimateUsage(request, content),
    reason: step.type === 'calls' ? 'tool_calls' : 'stop',
  };
}

/** Plans the next step. Returns an error instead of throwing it, since a model port never throws. */
function planStep(request: ModelRequest): OfflineStep | Error {
  try {
    return nextOfflineStep(readSituation(request));
  } catch (thrown) {
    return new Error(errorMessage(thrown), { cause: thrown });
  }
}

/**
 * Converts a step to the content of an answer. The number of messages in the call ids makes them unique in a
 * conversation, and the same when a request is repeated.
 */
function contentOf(step: OfflineStep, messages: number): readonly AssistantPart[] {
  if (step.type === 'answer') return [{ type: 'text', text: step.text }];
  return step.calls.map(({ name, input }, index) => ({
    type: 'tool_call',
    id: `offline_${messages}_${index}`,
    name,
    input,
  }));
}

function* deltas(part: AssistantPart): Generator<ModelPart> {
  if (part.type === 'tool_call') {
    yield { type: 'tool_call_started', id: part.id, name: part.name };
  } else if (part.type === 'text') {
    for (const text of part.text.split(/(?<=\n)/)) yield { type: 'text_delta', text };
  }
}

function cancelled(): ModelPart {
  return {
    type: 'failed',
    failure: { kind: 'cancelled', message: 'the offline engine was stopped', retryable: false },
  };
}

/** The average number of characters in a token, for English and code. Nothing is billed by it. */
const CHARS_PER_TOKEN = 4;

/**
 * Estimates tokens as a provider counts them that caches every prefix: the parts of earlier requests are
 * read from the cache, and `input` is new since the last answer.
 */
function estimateUsage(request: ModelRequest, answer: readonly AssistantPart[]): Usage {
  const answered = request.messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const prefix = JSON.stringify(request.prefix).length;
  const before = sizeOf(request.messages.slice(0, answered));
  const since = sizeOf(request.messages.slice(answered));
  const isFirst = answered === 0;
  return {
    ...NO_USAGE,
    input: tokens(isFirst ? prefix + since : since),
    cacheRead: tokens(isFirst ? 0 : prefix + before),
    output: tokens(JSON.stringify(answer).length),
  };
}

function sizeOf(messages: readonly Message[]): number {
  let chars = 0;
  for (const message of messages) {
    for (const part of message.content) {
      chars += part.type === 'tool_call' ? JSON.stringify(part.input).length : part.text.length;
    }
  }
  return chars;
}

function tokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
