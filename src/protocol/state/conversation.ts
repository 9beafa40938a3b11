import { escapeTags } from '../../base/control-tags.ts';
import { applyToCompaction, initialCompaction, type Compaction, type Said } from './compaction.ts';
import { formatQuotedItem } from '../quoted-item.ts';
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
 * The conversation of a task with its model, folded from the log. Requests are built from it. It is mutable, because a
 * history of many turns must not be copied for each event.
 */
export interface Conversation {
  /** The messages of the newest request, and the answer to it. */
  readonly messages: Message[];
  /** The calls of the newest answer, in their order. */
  openCalls: readonly ToolCallPart[];
  /** The outcomes of open calls, by call id. */
  readonly results: Map<string, ToolResultPart>;
  /** Inputs for the next request, in order of arrival. */
  queued: readonly TaskInput[];
  /** Inputs of a request that has not been accepted yet. */
  undelivered: readonly string[];
  /** The model that the newest request was sent to. */
  model: string;
  /** Agent types that people named in the inputs of the newest request, with the text of the input. */
  mentioned: readonly Mention[];
  /** Ids of all inputs that have arrived or were withdrawn. */
  readonly inputIds: Set<string>;
  /** The conversation of its parent that is summarized for it; null if there is none. */
  handover: SummaryTransfer | null;
  readonly compaction: Compaction;
}

/** An agent type that a person named, and the text that names it. */
export interface Mention {
  readonly agent: string;
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
    handover: null,
    compaction: initialCompaction(),
  };
}

const INTERRUPTED = '<notice>The user interrupted you here. Background tasks went on.</notice>';

/** The input id of a task's own prompt. */
const PROMPT_INPUT = 'prompt';

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
        conversation.handover = { of: summarised, text: null, isSummary: false };
      }
      for (const message of inherited?.messages ?? []) conversation.messages.push(message);
      conversation.compaction.counted = inherited?.counted ?? null;
      conversation.compaction.said = (inherited?.said ?? []).map(({ at, from, text }) => {
        return { at, from, text, as: 'inherited' };
      });
      if (given !== undefined) queue(conversation, givenInput(given.text));
      queue(conversation, {
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
      if (open === null || !open.isHandover || event.nonce === undefined) return;
      const text = handedText(open.head, event.summary, event.nonce);
      takeHandover(conversation, { text, isSummary: true });
      return;
    }
    case 'context.handed':
      takeHandover(conversation, { text: event.text, isSummary: event.from !== null });
      return;
    case 'input.queued':
      queue(conversation, event.input);
      return;
    case 'turn.interrupted':
      queue(conversation, { id: event.input, kind: 'notice', from: 'muster', text: INTERRUPTED });
      return;
    case 'input.withdrawn':
      // Inputs that have not arrived yet count too: the model may read an end before its notice.
      for (const id of event.ids) conversation.inputIds.add(id);
      conversation.queued = conversation.queued.filter(({ id }) => !event.ids.includes(id));
      return;
    case 'turn.started':
      conversation.model = event.model;
      closeCalls(conversation);
      takeInputs(conversation, event.inputs);
      return;
    case 'task.reused':
      // A task that continues this conversation continues after the prompt and this answer.
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
      conversation.messages.push(ofItsModel(event.message, conversation.model));
      conversation.mentioned = [];
      conversation.openCalls = toolCalls(event.message);
      return;
    case 'call.ended':
    case 'call.refused': {
      const { callId, text, error } = event;
      const { nonce, attachments } = event.type === 'call.ended' ? event : NOTHING_MORE;
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

/** The result of a call that did not run, which contains only Muster's own text. */
const NOTHING_MORE: Pick<ToolResultPart, 'nonce' | 'attachments'> = {};

function ofItsModel(message: AssistantMessage, model: string): AssistantMessage {
  return isBoundToModel(message) ? { ...message, model } : message;
}

function givenInput(text: string): TaskInput {
  return { id: 'given', kind: 'message', from: 'muster', text };
}

/** Adds the text that replaces the parent's conversation. It comes before the prompt, which waits for it. */
function takeHandover(
  conversation: Conversation,
  handed: Pick<SummaryTransfer, 'isSummary'> & { readonly text: string },
): void {
  const { handover, queued } = conversation;
  if (handover === null || handover.text !== null) return;
  conversation.handover = { ...handover, ...handed };
  const input = givenInput(handed.text);
  conversation.inputIds.add(input.id);
  conversation.queued = [input, ...queued];
}

/** Formats the summary of the parent's conversation as a notice, because an agent wrote it and not a person. */
function handedText(head: readonly string[], summary: string, nonce: string): string {
  return `<notice>${head.join('\n')}\n${markOutside(summary, nonce)}\n</notice>`;
}

function queue(conversation: Conversation, input: TaskInput): void {
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

/** Adds the results of an answer's calls to the history together, in the order of the calls. */
function closeCalls(conversation: Conversation): void {
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
  const taken = ids.flatMap((id) => conversation.queued.find((input) => input.id === id) ?? []);
  conversation.queued = conversation.queued.filter((input) => !ids.includes(input.id));
  conversation.undelivered = [...conversation.undelivered, ...ids];
  const mentioned = taken.flatMap(({ text, mentions = [] }) =>
    mentions.map((agent) => ({ agent, text })),
  );
  conversation.mentioned = [...conversation.mentioned, ...mentioned];
  const { compaction } = conversation;
  compaction.said = [...compaction.said, ...saidIn(taken, conversation.messages.length)];
  conversation.messages.push({ role: 'user', content: inputParts(taken) });
}

function saidIn(inputs: readonly TaskInput[], at: number): readonly Said[] {
  return inputs.flatMap(({ kind, from, text }) =>
    kind === 'prompt' || kind === 'message' ? [{ at, from, text, as: kind }] : [],
  );
}

/** Returns the parts of a message with these inputs, in order of arrival. One notice reports all that has ended. */
function inputParts(inputs: readonly TaskInput[]): readonly TextPart[] {
  const parts: TextPart[] = [];
  const ended = inputs.filter(({ kind }) => kind === 'result');
  if (ended.length > 0) {
    const text = `<notice>Ended in the background:\n${endsText(ended)}\n</notice>`;
    parts.push({ type: 'text', text });
  }
  for (const { kind, text, mentions = [], enclosed = [] } of inputs) {
    if (kind !== 'result') parts.push({ type: 'text', text });
    for (const enclosure of enclosed) {
      const { attachments } = enclosure;
      const shown = attachments === undefined ? {} : { attachments };
      parts.push({ type: 'text', text: formatQuotedItem(enclosure), ...shown });
    }
    if (mentions.length > 0) parts.push({ type: 'text', text: mentionNotice(mentions) });
  }
  return parts;
}

function mentionNotice(agents: readonly string[]): string {
  const types = agents.map((agent) => JSON.stringify(escapeTags(agent))).join(', ');
  return `<notice>The user chose who does this: your next message calls Task with subagent_type ${types}${agents.length === 1 ? '' : ', one call each'}. Say in the prompt all that is needed for it.</notice>`;
}

/** Quotes these texts in one boundary, with a nonce that occurs in none of them. */
function endsText(ended: readonly TaskInput[]): string {
  const text = ended.map((input) => input.text).join('\n');
  const nonces = ended.flatMap(({ nonce }) => nonce ?? []);
  // Inputs in older logs have no nonce.
  if (nonces.length === 0) return text;
  return markOutside(text, nonces.find((nonce) => !text.includes(nonce)) ?? nonces.join(''));
}
