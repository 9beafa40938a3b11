import { escapeTags } from '../../base/control-tags.ts';
import {
  applyToCompaction,
  initialCompaction,
  type Compaction,
  type AddressedStatement,
} from './compaction.ts';
import { formatQuotedItem } from '../quoted-item.ts';
import { applyToQuotedCalls, type UnsentMessage } from './quoted-calls.ts';
import type { TaskEvent } from '../events/event.ts';
import type { SummaryTransfer } from '../initial-context.ts';
import type { TaskInput } from '../input.ts';
import {
  isBoundToModel,
  toolCalls,
  type AssistantMessage,
  type Message,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
} from '../message.ts';
import { markOutside } from '../outside-text.ts';

/**
 * The conversation of a task with its model, folded from the log. Requests are built from it. The object is mutable,
 * because copying a long conversation for each event would be slow.
 */
export interface Conversation {
  /** The messages of the newest request, and the answer to it. */
  readonly messages: Message[];
  /** The calls of the newest answer in order; empty after the next request has begun. */
  openCalls: readonly ToolCallPart[];
  /** The results of `openCalls` that have ended, by call id. */
  readonly results: Map<string, ToolResultPart>;
  /** The inputs for the next request, in the order of their arrival. */
  queued: readonly TaskInput[];
  /** The ids of the inputs of a request that the provider has not accepted yet. */
  undelivered: readonly string[];
  /** The model to which the newest request was sent, as `provider/id`. */
  model: string;
  /** The agent types that people named in the inputs of the newest request, each with the text of its input. */
  mentioned: readonly AgentMention[];
  /** The ids of all inputs that have arrived or were withdrawn. */
  readonly inputIds: Set<string>;
  /** The transfer of a summary of the parent's conversation; null: the task gets no summary. */
  summaryTransfer: SummaryTransfer | null;
  /** The message that was refused because of a shell part, after the newest request; null if there is none. */
  unsent: UnsentMessage | null;
  /** The number of tokens of the conversation, and the state of its compaction. */
  readonly compaction: Compaction;
}

/** An agent type that a person named, and the text that names it. */
export interface AgentMention {
  /** The agent type. */
  readonly agent: string;
  /** The text of the input. */
  readonly text: string;
}

export function emptyConversation(): Conversation {
  return {
    messages: [],
    openCalls: [],
    results: new Map(),
    queued: [],
    undelivered: [],
    model: '',
    mentioned: [],
    inputIds: new Set(),
    summaryTransfer: null,
    unsent: null,
    compaction: initialCompaction(),
  };
}

const INTERRUPTED = '<notice>The user interrupted you here. Background tasks went on.</notice>';

/** The id of the input that is the prompt of the task. */
export const PROMPT_INPUT = 'prompt';

/** Returns the open calls without a result. */
export function unansweredCalls(conversation: Conversation): readonly ToolCallPart[] {
  return conversation.openCalls.filter((call) => !conversation.results.has(call.id));
}

export function applyToConversation(conversation: Conversation, event: TaskEvent): void {
  applyToMessages(conversation, event);
  applyToCompaction(conversation, event);
}

