import { setTimeout as sleep } from 'node:timers/promises';
import { classifyStatus } from '../model/adapters/errors/read-refusal.ts';
import type { AssistantPart } from '../protocol/message.ts';
import {
  NO_USAGE,
  type FinishReason,
  type ModelFailure,
  type ModelPart,
  type ModelPort,
  type ModelRequest,
} from '../protocol/model.ts';
import type { AnswerToolCall, Fault, ScriptedAnswer } from './answer.ts';

/** An answer of a scripted model. It has the fields of an answer of the fake server, and failures in the form of a ModelPort. */
export interface ScriptedModelAnswer extends Omit<ScriptedAnswer, 'toolCalls' | 'stop'> {
  /** The calls after the text. Default: none. */
  readonly toolCalls?: readonly ScriptedModelCall[];
  /** The finish reason. Default: `tool_calls` if there are calls, otherwise `stop`. */
  readonly stop?: FinishReason;
  /** The failure with which the answer ends, after its other contents. Default: none. */
  readonly failure?: ModelFailure;
  /** True if the failure comes before the first byte, and the request is not accepted. Default: false. */
  readonly refused?: boolean;
}

/** A call of a scripted model. The default of `id` is `call_N`, counted over the life of the model. */
export interface ScriptedModelCall extends AnswerToolCall {
  /** The text that the model wrote instead of JSON. Default: the arguments are valid. */
  readonly malformed?: string;
}

/** The answers in order, or a function that gets each request and the number of requests before it. */
export type ModelScript =
  | readonly ScriptedModelAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedModelAnswer | Promise<ScriptedModelAnswer>);

/** A scripted model that records its requests. */
export interface ScriptedModel extends ModelPort {
  /** All requests so far, in their order. */
  readonly requests: readonly ModelRequest[];
}

/**
 * Creates a model that answers from a script, without a server. Missing fields of the usage are 0. The whole answer comes after
 * `delayMs`; pieces and their times have no effect. Of the faults, it knows `status`, `refuse`, `hang`, `overloaded`, `empty`,
 * `length_stop` and `broken_tool_json`; the others concern bytes and need `startFakeModel`. An error that the script throws, and
 * an unknown fault, fail the run.
 *
 * @example
 * import { createMuster } from 'muster-agent';
 * import { scriptedModel } from 'muster-agent/testing';
 *
 * const model = scriptedModel([
 *   { toolCalls: [{ name: 'LS', input: { path: '.' } }] },
 *   { text: 'There are files.' },
 * ]);
 * await using muster = await createMuster({ model });
 * console.log((await muster.run('What is here?')).output, model.requests.length);
 */
export function scriptedModel(script: ModelScript): ScriptedModel {
  const requests: ModelRequest[] = [];
  let calls = 0;
  const nextCallId = (): string => `call_${(calls += 1)}`;
  return {
    requests,
    async *stream(request, signal) {
      const index = requests.push(request) - 1;
      try {
        const answer = applyFault(await selectAnswer(script, request, index));
        const delayMs = (answer.delayMs ?? 0) + (answer.firstTokenMs ?? 0);
        if (answer.fault?.kind === 'hang') await waitForAbort(signal);
        if (delayMs > 0) await sleep(delayMs, undefined, { signal });
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
): Promise<ScriptedModelAnswer> {
  if (typeof script === 'function') return script(request, index);
  const answer = script[index];
  if (answer !== undefined) return answer;
  const message = `the script has ${script.length} answers, and this is request ${index + 1}`;
  return { failure: { kind: 'bad_request', message, retryable: false }, refused: true };
}

function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** Turns the fault of an answer into what a reader of the stream sees. Throws an error for a fault that concerns bytes. */
function applyFault(answer: ScriptedModelAnswer): ScriptedModelAnswer {
  const { fault } = answer;
  if (fault === undefined) return answer;
  switch (fault.kind) {
    case 'hang':
      return answer;
    case 'status':
      return { failure: toFailure(fault), refused: true };
    case 'refuse':
      return {
        failure: { kind: 'connect', message: 'the connection was refused', retryable: true },
        refused: true,
      };
    case 'overloaded':
      return { ...answer, failure: { kind: 'overloaded', message: 'overloaded', retryable: true } };
    case 'empty': {
      const { usage } = answer;
      return usage === undefined ? {} : { usage };
    }
    case 'length_stop':
      return { ...answer, stop: 'length', toolCalls: breakCalls(answer.toolCalls?.slice(-1)) };
    case 'broken_tool_json':
      return { ...answer, toolCalls: breakCalls(answer.toolCalls) };
    default:
      throw new Error(
        `a scripted model has no fault ${fault.kind}, which concerns bytes; use startFakeModel`,
      );
  }
}

function toFailure(fault: Extract<Fault, { readonly kind: 'status' }>): ModelFailure {
  const { status, message = `status ${status}`, body = '', retryAfterSeconds } = fault;
  const retryAfterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000;
  const { kind, retryable } = classifyStatus(status, { text: message, body, retryAfterMs });
  return {
    kind,
    message,
    retryable,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function breakCalls(calls: readonly ScriptedModelCall[] = []): readonly ScriptedModelCall[] {
  return calls.map((call) => {
    const text = JSON.stringify(call.input).slice(0, -1);
    return { ...call, input: text, malformed: text };
  });
}

function* toParts(answer: ScriptedModelAnswer, nextCallId: () => string): Generator<ModelPart> {
  const { failure } = answer;
  if (failure !== undefined && answer.refused === true) {
    yield { type: 'failed', failure };
    return;
  }
  yield { type: 'accepted' };
  const content: AssistantPart[] = [];
  if (answer.thinking !== undefined) {
    yield { type: 'reasoning_delta', text: answer.thinking };
    content.push({ type: 'reasoning', text: answer.thinking });
  }
  if (answer.text !== undefined) {
    yield { type: 'text_delta', text: answer.text };
    content.push({ type: 'text', text: answer.text });
  }
  for (const call of answer.toolCalls ?? []) {
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
  const reason = answer.stop ?? ((answer.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop');
  yield { type: 'finished', message: { role: 'assistant', content }, usage, reason };
}
