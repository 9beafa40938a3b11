import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '../base/json.ts';
import type { AssistantPart } from '../protocol/message.ts';
import {
  NO_USAGE,
  type FinishReason,
  type ModelFailure,
  type ModelPart,
  type ModelPort,
  type ModelRequest,
  type Usage,
} from '../protocol/model.ts';

export interface ScriptedCall {
  readonly name: string;
  readonly input: JsonValue;
  /** Absent: `call_N`, counted over the life of the port. */
  readonly id?: string;
  /** What stood there instead of JSON. */
  readonly malformed?: string;
}

/** One answer of a scripted model; an empty one is an empty message. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: Partial<Usage>;
  /** Absent: `tool_calls` with calls, else `stop`. */
  readonly reason?: FinishReason;
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
  /** Ends the answer with this, after what else the answer holds. */
  readonly failure?: ModelFailure;
  /** The failure comes before the first byte: the request is not accepted. Default false. */
  readonly refused?: boolean;
}

/** A list is answered in order; a function sees the request and how many came before it. */
export type ModelScript =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

export interface ScriptedModel extends ModelPort {
  /** Every request so far, in the order in which they came. */
  readonly requests: readonly ModelRequest[];
}

/**
 * A model that says what it is told to, for tests of what stands on a ModelPort. What a script's
 * own function throws passes through: it is a bug of the test.
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
        const answer = await answerTo(script, request, index);
        if (answer.delayMs !== undefined) await sleep(answer.delayMs, undefined, { signal });
        for (const part of parts(answer, nextCallId)) {
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

async function answerTo(
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

function* parts(answer: ScriptedAnswer, nextCallId: () => string): Generator<ModelPart> {
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
