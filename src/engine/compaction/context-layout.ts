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
  /** The part of `size` that no earlier request contained: new results and inputs. */
  readonly waiting: number;
  /** The tokens of all inputs of people and tasks. A compaction keeps as many of them as possible. */
  readonly said: number;
  /** The turns, the oldest first. A turn reaches from an answer of the model to the next answer. */
  readonly turns: readonly TurnLayout[];
  /** The results of calls, the oldest first. */
  readonly results: readonly ResultLayout[];
}

/** The size of the conversation before a turn, and from the turn on. */
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
  /** The number of answers after the answer that made the call: 0 if that is the newest answer. */
  readonly age: number;
  /** True if no request has contained the result yet. */
  readonly isWaiting: boolean;
}

/** The maximum ratio between a provider's count and an estimate. A larger ratio would be an error of the provider. */
const MAX_COUNT_RATIO = 3;

/**
 * Measures a context. All sizes are estimates, scaled so that the newest request and its answer get the size that the
 * provider counted. Without a count, the estimates are not scaled.
 */
export function measureContext(conversation: Conversation, prefix: RequestPrefix): ContextLayout {
  const { messages, results, queued, compaction } = conversation;
  const ratio = findCountRatio(conversation, prefix);
  const scale = (tokens: number) => Math.round(tokens * ratio);
  const waiting = estimateInput({ messages: [], results, queued }, NO_PREFIX);
  const all = estimateMessages(messages) + waiting;
  const said = compaction.said.reduce((sum, { text }) => sum + estimateTokensUnrounded(text), 0);
  return {
    size: estimateRequestSize(conversation, prefix),
    waiting: scale(waiting),
    said: scale(said),
    turns: measureTurns(messages).map(({ from, tokens }) => {
      return { from, before: scale(tokens), rest: scale(all - tokens) };
    }),
    results: measureResults(conversation, scale),
  };
}

/** Estimates the tokens of the full next request without its answer. */
export function estimateRequestSize(conversation: Conversation, prefix: RequestPrefix): number {
  return Math.round(estimateInput(conversation, prefix) * findCountRatio(conversation, prefix));
}

const NO_PREFIX: RequestPrefix = { system: [], tools: [] };

/** Returns the ratio between the provider's count and the estimate of the same messages; 1 without a count. */
function findCountRatio({ messages, compaction }: Conversation, prefix: RequestPrefix): number {
  const { counted } = compaction;
  if (counted === null || counted.tokens === 0) return 1;
  const estimated = estimatePrompt(prefix, messages.slice(0, counted.messages));
  if (estimated === 0) return 1;
  const tokens = counted.tokens - estimateHiddenTokens(messages, counted);
  return Math.min(MAX_COUNT_RATIO, Math.max(1 / MAX_COUNT_RATIO, tokens / estimated));
}

/**
 * Estimates the reasoning tokens that the provider counted but that no message contains. They are subtracted from the
 * count, because they would make all other parts look larger. If the next request contains them after all, the
 * provider's count of that request includes them.
 */
function estimateHiddenTokens(
  messages: readonly Message[],
  { messages: upTo, output }: CountedTokens,
): number {
  const answer = messages[upTo - 1];
  return answer === undefined
    ? 0
    : Math.max(0, output - estimateMessages([answer]) * MAX_COUNT_RATIO);
}

/** Estimates the tokens of messages alone, without a prefix. */
function estimateMessages(messages: readonly Message[]): number {
  return estimatePrompt(NO_PREFIX, messages);
}

/** Measures for each turn the tokens of the conversation before it. */
function measureTurns(
  messages: readonly Message[],
): readonly { readonly from: number; readonly tokens: number }[] {
  const turns: { readonly from: number; readonly tokens: number }[] = [];
  let before = 0;
  for (const [from, message] of messages.entries()) {
    if (message.role === 'assistant') turns.push({ from, tokens: before });
    before += estimateMessages([message]);
  }
  return turns;
}

function measureResults(
  { messages, results }: Conversation,
  scale: (tokens: number) => number,
): readonly ResultLayout[] {
  const measureResult = (part: ToolResultPart, age: number, isWaiting: boolean): ResultLayout => {
    const { callId, name, text, attachments = [] } = part;
    const tool = canonicalToolName(name) ?? name;
    const tokens = scale(resultTokens(part));
    const shown = attachments.map(describeAttachment);
    return { callId, tool, characters: text.length, shown, tokens, age, isWaiting };
  };
  const layouts: ResultLayout[] = [...results.values()].map((part) => measureResult(part, 0, true));
  let age = results.size > 0 ? 1 : 0;
  // The messages are read backwards, because `age` counts the answers after a result.
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant' && (results.size === 0 || message !== messages.at(-1))) {
      age += 1;
    }
    if (message.role !== 'tool') continue;
    layouts.push(...message.content.map((part) => measureResult(part, age, false)));
  }
  return layouts.toReversed();
}
