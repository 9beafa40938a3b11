import { errorMessage } from '../../base/errors.ts';
import type { AssistantPart } from '../../protocol/message.ts';
import type { ModelPart, ModelPort, ModelRequest } from '../../protocol/model.ts';
import { nextStep, type Step } from './plan.ts';
import { readSituation } from './situation.ts';
import { estimateUsage } from './usage.ts';

/**
 * A deterministic search engine behind the interface of a model: it sees a request and nothing
 * else, learns only from the results of its own tool calls, and keeps no state. The same request
 * gives the same answer. Usage is estimated.
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
  const step = planned(request);
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

/** The contract of the port: nothing is thrown, a bug too is a value. */
function planned(request: ModelRequest): Step | Error {
  try {
    return nextStep(readSituation(request));
  } catch (thrown) {
    return new Error(errorMessage(thrown), { cause: thrown });
  }
}

/** The number of messages makes the ids of one conversation unique, and the same when repeated. */
function contentOf(step: Step, messages: number): readonly AssistantPart[] {
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