function applyToMessages(conversation: Conversation, event: TaskEvent): void {
  switch (event.type) {
    case 'task.created': {
      const { parent, prompt, mentions, enclosed, given, inherited, summarised } = event.spec;
      if (summarised !== undefined) {
        conversation.summaryTransfer = { of: summarised, text: null, isSummary: false };
      }
      for (const message of inherited?.messages ?? []) conversation.messages.push(message);
      conversation.compaction.counted = inherited?.counted ?? null;
      conversation.compaction.said = (inherited?.said ?? []).map(({ at, from, text }) => {
        return { at, from, text, as: 'inherited' };
      });
      if (given !== undefined) queueInput(conversation, createInitialContextInput(given.text));
      queueInput(conversation, {
        id: PROMPT_INPUT,
        kind: 'prompt',
        from: parent ?? 'user',
        text: prompt,
        ...(mentions === undefined ? {} : { mentions }),
        ...(enclosed === undefined ? {} : { enclosed }),
      });
      return;
    }
    case 'context.summarised': {
      const { open } = conversation.compaction;
      if (open === null || !open.isOfParent || event.nonce === undefined) return;
      const text = formatTransferredSummary(open.head, event.summary, event.nonce);
      takeSummaryTransfer(conversation, { text, isSummary: true });
      return;
    }
    case 'context.handed':
      takeSummaryTransfer(conversation, { text: event.text, isSummary: event.from !== null });
      return;
    case 'input.queued':
      queueInput(conversation, event.input);
      return;
    case 'turn.interrupted':
      queueInput(conversation, {
        id: event.input,
        kind: 'notice',
        from: 'muster',
        text: INTERRUPTED,
      });
      return;
    case 'input.withdrawn':
      // The ids are also remembered if an input has not arrived yet: the model may read about an end before its notice.
      for (const id of event.ids) conversation.inputIds.add(id);
      conversation.queued = conversation.queued.filter(({ id }) => !event.ids.includes(id));
      return;
    case 'task.resumed':
    case 'task.rewound':
      conversation.unsent = null;
      return;
    case 'turn.started':
      conversation.unsent = null;
      conversation.model = event.model;
      addResultsToHistory(conversation);
      takeInputs(conversation, event.inputs);
      return;
    case 'task.reused':
      // The prompt and the reused answer are added, so that the task can be resumed after them.
      takeInputs(conversation, [PROMPT_INPUT]);
      conversation.undelivered = [];
      conversation.messages.push({
        role: 'assistant',
        content: [{ type: 'text', text: event.text }],
      });
      return;
    case 'turn.accepted':
      // A request for a summary contains no inputs.
      if (conversation.compaction.open === null) conversation.undelivered = [];
      return;
    case 'turn.ended':
      conversation.messages.push(bindToModel(event.message, conversation.model));
      conversation.mentioned = [];
      conversation.openCalls = toolCalls(event.message);
      return;
    case 'call.ended':
    case 'call.refused': {
      applyToQuotedCalls(conversation, event);
      const { callId, text, error } = event;
      const { nonce, attachments } = event.type === 'call.ended' ? event : NO_OUTSIDE_CONTENT;
      addResult(conversation, {
        callId,
        text,
        isError: error !== null,
        ...(nonce === undefined ? {} : { nonce }),
        ...(attachments === undefined ? {} : { attachments }),
      });
      return;
    }
    default:
  }
}

/** The missing fields of the result of a call that did not run, whose text is from Muster. */
const NO_OUTSIDE_CONTENT: Pick<ToolResultPart, 'nonce' | 'attachments'> = {};

/** Records the model in a message that can only be sent back to this model. */
function bindToModel(message: AssistantMessage, model: string): AssistantMessage {
  return isBoundToModel(message) ? { ...message, model } : message;
}

function createInitialContextInput(text: string): TaskInput {
  return { id: 'given', kind: 'message', from: 'muster', text };
}

/** Adds the text that replaces the parent's conversation to the inputs, before the prompt. */
function takeSummaryTransfer(
  conversation: Conversation,
  transferred: Pick<SummaryTransfer, 'isSummary'> & { readonly text: string },
): void {
  const { summaryTransfer, queued } = conversation;
  if (summaryTransfer === null || summaryTransfer.text !== null) return;
  conversation.summaryTransfer = { ...summaryTransfer, ...transferred };
  const input = createInitialContextInput(transferred.text);
  conversation.inputIds.add(input.id);
  conversation.queued = [input, ...queued];
}

/** Formats the summary of the parent's conversation as a notice with outside text, because a model wrote the summary. */
function formatTransferredSummary(head: readonly string[], summary: string, nonce: string): string {
  return `<notice>${head.join('\n')}\n${markOutside(summary, nonce)}\n</notice>`;
}

function queueInput(conversation: Conversation, input: TaskInput): void {
  if (conversation.inputIds.has(input.id)) return;
  conversation.inputIds.add(input.id);
  conversation.queued = [...conversation.queued, input];
}

