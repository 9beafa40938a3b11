import { ratesFor } from '../model/cost.ts';
import type { Message } from '../protocol/message.ts';
import type { Amount, ModelFacts, RequestPrefix } from '../protocol/model.ts';
import type { TaskState } from '../protocol/state.ts';

/** A little under what code and prose need, so that an estimate is rather too high. */
const CHARACTERS_A_TOKEN = 3.5;
/** Where the catalogue knows no output limit. */
const USUAL_OUTPUT = 8_192;

/** Of a text, rather too high: what is not ASCII counts whole. */
export function estimateTokens(text: string): number {
  return Math.ceil(tokensIn(text));
}

/** The same of a piece of one, to be added up. */
export function tokensIn(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) wide += 1;
  return (text.length - wide) / CHARACTERS_A_TOKEN + wide;
}

/** Of a text that is not at hand, by its length alone. */
export function tokensOf(characters: number): number {
  return characters / CHARACTERS_A_TOKEN;
}

/**
 * The most that the next request of a task can cost: its input, estimated (nothing of it counted as
 * cached), and the model's whole output limit.
 */
export function expectedUse(state: TaskState, prefix: RequestPrefix, facts: ModelFacts): Amount {
  let characters = prefixLength(prefix);
  for (const message of state.conversation.messages) characters += messageLength(message);
  for (const result of state.conversation.results.values()) characters += result.text.length;
  for (const input of state.conversation.queued) characters += input.text.length;
  const input = Math.ceil(characters / CHARACTERS_A_TOKEN);
  const output = facts.maxOutput ?? USUAL_OUTPUT;
  const price = facts.price === null ? null : ratesFor(facts.price, input);
  const costUsd =
    price === null
      ? 0
      : (input * Math.max(price.input, price.cacheWrite) + output * price.output) / 1e6;
  return { tokens: input + output, costUsd };
}

/** Of a request as it is sent. */
export function estimatePrompt(prefix: RequestPrefix, messages: readonly Message[]): number {
  let characters = prefixLength(prefix);
  for (const message of messages) characters += messageLength(message);
  return Math.ceil(characters / CHARACTERS_A_TOKEN);
}

function prefixLength({ system, tools }: RequestPrefix): number {
  let length = 0;
  for (const part of system) length += part.length;
  for (const tool of tools) length += toolLength(tool);
  return length;
}

const toolLengths = new WeakMap<object, number>();

function toolLength(tool: RequestPrefix['tools'][number]): number {
  const known = toolLengths.get(tool);
  if (known !== undefined) return known;
  const length = JSON.stringify(tool).length;
  toolLengths.set(tool, length);
  return length;
}

/** A message is sent again with each later turn. */
const messageLengths = new WeakMap<Message, number>();

function messageLength(message: Message): number {
  const known = messageLengths.get(message);
  if (known !== undefined) return known;
  const length = contentLength(message);
  messageLengths.set(message, length);
  return length;
}

function contentLength(message: Message): number {
  let length = 0;
  for (const part of message.content) {
    if (part.type === 'tool_call') length += JSON.stringify(part.input).length;
    else length += part.text.length;
  }
  return length;
}
