import { escapeTags } from '../../base/control-tags.ts';
import type { ClearedCall, ContextSize } from '../events/compaction-event.ts';
import type { TaskEvent } from '../events/event.ts';
import type { SummaryTransfer, Counted, SaidWords } from '../initial-context.ts';
import type { Message, ToolResultPart } from '../message.ts';
import { toCount } from '../model.ts';

/** A statement of a person or another task to this one, with the index of the message that holds it. */
export interface Said extends SaidWords {
  /** `inherited`: it was addressed to the task whose conversation this one continues. */
  readonly as: 'prompt' | 'message' | 'inherited';
}

/** The size of a conversation, and the state of its compaction. */
export interface Compaction {
  /** The tokens of its first messages, including everything before them; null if nobody has counted them. */
  counted: Counted | null;
  /** Statements that are kept verbatim when the conversation is summarized. */
  said: readonly Said[];
  /** Numbers of the events that hold the results of calls, by call id. */
  readonly resultEvents: Map<string, number>;
  /** The requested summary that has not arrived yet; null if there is none. */
  open: {
    readonly upTo: number;
    readonly head: readonly string[];
    readonly ask: string;
    readonly size: ContextSize;
    /** True if it summarizes the parent's conversation. */
    readonly isHandover: boolean;
    /** True if a person has interrupted the request. */
    readonly isInterrupted: boolean;
  } | null;
  /** The number of failed summaries in a row. A request without an answer counts twice. */
  failures: number;
  /** The number of compactions since the newest answer. */
  sinceAnswer: number;
  /** True if the provider has refused the newest request as too large, and nothing was compacted since. */
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

/** The parts of a conversation that compaction changes. */
interface Compacted {
  readonly messages: Message[];
  readonly results: Map<string, ToolResultPart>;
  readonly compaction: Compaction;
  readonly handover: SummaryTransfer | null;
}

/** Applies an event, after it has changed the messages. */
export function applyToCompaction(conversation: Compacted, event: TaskEvent): void {
  const { compaction, messages } = conversation;
  switch (event.type) {
    case 'task.resumed':
      // A summary that a stop has cut off is requested again.
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
      const isHandover = of !== undefined;
      compaction.open = { upTo, head, ask, size, isHandover, isInterrupted: false };
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
      recordRoom(conversation, event);
      return;
    }
    case 'context.handed':
      compaction.open = null;
      compaction.failures = 0;
      return;
    case 'context.dropped':
      replaceHead(conversation, event.upTo, event.head);
      recordRoom(conversation, event);
      return;
    case 'context.cleared':
      clearResults(conversation, event.calls);
      recordRoom(conversation, event);
      return;
    default:
  }
}

/** Returns the messages of the request for the open summary; null if no summary is requested. */
export function summaryMessages(conversation: Compacted): readonly Message[] | null {
  const { open } = conversation.compaction;
  if (open === null) return null;
  const ask: Message = { role: 'user', content: [{ type: 'text', text: open.ask }] };
  return [...messagesToSummarize(conversation).slice(0, open.upTo), ask];
}

/** Returns the messages that the next summary would cover: those of the parent's conversation or of its own. */
export function messagesToSummarize({
  messages,
  handover,
}: Pick<Compacted, 'messages' | 'handover'>): readonly Message[] {
  return handover?.text === null ? handover.of.messages : messages;
}

/** Tells whether a summary of the parent's conversation must arrive before the task sends a request of its own. */
export function isSummaryTransferDue({ handover }: Pick<Compacted, 'handover'>): boolean {
  return handover !== null && handover.text === null;
}

/** Formats a summary. Its tags are escaped, because what it quotes of files and commands came from outside. */
function summaryText(summary: string): string {
  return `<summary>\n${escapeTags(summary)}\n</summary>`;
}

function recordRoom(
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
  // The line is Muster's own text, so it needs no boundary around outside text.
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