function addResult(
  conversation: Conversation,
  result: Omit<ToolResultPart, 'type' | 'name'>,
): void {
  const call = conversation.openCalls.find(({ id }) => id === result.callId);
  if (call === undefined) return;
  conversation.results.set(call.id, { type: 'tool_result', name: call.name, ...result });
}

/** Adds the results of the open calls as one message, in the order of the calls. */
function addResultsToHistory(conversation: Conversation): void {
  if (conversation.openCalls.length === 0) return;
  const content = conversation.openCalls.flatMap((call) => {
    const result = conversation.results.get(call.id);
    return result === undefined ? [] : [result];
  });
  conversation.messages.push({ role: 'tool', content });
  conversation.openCalls = [];
  conversation.results.clear();
}

function takeInputs(conversation: Conversation, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const inputs = ids.flatMap((id) => conversation.queued.find((input) => input.id === id) ?? []);
  conversation.queued = conversation.queued.filter((input) => !ids.includes(input.id));
  conversation.undelivered = [...conversation.undelivered, ...ids];
  const mentioned = inputs.flatMap((input) =>
    (input.mentions ?? []).map((agent) => ({ agent, text: textForAgent(input, agent) })),
  );
  conversation.mentioned = [...conversation.mentioned, ...mentioned];
  const { compaction } = conversation;
  compaction.said = [...compaction.said, ...findStatements(inputs, conversation.messages.length)];
  conversation.messages.push({ role: 'user', content: toInputParts(inputs) });
}

/** Returns the text for a mentioned agent: what its slash command says, with the outputs of its shell parts, or the input. */
function textForAgent({ text, enclosed = [] }: TaskInput, agent: string): string {
  const command = enclosed.find((item) => item.agent?.toLowerCase() === agent.toLowerCase());
  if (command === undefined) return text;
  const outputs = enclosed.filter(({ kind }) => kind === 'shell_part').map(formatQuotedItem);
  return [command.text, ...outputs].join('\n\n');
}

function findStatements(inputs: readonly TaskInput[], at: number): readonly AddressedStatement[] {
  return inputs.flatMap(({ kind, from, text }) =>
    kind === 'prompt' || kind === 'message' ? [{ at, from, text, as: kind }] : [],
  );
}

/** Converts inputs to the parts of a user message, in the order of their arrival. One notice reports all ends. */
function toInputParts(inputs: readonly TaskInput[]): readonly TextPart[] {
  const parts: TextPart[] = [];
  const ended = inputs.filter(({ kind }) => kind === 'result');
  if (ended.length > 0) {
    const text = `<notice>Ended in the background:\n${quoteEnds(ended)}\n</notice>`;
    parts.push({ type: 'text', text });
  }
  for (const { kind, text, mentions = [], enclosed = [] } of inputs) {
    if (kind !== 'result') parts.push({ type: 'text', text });
    for (const item of enclosed) {
      const { attachments } = item;
      const files = attachments === undefined ? {} : { attachments };
      parts.push({ type: 'text', text: formatQuotedItem(item), ...files });
    }
    if (mentions.length > 0) parts.push({ type: 'text', text: formatMentionNotice(mentions) });
  }
  return parts;
}

function formatMentionNotice(agents: readonly string[]): string {
  const types = agents.map((agent) => JSON.stringify(escapeTags(agent))).join(', ');
  return `<notice>The user chose who does this: your next message calls Task with subagent_type ${types}${agents.length === 1 ? '' : ', one call each'}. Say in the prompt all that is needed for it.</notice>`;
}

/** Quotes the texts of ends inside one boundary, with a nonce that occurs in none of the texts. */
function quoteEnds(ended: readonly TaskInput[]): string {
  const text = ended.map((input) => input.text).join('\n');
  const nonces = ended.flatMap(({ nonce }) => nonce ?? []);
  // Inputs in older logs have no nonce.
  if (nonces.length === 0) return text;
  return markOutside(text, nonces.find((nonce) => !text.includes(nonce)) ?? nonces.join(''));
}
