import { escapeTags } from '../../base/control-tags.ts';
import type { ClearedCall, ContextSize } from '../events/compaction-event.ts';
import type { TaskEvent } from '../events/event.ts';
import type { SummaryTransfer, CountedTokens, Statement } from '../initial-context.ts';
import type { Message, ToolResultPart } from '../message.ts';
import { toCount } from '../model.ts';

/** A statement of a person or another task in the conversation of a task. */
export interface AddressedStatement extends Statement {
  /** The form of the statement. `inherited`: it was addressed to the parent whose conversation the task continues. */
  readonly as: 'prompt' | 'message' | 'inherited';
}

/** The number of tokens of a conversation, and the state of its compaction. */
export interface Compaction {
  /** The number of tokens of the first messages; null: the provider has not reported it. */
  counted: CountedTokens | null;
  /** The statements that are kept verbatim when the conversation is summarized. */
  said: readonly AddressedStatement[];
  /** The numbers of the events that contain the results of calls, by call id. */
  readonly resultEvents: Map<string, number>;
  /** The requested summary that has not arrived yet; null: no summary is requested. */
  open: {
    /** The number of messages that are summarized. */
    readonly upTo: number;
    /** The texts before the summary in the message that replaces these messages. */
    readonly head: readonly string[];
    /** The text that asks for the summary. */
    readonly ask: string;
    /** The size of the next request before and after the summary. */
    readonly size: ContextSize;
    /** True if the parent's conversation is summarized, and not that of the task itself. */
    readonly isOfParent: boolean;
    /** True if a person has interrupted the request. */
    readonly isInterrupted: boolean;
  } | null;
  /** The number of failed summaries in a row. A request that failed without an answer counts twice. */
  failures: number;
  /** The number of compactions since the newest answer. */
  sinceAnswer: number;
  /** True if the provider has refused the newest request as too large, and the context was not compacted since then. */
  hasOverflowed: boolean;
}

export function initialCompaction(): Compaction {
  return {
    counted: null,
    said: [],
    resultEvents: new Map(),
    open: null,
    failures: 0,
    sinceAnswer: 0,
    hasOverflowed: false,
  };
}

/** The parts of a conversation that compaction reads and changes. */
interface CompactedConversation {
  readonly messages: Message[];
  readonly results: Map<string, ToolResultPart>;
  readonly compaction: Compaction;
  readonly summaryTransfer: SummaryTransfer | null;
}

/** Applies an event. Must be called after `messages` was changed for the event. */
export function applyToCompaction(conversation: CompactedConversation, event: TaskEvent): void {
  const { compaction, messages } = conversation;
  switch (event.type) {
    case 'task.resumed':
      // After a resume, a failed summary is requested again.
      compaction.failures = 0;
      return;
    case 'turn.interrupted':
      if (compaction.open !== null) compaction.open = { ...compaction.open, isInterrupted: true };
      return;
    case 'turn.accepted':
      if (compaction.open === null) compaction.hasOverflowed = false;
      return;
    case 'turn.ended': {
      const { input, cacheRead, cacheWrite, output } = event.usage;
      const tokens = [input, cacheRead, cacheWrite, output].reduce((sum, n) => sum + toCount(n), 0);
      compaction.counted =
        tokens === 0 ? null : { tokens, messages: messages.length, output: toCount(output) };
      compaction.sinceAnswer = 0;
      return;
    }
    case 'turn.failed':
      if (compaction.open === null) {
        compaction.hasOverflowed = event.failure.kind === 'context_overflow';
      } else if (!compaction.open.isInterrupted) compaction.failures += 2;
      compaction.open = null;
      return;
    case 'call.ended':
    case 'call.refused':
      compaction.resultEvents.set(event.callId, event.seq);
      return;
    case 'summary.started': {
      const { upTo, head, ask, size, of } = event;
      const isOfParent = of !== undefined;
      compaction.open = { upTo, head, ask, size, isOfParent, isInterrupted: false };
      return;
    }
    case 'summary.refused':
      compaction.open = null;
      compaction.failures += 1;
      return;
    case 'context.summarised': {
      const { open } = compaction;
      if (open === null) return;
      compaction.open = null;
      if (open.isOfParent) {
        compaction.failures = 0;
        return;
      }
      replaceFirstMessages(conversation, open.upTo, [...open.head, formatSummary(event.summary)]);
      recordCompaction(conversation, event);
      return;
    }
    case 'context.handed':
      compaction.open = null;
      compaction.failures = 0;
      return;
    case 'context.dropped':
      replaceFirstMessages(conversation, event.upTo, event.head);
      recordCompaction(conversation, event);
      return;
    case 'context.cleared':
      clearResults(conversation, event.calls);
      recordCompaction(conversation, event);
      return;
    default:
  }
}

