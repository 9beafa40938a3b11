import type { Conversation } from '../../protocol/state/conversation.ts';
import type { Counted } from '../../protocol/initial-context.ts';
import type { Message, ToolResultPart } from '../../protocol/message.ts';
import type { RequestPrefix } from '../../protocol/model.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
import { describeAttachment } from '../../protocol/attachment.ts';
import { estimateInput, estimatePrompt, resultTokens } from '../limits/estimate.ts';

/** What a task's next request is made of; all in tokens. */
export interface Layout {
  /** Of the whole request, its answer left out. */
  readonly size: number;
  /** Of that, what no request holds yet. */
  readonly waiting: number;
  /** What people and tasks have said, since the beginning: as much of it as may is said again. */
  readonly said: number;
  /** Each from an answer of the model to before the next one; the oldest first. */
  readonly turns: readonly LaidTurn[];
  /** Of calls; the oldest first. */
  readonly results: readonly LaidResult[];
}

export interface LaidTurn {
  /** The index of its first message. */
  readonly from: number;
  /** Of the conversation before it. */
  readonly before: number;
  /** Of the conversation from it on, what waits included. */
  readonly rest: number;
}

export interface LaidResult {
  readonly callId: string;
  readonly tool: string;
  readonly characters: number;
  /** Images and documents, in words. */
  readonly shown: readonly string[];
  readonly tokens: number;
  /** Answers after the one that made the call: 0 for the newest. */
  readonly age: number;
  readonly isWaiting: boolean;
}

/** How far a provider's own count is believed to be from an estimate. */
const MOST_OFF = 3;

/**
 * As the provider has counted the newest request and its answer, with an estimate of what came since in
 * the same measure; estimated alone where nobody has counted.
 */
export function layoutOf(conversation: Conversation, prefix: RequestPrefix): Layout {
  const { messages, results, queued, compaction } = conversation;
  const ratio = ratioOf(conversation, prefix);
  const scaled = (tokens: number) => Math.round(tokens * ratio);
  const waiting = estimateInput({ messages: [], results, queued }, NO_PREFIX);
  const all = tokensOfAll(messages) + waiting;
  const said = compaction.said.reduce((sum, { text }) => sum + estimateTokensUnrounded(text), 0);
  return {
    size: requestSize(conversation, prefix),
    waiting: scaled(waiting),
    said: scaled(said),
    turns: turnsIn(messages).map(({ from, tokens }) => {
      return { from, before: scaled(tokens), rest: scaled(all - tokens) };
    }),
    results: resultsIn(conversation, scaled),
  };
}

/** Of the whole next request, its answer left out. */
export function requestSize(conversation: Conversation, prefix: RequestPrefix): number {
  return Math.round(estimateInput(conversation, prefix) * ratioOf(conversation, prefix));
}

const NO_PREFIX: RequestPrefix = { system: [], tools: [] };

function ratioOf({ messages, compaction }: Conversation, prefix: RequestPrefix): number {
  const { counted } = compaction;
  if (counted === null || counted.tokens === 0) return 1;
  const estimated = estimatePrompt(prefix, messages.slice(0, counted.messages));
  if (estimated === 0) return 1;
  const tokens = counted.tokens - hiddenTokens(messages, counted);
  return Math.min(MOST_OFF, Math.max(1 / MOST_OFF, tokens / estimated));
}

/**
 * What was thought and stands in no message: where the next request holds it at all, its own count will say
 * so. It would make everything else look larger.
 */
function hiddenTokens(messages: readonly Message[], { messages: upTo, output }: Counted): number {
  const answer = messages[upTo - 1];
  return answer === undefined ? 0 : Math.max(0, output - tokensOfAll([answer]) * MOST_OFF);
}

function tokensOfAll(messages: readonly Message[]): number {
  return estimatePrompt(NO_PREFIX, messages);
}

function turnsIn(
  messages: readonly Message[],
): readonly { readonly from: number; readonly tokens: number }[] {
  const turns: { readonly from: number; readonly tokens: number }[] = [];
  let before = 0;
  for (const [from, message] of messages.entries()) {
    if (message.role === 'assistant') turns.push({ from, tokens: before });
    before += tokensOfAll([message]);
  }
  return turns;
}

function resultsIn(
  { messages, results }: Conversation,
  scaled: (tokens: number) => number,
): readonly LaidResult[] {
  const laidResult = (part: ToolResultPart, age: number, isWaiting: boolean): LaidResult => {
    const { callId, name, text, attachments = [] } = part;
    const tool = canonicalToolName(name) ?? name;
    const tokens = scaled(resultTokens(part));
    const shown = attachments.map(describeAttachment);
    return { callId, tool, characters: text.length, shown, tokens, age, isWaiting };
  };
  const laid: LaidResult[] = [...results.values()].map((part) => laidResult(part, 0, true));
  let age = results.size > 0 ? 1 : 0;
  // From the newest back: whose answer it is comes before it.
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant' && (results.size === 0 || message !== messages.at(-1))) {
      age += 1;
    }
    if (message.role !== 'tool') continue;
    laid.push(...message.content.map((part) => laidResult(part, age, false)));
  }
  return laid.toReversed();
}
