import type { Conversation } from '../../protocol/state/conversation.ts';
import type { CountedTokens } from '../../protocol/initial-context.ts';
import type { Message, ToolResultPart } from '../../protocol/message.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import { describeAttachment } from '../../protocol/attachment.ts';
import { estimateInput, estimatePrompt, resultTokens } from '../limits/estimate.ts';
import { estimateTokensUnrounded } from '../../base/token-estimate.ts';

/** The sizes of the parts of a task's next request, in tokens. */
export interface ContextLayout {
  /** The size of the full request without its answer. */
  readonly size: number;
  /** The part of `size` that no request holds yet. */
  readonly waiting: number;
  /** The inputs from users and tasks since the start: as many as possible are kept. */
  readonly said: number;
  /** The turns, each from an answer of the model to the next one; the oldest first. */
  readonly turns: readonly TurnLayout[];
  /** The results of calls; the oldest first. */
  readonly results: readonly ResultLayout[];
}

/** The size of the conversation before and from a turn. */
export interface TurnLayout {
  /** The index of the first message of the turn. */
  readonly from: number;
  /** The tokens of the conversation before the turn. */
  readonly before: number;
  /** The tokens of the conversation from the turn on, including queued inputs. */
  readonly rest: number;
}

/** The size and age of the result of a call. */
export interface ResultLayout {
  readonly callId: string;
  readonly tool: string;
  readonly characters: number;
  /** Descriptions of the attached images and documents. */
  readonly shown: readonly string[];
  readonly tokens: number;
  /** The number of answers after the one that made the call: 0 for the newest. */
  readonly age: number;
  readonly isWaiting: boolean;
}

/** The largest ratio between a provider's count and an estimate that is believed. */
const MAX_COUNT_RATIO = 3;

/**
 * Measures a context. The newest request and its answer have the size that the provider counted, newer parts are
 * estimated and scaled by the same ratio. Without a count, all is estimated.
 */
export function measureContext(conversation: Conversation, prefix: RequestPrefix): ContextLayout {
  const { messages, results, queued, compaction } = conversation;
  const ratio = countRatio(conversation, prefix);
  const scaled = (tokens: number) => Math.round(tokens * ratio);
  const waiting = estimateInput({ messages: [], results, queued }, NO_PREFIX);
  const all = countTokens(messages) + waiting;
  const said = compaction.said.reduce((sum, { text }) => sum + estimateTokensUnrounded(text), 0);
  return {
    size: estimateRequestSize(conversation, prefix),
    waiting: scaled(waiting),
    said: scaled(said),
    turns: measureTurns(messages).map(({ from, tokens }) => {
      return { from, before: scaled(tokens), rest: scaled(all - tokens) };
    }),
    results: measureResults(conversation, scaled),
  };
}

/** Estimates the tokens of the full next request without its answer. */
export function estimateRequestSize(conversation: Conversation, prefix: RequestPrefix): number {
  return Math.round(estimateInput(conversation, prefix) * countRatio(conversation, prefix));
}

const NO_PREFIX: RequestPrefix = { system: [], tools: [] };

function countRatio({ messages, compaction }: Conversation, prefix: RequestPrefix): number {
  const { counted } = compaction;
  if (counted === null || counted.tokens === 0) return 1;
  const estimated = estimatePrompt(prefix, messages.slice(0, counted.messages));
  if (estimated === 0) return 1;
  const tokens = counted.tokens - countHiddenTokens(messages, counted);
  return Math.min(MAX_COUNT_RATIO, Math.max(1 / MAX_COUNT_RATIO, tokens / estimated));
}

/**
 * Counts reasoning tokens that are in no message. They are left out, because they would make all else look
 * larger; if the next request holds them, its own count will say so.
 */
function countHiddenTokens(
  messages: readonly Message[],
  { messages: upTo, output }: CountedTokens,
): number {
  const answer = messages[upTo - 1];
  return answer === undefined ? 0 : Math.max(0, output - countTokens([answer]) * MAX_COUNT_RATIO);
}

function countTokens(messages: readonly Message[]): number {
  return estimatePrompt(NO_PREFIX, messages);
}

function measureTurns(
  messages: readonly Message[],
): readonly { readonly from: number; readonly tokens: number }[] {
  const turns: { readonly from: number; readonly tokens: number }[] = [];
  let before = 0;
  for (const [from, message] of messages.entries()) {
    if (message.role === 'assistant') turns.push({ from, tokens: before });
    before += countTokens([message]);
  }
  return turns;
}

function measureResults(
  { messages, results }: Conversation,
  scaled: (tokens: number) => number,
): readonly ResultLayout[] {
  const laidResult = (part: ToolResultPart, age: number, isWaiting: boolean): ResultLayout => {
    const { callId, name, text, attachments = [] } = part;
    const tool = canonicalToolName(name) ?? name;
    const tokens = scaled(resultTokens(part));
    const shown = attachments.map(describeAttachment);
    return { callId, tool, characters: text.length, shown, tokens, age, isWaiting };
  };
  const laid: ResultLayout[] = [...results.values()].map((part) => laidResult(part, 0, true));
  let age = results.size > 0 ? 1 : 0;
  // From the newest back, because the answer of a result stands before it.
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant' && (results.size === 0 || message !== messages.at(-1))) {
      age += 1;
    }
    if (message.role !== 'tool') continue;
    laid.push(...message.content.map((part) => laidResult(part, age, false)));
  }
  return laid.toReversed();
}
