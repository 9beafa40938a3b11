import { TODO_LIST_HEADER } from '../engine/compaction/compaction-texts.ts';
import { isImage, type Attachment } from '../protocol/attachment.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { TaskInput } from '../protocol/input.ts';
import type { Message } from '../protocol/message.ts';
import { toCount } from '../protocol/model.ts';
import { markOutside } from '../protocol/outside-text.ts';
import { canonicalToolName } from '../protocol/tool-aliases.ts';
import { measureText, type RequestText } from './request-texts.ts';

type Part = Message['content'][number];

/**
 * Measures the texts of the messages of a request. Each text gets the name of its kind.
 *
 * @param transferred the context that came from the parent's conversation, or null
 */
export function measureMessages(
  messages: readonly Message[],
  log: readonly TaskEvent[],
  transferred: string | null,
): readonly RequestText[] {
  const names = readInputNames(log, transferred);
  const head = nameHeadParts(messages[0], log);
  return messages.flatMap((message, at) =>
    message.content.flatMap((part, index) => {
      const name = at === 0 ? head[index] : undefined;
      const inherited = names.inherited.has(message);
      const shown =
        part.type === 'tool_result' || part.type === 'text' ? (part.attachments ?? []) : [];
      return [
        measureText(
          name ?? namePart(message.role, part, { ...names, inherited }),
          getPartText(part),
        ),
        ...shown.map(measureAttachment),
      ];
    }),
  );
}

function measureAttachment(attachment: Attachment): RequestText {
  // The size in base64, which is how a request contains the attachment.
  const bytes = Math.ceil(toCount(attachment.bytes) / 3) * 4;
  const name = isImage(attachment) ? 'images' : 'documents';
  return { name, bytes, tokens: toCount(attachment.tokens) };
}

/** The data from the log by which the texts of messages get their names. */
interface InputNames {
  /** The kind of each input, by its text. */
  readonly kinds: ReadonlyMap<string, InputKind>;
  /** The texts that replaced cleared results, by call id. */
  readonly cleared: ReadonlyMap<string, string>;
  /** The messages from the parent's conversation. */
  readonly inherited: ReadonlySet<Message>;
}

type InputKind = TaskInput['kind'] | 'given';

const KIND_NAMES: Readonly<Record<InputKind, string>> = {
  given: 'handed context',
  prompt: 'prompt',
  message: 'said to it',
  result: 'delegated results',
  notice: 'notices',
};

function readInputNames(log: readonly TaskEvent[], transferred: string | null): InputNames {
  const kinds = new Map<string, InputKind>();
  if (transferred !== null) kinds.set(transferred, 'given');
  const cleared = new Map<string, string>();
  const inherited = new Set<Message>();
  for (const event of log) {
    if (event.type === 'task.created') {
      const { given, prompt } = event.spec;
      if (given !== undefined) kinds.set(given.text, 'given');
      kinds.set(prompt, 'prompt');
      for (const message of event.spec.inherited?.messages ?? []) inherited.add(message);
    }
    if (event.type === 'input.queued' && !kinds.has(event.input.text)) {
      kinds.set(event.input.text, event.input.kind);
    }
    if (event.type === 'context.cleared') {
      for (const { callId, text } of event.calls) cleared.set(callId, text);
    }
  }
  return { kinds, cleared, inherited };
}

/**
 * Returns the names of the parts of the first message, if a compaction has put it in the place of earlier messages.
 * Otherwise returns an empty list.
 */
function nameHeadParts(first: Message | undefined, log: readonly TaskEvent[]): readonly string[] {
  if (first?.role !== 'user') return [];
  const texts = first.content.map(({ text }) => text);
  const heads = log.flatMap((event) =>
    event.type === 'summary.started' || event.type === 'context.dropped' ? [event.head] : [],
  );
  const head = heads.findLast((each) => each.every((text, at) => text === texts[at])) ?? [];
  return texts.slice(0, head.length > 0 ? texts.length : 0).map((text, at) => {
    if (at >= head.length) return 'summary';
    if (at === 0 || at === head.length - 1) return KIND_NAMES.notice;
    if (text.startsWith(TODO_LIST_HEADER)) return 'todo list';
    return text.startsWith('<notice>') ? KIND_NAMES.notice : 'pinned words';
  });
}

function getPartText(part: Part): string {
  switch (part.type) {
    case 'tool_call':
      return `${part.name}${JSON.stringify(part.input)}`;
    case 'tool_result':
      return part.nonce === undefined ? part.text : markOutside(part.text, part.nonce);
    case 'reasoning':
    case 'text':
      return part.text;
    default:
      return part satisfies never;
  }
}

function namePart(
  role: Message['role'],
  part: Part,
  { kinds, cleared, inherited }: Omit<InputNames, 'inherited'> & { readonly inherited: boolean },
): string {
  switch (part.type) {
    case 'tool_call':
      return 'calls';
    case 'tool_result': {
      if (cleared.get(part.callId) === part.text) return 'cleared results';
      const tool = canonicalToolName(part.name) ?? part.name;
      return DELEGATION_TOOLS.has(tool) ? 'delegated results' : `results of ${tool}`;
    }
    case 'reasoning':
      return 'thoughts';
    case 'text':
      if (role === 'assistant') return 'answers';
      return inherited ? 'said to its parent' : nameInput(part.text, kinds);
    default:
      return part satisfies never;
  }
}

const DELEGATION_TOOLS: ReadonlySet<string> = new Set(['Task', 'TaskOutput']);
const ENDED_NOTICE = '<notice>Ended in the background:';

function nameInput(text: string, kinds: ReadonlyMap<string, InputKind>): string {
  const kind = kinds.get(text);
  if (kind !== undefined) return KIND_NAMES[kind];
  if (text.startsWith(ENDED_NOTICE)) return KIND_NAMES.result;
  return text.startsWith('<notice>') ? KIND_NAMES.notice : 'other';
}
