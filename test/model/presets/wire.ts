import type { JsonObject } from '../../../src/base/json.ts';
import type { ProviderSettings } from '../../../src/model/settings/model-settings.ts';
import { type AssistantPart, userMessage, type Message } from '../../../src/protocol/message.ts';
import {
  EFFORTS,
  type Effort,
  type FailureKind,
  type FinishReason,
  type Usage,
  type UsageMissing,
} from '../../../src/protocol/model.ts';
import type { Repairs } from '../../../src/protocol/repair.ts';

/** An answer of the vendor, and what Muster reads from it. */
export interface Answer {
  /** The body of the answer, as it is on the wire. */
  readonly body: string;
  readonly content: readonly AssistantPart[];
  readonly usage: Usage;
  readonly reason: FinishReason;
  readonly servedBy?: string;
  /** The part of the usage that the vendor does not send. */
  readonly usageMissing?: UsageMissing;
  readonly repairs?: Repairs;
}

/** A request as it must be on the wire, and its answer. */
export interface Turn {
  readonly body: JsonObject;
  readonly answer: Answer;
}

/** A response that is an error, or an answer that contains one, and what Muster makes of it. */
export interface ErrorExample {
  readonly name: string;
  /** The HTTP status. Default: 200, for an error inside an answer. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is the body as it is. */
  readonly body: unknown;
  readonly kind: FailureKind;
  /** True if the request is sent again. Default: it is not. */
  readonly isTransient?: true;
  /** The text that is passed on to people. Default: the message in the body. */
  readonly says?: string;
  /** The status of an error inside an answer, by its code. Default: it has none. */
  readonly statusInside?: number;
  readonly retryAfterMs?: number;
  /** The usage of an answer that an error breaks off. */
  readonly usage?: Usage;
}

/** A part of requests that the vendor refuses, in its own words. */
export interface PartRefusal {
  readonly name: string;
  isRefused(body: JsonObject): boolean;
  readonly status: number;
  readonly body: unknown;
  /** The request that is refused, if it differs from the second one of the conversation. */
  readonly by?: {
    readonly model?: string;
    readonly maxOutputTokens?: number;
    readonly toolChoice?: 'none';
    readonly isOfAnotherModel?: true;
  };
  /** True if nothing can be learned from the words, so that only the preset avoids the refusal. */
  readonly isUnclear?: true;
  /** True if no request of Muster contains the part. */
  readonly isNotSent?: true;
  /** True if the model of the conversation accepts the part. */
  readonly isOnlyOnSomeModels?: true;
}

/** The wire of a known provider, as its vendor publishes it. */
export interface ProviderWire {
  /** The variable of the key, and the text before the number that makes each key of the tests unique. Default: no key. */
  readonly key?: { readonly variable: string; readonly prefix: string };
  /** The other variables that are set, such as the address of a local server. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** The settings of a server that has no variable for its address. Default: none are needed. */
  readonly settings?: ProviderSettings;
  readonly model: string;
  /** The address of requests. */
  readonly url: string;
  /** The headers without those that all requests have. `KEY` stands for the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** A question that is answered with two calls at once, and the request with their results. */
  readonly turns: readonly [Turn, Turn];
  /** Answers that were recorded at the vendor, or are printed in its documentation, by name. */
  readonly recordings: Readonly<Record<string, Answer>>;
  /** The fields that each of `EFFORTS` adds to a request, by model. */
  readonly efforts: Readonly<Record<string, readonly JsonObject[]>>;
  readonly errors: readonly ErrorExample[];
  readonly refusals: readonly PartRefusal[];
}

/** The system prompt, and the tools of all requests. */
export const SYSTEM = 'You are Muster.\n\nTask: look around';
export const QUESTION = 'What do a.ts and b.ts export?';

/** The limit on the answer of all requests. */
export const OUTPUT_LIMIT = 4096;
export const EFFORT: Effort = 'high';

/** The ids of the two calls, as the vendor forms them. */
export type CallIds = readonly [string, string];

/** The conversation after the first answer. */
export function conversationAfter(model: string, { content }: Answer): readonly Message[] {
  const calls = content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  const results = calls.map(({ id, name }, index) => ({
    type: 'tool_result' as const,
    callId: id,
    name,
    text: RESULTS[index] ?? '',
    isError: false,
  }));
  return [
    userMessage(QUESTION),
    { role: 'assistant', content, model },
    { role: 'tool', content: results },
  ];
}

