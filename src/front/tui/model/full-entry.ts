import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { TaskEvent } from '../../../protocol/events/event.ts';
import { summarizeQuotedItem, type QuotedItem } from '../../../protocol/quoted-item.ts';
import { addLineNumbers, fileChange, FULL_DIFF, textChanges } from './call-details.ts';
import type { ScanLog } from './earlier-entries.ts';
import type { CallEntry, MessageEntry, SelectableEntry } from './entry.ts';
import { outputSection, textSection, type PagerDocument, type PagerSection } from './pager.ts';
import { seqOfKey, type Transcript } from './transcript.ts';
import { readSentCall } from '../../../protocol/sent-call.ts';

/** The sources of full texts. */
export interface FullTextSource {
  /** Visits the events of the log of the task. */
  readonly scan: ScanLog;
  /** Returns the former content of a file by its hash; null if it was not kept. */
  readonly readBackup: (hash: string) => string | null;
  /** Returns the full output of a call if its result names the file that contains it; otherwise null. */
  readonly readSpilled: (result: string) => string | null;
  /** Returns the full output of a shell command of the user by the key of its entry; null if it is no longer kept. */
  readonly readShellOutput: (key: number) => string | null;
}

/** Reads the full text of an entry from the log. What the log does not have is taken from the entry. */
export function fullEntry(
  entry: SelectableEntry,
  transcript: Pick<Transcript, 'keyBase'>,
  source: FullTextSource,
): PagerDocument {
  switch (entry.kind) {
    case 'call':
      return fullCall(entry, source);
    case 'message':
      return fullMessage(entry, source);
    case 'answer':
    case 'thinking': {
      const text = readWritten(entry, transcript, source) ?? entry.text;
      const isAnswer = entry.kind === 'answer';
      return {
        title: isAnswer ? 'Answer' : 'Thought',
        sections: [isAnswer ? { kind: 'markdown', text } : textSection(text)],
      };
    }
    case 'shell': {
      const output = source.readShellOutput(entry.key) ?? entry.output;
      return { title: `! ${entry.command}`, sections: [outputSection(output)] };
    }
    case 'page':
      return { title: entry.title, sections: [{ kind: 'text', lines: entry.lines }] };
    default:
      return entry satisfies never;
  }
}

type EventOf<Type extends TaskEvent['type']> = Extract<TaskEvent, { type: Type }>;

/** The events of a call in the log. */
interface LoggedCall {
  input: JsonValue;
  end: EventOf<'call.ended'> | EventOf<'call.refused'> | null;
}

function readCall({ callId }: CallEntry, { scan }: FullTextSource): LoggedCall {
  const call: LoggedCall = { input: {}, end: null };
  scan((event) => {
    if (event.type === 'turn.ended') {
      for (const part of event.message.content) {
        if (part.type === 'tool_call' && part.id === callId) call.input = readSentCall(part).input;
      }
    } else if (event.type === 'call.started') {
      if (event.callId === callId) call.input = event.input;
    } else if (event.type === 'call.ended' || event.type === 'call.refused') {
      if (event.callId === callId) call.end = event;
    }
  });
  return call;
}

function fullCall(entry: CallEntry, source: FullTextSource): PagerDocument {
  const { tool, subject, answer } = entry;
  const { input, end } = readCall(entry, source);
  const result = end?.text ?? entry.tail.join('\n');
  const spilled = source.readSpilled(result);
  const output = spilled ?? result;
  const changes = fullChanges(entry, input, end, source);
  const heading = (text: string): PagerSection => ({ kind: 'heading', text });
  return {
    title: `${tool} ${subject}`.trimEnd(),
    sections: [
      ...(changes.length > 0 ? changes : argumentSections(entry, input)),
      ...(answer === null ? [] : [heading('Answer'), textSection(answer)]),
      ...(output === ''
        ? []
        : [heading('Result'), spilled === null ? textSection(output) : outputSection(output)]),
    ],
  };
}

/** Returns the changes of a call: those of the file if its former content was kept, otherwise those that the call requested. */
function fullChanges(
  { tool, subject }: CallEntry,
  input: JsonValue,
  end: LoggedCall['end'],
  { readBackup }: FullTextSource,
): readonly PagerSection[] {
  const [changed] = end?.type === 'call.ended' ? (end.facts.changed ?? []) : [];
  if (changed !== undefined && changed.byCommand !== true) {
    const before = changed.before === null ? '' : readBackup(changed.before);
    const diff = before === null ? null : fileChange(tool, input, before, FULL_DIFF);
    if (diff !== null) return [{ kind: 'diff', diff, path: subject }];
  }
  const requested = textChanges(tool, input, FULL_DIFF);
  return addLineNumbers(requested, tool, end?.text ?? '').map((diff) => {
    return { kind: 'diff', diff, path: subject };
  });
}

/** Returns the arguments of a call: a plan or a question as Markdown, and all others as a list. */
function argumentSections(entry: CallEntry, input: JsonValue): readonly PagerSection[] {
  const { document } = entry;
  if (document !== null) return [{ kind: 'markdown', text: document }];
  if (!isJsonObject(input) || Object.keys(input).length === 0) return [];
  return [textSection(argumentLines(input).join('\n'))];
}

function argumentLines(input: JsonObject): readonly string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return text.includes('\n') ? [`${name}:`, text] : [`${name}: ${text}`];
  });
}

function fullMessage(entry: MessageEntry, { scan }: FullTextSource): PagerDocument {
  let { text } = entry;
  let enclosed: readonly QuotedItem[] = [];
  scan((event) => {
    if (event.type === 'task.created' && entry.id === 'prompt') {
      ({ prompt: text, enclosed = [] } = event.spec);
    } else if (event.type === 'input.queued' && event.input.id === entry.id) {
      ({ text, enclosed = [] } = event.input);
    }
  });
  const attachments = enclosed.flatMap((item): readonly PagerSection[] => [
    { kind: 'heading', text: summarizeQuotedItem(item) },
    textSection(item.text),
  ]);
  return { title: 'Message', sections: [textSection(text), ...attachments] };
}

/** Reads an answer or a thought from the event that its key names; null if the log has no such text. */
function readWritten(
  {
    key,
    kind,
    text: shown,
  }: Extract<SelectableEntry, { kind: 'answer' | 'thinking' }> & { key: number },
  { keyBase }: Pick<Transcript, 'keyBase'>,
  { scan }: FullTextSource,
): string | null {
  const seq = seqOfKey(key, keyBase);
  const type = kind === 'answer' ? 'text' : 'reasoning';
  // A cut text ends with a note, so only its beginning is compared.
  const start = shown.slice(0, 1_000);
  let found: string | null = null;
  scan((event) => {
    if (event.seq !== seq) return;
    const texts =
      event.type === 'turn.ended'
        ? event.message.content.flatMap((part) => (part.type === type ? [part.text] : []))
        : event.type === 'turn.failed' || event.type === 'task.reused'
          ? [event.text ?? '']
          : [];
    found = texts.find((text) => text.startsWith(start)) ?? null;
  });
  return found;
}