/** Returns the messages of the request for the open summary; null: no summary is requested. */
export function summaryMessages(conversation: CompactedConversation): readonly Message[] | null {
  const { open } = conversation.compaction;
  if (open === null) return null;
  const ask: Message = { role: 'user', content: [{ type: 'text', text: open.ask }] };
  return [...messagesToSummarize(conversation).slice(0, open.upTo), ask];
}

/** Returns the messages from which the next summary would be written: those of the parent or those of the task itself. */
export function messagesToSummarize({
  messages,
  summaryTransfer,
}: Pick<CompactedConversation, 'messages' | 'summaryTransfer'>): readonly Message[] {
  return summaryTransfer?.text === null ? summaryTransfer.of.messages : messages;
}

/** Returns true if a summary of the parent's conversation must arrive before the task can send another request. */
export function isSummaryTransferDue({
  summaryTransfer,
}: Pick<CompactedConversation, 'summaryTransfer'>): boolean {
  return summaryTransfer !== null && summaryTransfer.text === null;
}

/** Formats a summary. Its tags are escaped, because it may quote outside text. */
function formatSummary(summary: string): string {
  return `<summary>\n${escapeTags(summary)}\n</summary>`;
}

/** Records that the context was compacted, and its new size. */
function recordCompaction(
  { compaction, messages }: CompactedConversation,
  { size }: { readonly size: ContextSize },
): void {
  const tokens = Math.max(0, toCount(size.after) - toCount(size.waiting));
  compaction.counted = { tokens, messages: messages.length, output: 0 };
  compaction.sinceAnswer += 1;
  compaction.failures = 0;
  compaction.hasOverflowed = false;
}

/** Replaces the first `upTo` messages by one user message with `texts`, and adapts the indexes of the statements. */
function replaceFirstMessages(
  { messages, compaction }: CompactedConversation,
  upTo: number,
  texts: readonly string[],
): void {
  const content = texts.map((text) => ({ type: 'text', text }) as const);
  const removed = messages.splice(0, upTo, { role: 'user', content }).length;
  compaction.said = compaction.said.map((said) => ({
    ...said,
    at: said.at < removed ? 0 : said.at - removed + 1,
  }));
}

function clearResults(
  { messages, results }: CompactedConversation,
  calls: readonly ClearedCall[],
): void {
  const lines = new Map(calls.map(({ callId, text }) => [callId, text]));
  // The line is from Muster, so the result loses its nonce and is not marked as outside text.
  const clear = ({ type, callId, name, isError, text }: ToolResultPart): ToolResultPart => {
    return { type, callId, name, text: lines.get(callId) ?? text, isError };
  };
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') continue;
    if (!message.content.some(({ callId }) => lines.has(callId))) continue;
    const content = message.content.map((part) => (lines.has(part.callId) ? clear(part) : part));
    messages[index] = { ...message, content };
  }
  for (const [callId, part] of results) {
    if (lines.has(callId)) results.set(callId, clear(part));
  }
}