/** The same conversation, in which another model has made the calls. */
export function conversationOfAnotherModel(): readonly Message[] {
  const ids = ['toolu_01AAAAAAAAAAAAAAAAAAAAAA', 'toolu_01BBBBBBBBBBBBBBBBBBBBBB'] as const;
  const signed = thought('Both.', { anthropic: { signature: 'c2lnbmVk' } });
  const content = [signed, ...callParts(ids)];
  const model = 'elsewhere/claude-sonnet-5';
  return conversationAfter(model, {
    ...turnAnswers({ ids, thoughts: [], bodies: ['', ''], usages: [usage(0, 0), usage(0, 0)] })[0],
    content,
  });
}

/** The results of the two calls. */
export const RESULTS = ['export const a = 1;', 'export const b = 2;'] as const;

export const PARAMETERS = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer' } },
  required: ['path'],
  additionalProperties: false,
};

/** The paths of the two calls. */
export const PATHS = ['a.ts', 'b.ts'] as const;

/** The two calls. */
function callParts(
  ids: CallIds,
  meta?: readonly [JsonObject, JsonObject],
): readonly AssistantPart[] {
  return PATHS.map((path, index) => {
    const id = ids[index] ?? '';
    const call = { type: 'tool_call', id, name: 'Read', input: { path } } as const;
    const own = meta?.[index] ?? {};
    return Object.keys(own).length === 0 ? call : Object.assign(call, { meta: own });
  });
}

interface TurnAnswers {
  readonly ids: CallIds;
  /** The thoughts before the calls. */
  readonly thoughts: readonly AssistantPart[];
  /** The metadata of the calls. */
  readonly callMeta?: readonly [JsonObject, JsonObject];
  readonly bodies: readonly [string, string];
  readonly usages: readonly [Usage, Usage];
  readonly servedBy?: string;
  /** The repairs in the answer with the calls. */
  readonly repairs?: Repairs;
  /** The metadata of the text. */
  readonly textMeta?: JsonObject;
}

/** The answers of the two turns. */
export function turnAnswers(parts: TurnAnswers): [Answer, Answer] {
  const { ids, thoughts, callMeta, bodies, usages, servedBy, repairs, textMeta } = parts;
  const served = servedBy === undefined ? {} : { servedBy };
  const first = {
    body: bodies[0],
    content: [...thoughts, ...callParts(ids, callMeta)],
    usage: usages[0],
    reason: 'tool_calls' as const,
    ...(repairs === undefined ? {} : { repairs }),
    ...served,
  };
  const text = { type: 'text' as const, text: ANSWER_TEXT };
  const content = [textMeta === undefined ? text : { ...text, meta: textMeta }];
  const second = { body: bodies[1], content, usage: usages[1], reason: 'stop' as const };
  return [first, { ...second, ...served }];
}

export function thought(text: string, meta?: JsonObject): AssistantPart {
  return { type: 'reasoning', text, ...(meta === undefined ? {} : { meta }) };
}

/** The answer to the results. */
const ANSWER_TEXT = 'One constant each.';

export function usage(input: number, output: number, more: Partial<Usage> = {}): Usage {
  return { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0, ...more };
}

/** Events as a stream without names of events. */
export function data(events: readonly unknown[], { isDone = true } = {}): string {
  const lines = events.map((event) =>
    typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`,
  );
  return [...lines, ...(isDone ? ['data: [DONE]\n\n'] : [])].join('');
}

/** Events as a stream in which each has the name of its type. */
export function namedEvents(events: readonly ({ readonly type: string } & JsonObject)[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/**
 * The fields that each of `EFFORTS` adds to a request, from the values that are sent, in the same order. `-`: nothing is
 * added.
 */
export function efforts(
  values: string,
  toFields: (value: string) => JsonObject = (value) => ({ reasoning_effort: value }),
): readonly JsonObject[] {
  const words = values.split(' ');
  if (words.length !== EFFORTS.length) throw new Error(`not ${EFFORTS.length} values: ${values}`);
  return words.map((word) => (word === '-' ? {} : toFields(word)));
}

/** No effort is sent. */
export const NO_EFFORTS: readonly JsonObject[] = EFFORTS.map(() => ({}));

/** The function for efforts in the form of the Responses protocol. */
export function nested(value: string): JsonObject {
  return { reasoning: { effort: value } };
}

/** The headers with a key as a bearer token. */
export const BEARER = { authorization: 'Bearer KEY' };
