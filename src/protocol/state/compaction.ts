import { escapeTags } from '../../base/control-tags.ts';
import type { ClearedCall, ContextSize } from '../events/compaction-event.ts';
import type { TaskEvent } from '../events/event.ts';
import type { SummaryTransfer, Counted, SaidWords } from '../initial-context.ts';
import type { Message, ToolResultPart } from '../message.ts';
import { toCount } from '../model.ts';

/** What a person or another task has said to this one, and which of its messages holds it. */
export interface Said extends SaidWords {
  /** `inherited`: it was said to the task whose conversation this one goes on with. */
  readonly as: 'prompt' | 'message' | 'inherited';
}

/** What is known of the size of a conversation, and of what was taken out of it. */
export interface Compaction {
  /** What so many of its first messages take, with all that stands before them; null: nobody has counted. */
  counted: Counted | null;
  /** Kept word for word, whatever is summarised. */
  said: readonly Said[];
  /** Numbers of the events that hold the results of calls, by call id. */
  readonly resultEvents: Map<string, number>;
  /** A summary that was asked for and has not come; null: none. */
  open: {
    readonly upTo: number;
    readonly head: readonly string[];
    readonly ask: string;
    readonly size: ContextSize;
    /** It is of the parent's conversation. */
    readonly isHandover: boolean;
    /** A person wants the request for it to end. */
    readonly isInterrupted: boolean;
  } | null;
  /** Summaries in a row that came to nothing; those that no answer came to count twice. */
  failures: number;
  /** How often room was made since the newest answer. */
  sinceAnswer: number;
  /** The provider has refused the newest request as too large, and no room was made since. */
  overflowed: boolean;
}

export function initialCompaction(): Compaction {
  return {
    counted: null,
    said: [],
    resultEvents: new Map(),
    open: null,
    failures: 0,
    sinceAnswer: 0,
    overflowed: false,
  };
}

/** What of a conversation is made smaller. */
interface Compacted {
  readonly messages: Message[];
  readonly results: Map<string, ToolResultPart>;
  readonly compaction: Compaction;
  readonly handover: SummaryTransfer | null;
}

/** After the event has changed the messages, where it does. */
export function applyToCompaction(conversation: Compacted, event: TaskEvent): void {
  const { compaction, messages } = conversation;
  switch (event.type) {
    case 'task.resumed':
      // A summary that a stop has cut off is asked for once more.
      compaction.failures = 0;
      return;
    case 'turn.interrupted':
      if (compaction.open !== null) compaction.open = { ...compaction.open, isInterrupted: true };
      return;
    case 'turn.accepted':
      if (compaction.open === null) compaction.overflowed = false;
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
        compaction.overflowed = event.failure.kind === 'context_overflow';
      } else if (!compaction.open.isInterrupted) compaction.failures += 2;
      compaction.open = null;
      return;
    case 'call.ended':
    case 'call.refused':
      compaction.resultEvents.set(event.callId, event.seq);
      return;
    case 'summary.started': {
      const { upTo, head, ask, size, of } = event;
      compaction.open = {
        upTo,
        head,
        ask,
        size,
        isHandover: of !== undefined,
        isInterrupted: false,
      };
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
      if (open.isHandover) {
        compaction.failures = 0;
        return;
      }
      replaceHead(conversation, open.upTo, [...open.head, summaryText(event.summary)]);
      roomMade(conversation, event);
      return;
    }
    case 'context.handed':
      compaction.open = null;
      compaction.failures = 0;
      return;
    case 'context.dropped':
      replaceHead(conversation, event.upTo, event.head);
      roomMade(conversation, event);
      return;
    case 'context.cleared':
      clearResults(conversation, event.calls);
      roomMade(conversation, event);
      return;
    default:
  }
}

/** The messages of the request for the summary that is asked for; null: none is. */
export function summaryMessages(conversation: Compacted): readonly Message[] | null {
  const { open } = conversation.compaction;
  if (open === null) return null;
  const ask: Message = { role: 'user', content: [{ type: 'text', text: open.ask }] };
  return [...messagesToSummarize(conversation).slice(0, open.upTo), ask];
}

/** What a summary would be of that is asked for next: messages of its parent's conversation, or of its own. */
export function messagesToSummarize({
  messages,
  handover,
}: Pick<Compacted, 'messages' | 'handover'>): readonly Message[] {
  return handover?.text === null ? handover.of.messages : messages;
}

/** Whether a summary of its parent's conversation is to come before any request of its own. */
export function isSummaryTransferDue({ handover }: Pick<Compacted, 'handover'>): boolean {
  return handover !== null && handover.text === null;
}

/** What it tells of files and commands came from outside. */
function summaryText(summary: string): string {
  return `<summary>\n${escapeTags(summary)}\n</summary>`;
}

function roomMade(
  { compaction, messages }: Compacted,
  { size }: { readonly size: ContextSize },
): void {
  const tokens = Math.max(0, toCount(size.after) - toCount(size.waiting));
  compaction.counted = { tokens, messages: messages.length, output: 0 };
  compaction.sinceAnswer += 1;
  compaction.failures = 0;
  compaction.overflowed = false;
}

function replaceHead(
  { messages, compaction }: Compacted,
  upTo: number,
  texts: readonly string[],
): void {
  const content = texts.map((text) => ({ type: 'text', text }) as const);
  const taken = messages.splice(0, upTo, { role: 'user', content }).length;
  compaction.said = compaction.said.map((said) => ({
    ...said,
    at: said.at < taken ? 0 : said.at - taken + 1,
  }));
}

function clearResults({ messages, results }: Compacted, calls: readonly ClearedCall[]): void {
  const lines = new Map(calls.map(({ callId, text }) => [callId, text]));
  // Of Muster's own words: without the boundary of what came from outside.
  const cleared = ({ type, callId, name, isError, text }: ToolResultPart): ToolResultPart => {
    return { type, callId, name, text: lines.get(callId) ?? text, isError };
  };
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') continue;
    if (!message.content.some(({ callId }) => lines.has(callId))) continue;
    const content = message.content.map((part) => (lines.has(part.callId) ? cleared(part) : part));
    messages[index] = { ...message, content };
  }
  for (const [callId, part] of results) {
    if (lines.has(callId)) results.set(callId, cleared(part));
  }
}
