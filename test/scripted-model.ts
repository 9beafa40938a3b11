import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../src/base/json.ts';
import type { AssistantPart } from '../src/protocol/message.ts';
import {
  NO_USAGE,
  type FinishReason,
  type ModelFailure,
  type ModelPart,
  type ModelPort,
  type ModelRequest,
  type Usage,
} from '../src/protocol/model.ts';

/** One tool call of a scripted answer. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: JsonValue;
  /** The id of the call. Absent: `call_N`, counted over the life of the port. */
  readonly id?: string;
  /** The text that the model wrote instead of JSON. */
  readonly malformed?: string;
}

/** One answer of a scripted model. Without any field it is an empty message. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: Partial<Usage>;
  /** The finish reason. Absent: `tool_calls` with calls, otherwise `stop`. */
  readonly reason?: FinishReason;
  /** The delay before the first byte in milliseconds. */
  readonly delayMs?: number;
  /** The failure with which the answer ends, after its other contents. */
  readonly failure?: ModelFailure;
  /** If true, the failure comes before the first byte, and the request is not accepted. Default: false. */
  readonly refused?: boolean;
}

/** The answers in order, or a function that gets each request and the number of requests before it. */
export type ModelScript =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** A scripted model that records its requests. */
export interface ScriptedModel extends ModelPort {
  /** All requests so far, in their order. */
  readonly requests: readonly ModelRequest[];
}

/**
 * Creates a model that gives scripted answers, for tests of code that uses a ModelPort. An exception of the
 * script's own function is passed on, since it is a bug of the test.
 */
export function createScriptedModel(script: ModelScript): ScriptedModel {
  const requests: ModelRequest[] = [];
  let calls = 0;
  const nextCallId = (): string => `call_${(calls += 1)}`;
  return {
    requests,
    async *stream(request, signal) {
      const index = requests.push(request) - 1;
      try {
        const answer = await selectAnswer(script, request, index);
        if (answer.delayMs !== undefined) await sleep(answer.delayMs, undefined, { signal });
        for (const part of toParts(answer, nextCallId)) {
          signal.throwIfAborted();
          yield part;
        }
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
        yield { type: 'failed', failure: STOPPED };
      }
    },
  };
}

const STOPPED: ModelFailure = { kind: 'cancelled', message: 'stopped', retryable: false };

async function selectAnswer(
  script: ModelScript,
  request: ModelRequest,
  index: number,
): Promise<ScriptedAnswer> {
  if (typeof script === 'function') return script(request, index);
  const answer = script[index];
  if (answer !== undefined) return answer;
  const message = `the script has ${script.length} answers, and this is request ${index + 1}`;
  return { failure: { kind: 'bad_request', message, retryable: false }, refused: true };
}

function* toParts(answer: ScriptedAnswer, nextCallId: () => string): Generator<ModelPart> {
  const { failure } = answer;
  if (failure !== undefined && answer.refused === true) {
    yield { type: 'failed', failure };
    return;
  }
  yield { type: 'accepted' };
  const content: AssistantPart[] = [];
  if (answer.reasoning !== undefined) {
    yield { type: 'reasoning_delta', text: answer.reasoning };
    content.push({ type: 'reasoning', text: answer.reasoning });
  }
  if (answer.text !== undefined) {
    yield { type: 'text_delta', text: answer.text };
    content.push({ type: 'text', text: answer.text });
  }
  for (const call of answer.calls ?? []) {
    const id = call.id ?? nextCallId();
    yield { type: 'tool_call_started', id, name: call.name };
    const malformed = call.malformed === undefined ? {} : { malformed: call.malformed };
    content.push({ type: 'tool_call', id, name: call.name, input: call.input, ...malformed });
  }
  const usage = { ...NO_USAGE, ...answer.usage };
  if (failure !== undefined) {
    yield { type: 'failed', failure, ...(answer.usage === undefined ? {} : { usage }) };
    return;
  }
  const reason = answer.reason ?? ((answer.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
  yield { type: 'finished', message: { role: 'assistant', content }, usage, reason };
}
