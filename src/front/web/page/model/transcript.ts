import type { JsonValue } from '../../../../base/json.ts';
import { plural } from '../../../../base/text.ts';
import type { TaskEvent } from '../../../../protocol/events/event.ts';
import { liveEventFilter } from '../../../../protocol/events/rewound.ts';
import type { EndStatus } from '../../../../protocol/result.ts';
import type { CutText, LoggedEvent } from '../../wire.ts';
import { describeNote } from './transcript-notes.ts';

/** A text of an entry. Its rest is at a place in an event if the server has cut it. */
export interface EntryText {
  readonly text: string;
  /** The event that holds the text, and the place in it. */
  readonly seq: number;
  readonly pointer: string;
  /** The length of the complete text in UTF-16 units. */
  readonly length: number;
}

interface EntryBase {
  /** The key of the entry, which never changes. */
  readonly key: string;
  /** The number of the event because of which the entry exists. */
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** True if a rewind has cut the entry off. */
  readonly isCut: boolean;
}

/** A text from outside the loop: the prompt, a message, a result or a notice. */
export interface InputEntry extends EntryBase {
  readonly kind: 'input';
  readonly from: string;
  readonly input: 'prompt' | 'message' | 'result' | 'notice';
  readonly text: EntryText;
  /** The names of the items that a person attached. */
  readonly attached: readonly string[];
}

/** An answer of the model. */
export interface AnswerEntry extends EntryBase {
  readonly kind: 'answer';
  readonly turn: number;
  readonly model: string;
  readonly ms: number;
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number };
  readonly costUsd: number | null;
  readonly reasoning: readonly EntryText[];
  readonly texts: readonly EntryText[];
}

/** The state of a call. */
export type TranscriptCallState = 'requested' | 'running' | 'done' | 'failed' | 'refused';

/** A call of a tool, from the answer that contains it to its outcome. */
export interface TranscriptCall extends EntryBase {
  readonly kind: 'call';
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly state: TranscriptCallState;
  /** The result; null while there is none. */
  readonly result: EntryText | null;
  readonly ms: number | null;
  /** The child that the call created; null if it created none. */
  readonly child: string | null;
  readonly changed: readonly string[];
  readonly exitCodes: readonly (number | null)[];
}

/** Anything else that a reader should know. */
export interface NoteEntry extends EntryBase {
  readonly kind: 'note';
  readonly tone: 'quiet' | 'warning' | 'error';
  readonly text: string;
}

/** The end of the task. */
export interface EndEntry extends EntryBase {
  readonly kind: 'end';
  readonly status: EndStatus;
  readonly because: string;
  readonly error: string | null;
}

/** One part of the transcript of a task. */
export type TranscriptEntry = InputEntry | AnswerEntry | TranscriptCall | NoteEntry | EndEntry;

/** The maximum number of entries that a page keeps, and the number of those that it drops at once beyond them. */
const MAX_ENTRIES = 4_000;
const DROPPED_AT_ONCE = 500;

/** Folds the events of one log to its transcript. Entries are replaced and never changed. */
export class TranscriptFold {
  entries: TranscriptEntry[] = [];
  /** The number of the newest event; -1 before the first. */
  lastSeq = -1;
  /** The number of entries at the beginning that were dropped. */
  omitted = 0;
  private readonly rewinds: { readonly seq: number; readonly to: number }[] = [];
  /** The position of each call without an outcome, counted from the first entry of the log. */
  private readonly openCalls = new Map<string, number>();

  /**
   * Adds the next event, after a note about the events whose numbers are missing before it. Returns false for an event that is
   * already in the transcript.
   */
  add({ event, cut = [] }: LoggedEvent): boolean {
    if (event.seq <= this.lastSeq) return false;
    this.noteMissing(event);
    this.lastSeq = event.seq;
    this.fold(event, cut);
    if (this.entries.length >= MAX_ENTRIES + DROPPED_AT_ONCE) {
      const dropped = this.entries.length - MAX_ENTRIES;
      this.entries = this.entries.slice(dropped);
      this.omitted += dropped;
    }
    return true;
  }

  private noteMissing({ seq, ts: at }: TaskEvent): void {
    const missing = seq - this.lastSeq - 1;
    if (missing === 0) return;
    this.entries.push({
      key: `${seq}/missing`,
      seq,
      at,
      isCut: false,
      kind: 'note',
      tone: 'warning',
      text: `${plural(missing, 'event')} of the log cannot be read`,
    });
  }

  private fold(event: TaskEvent, cut: readonly CutText[]): void {
    const base = { key: String(event.seq), seq: event.seq, at: event.ts, isCut: false };
    const toText = (text: string, pointer: string): EntryText => ({
      text,
      seq: event.seq,
      pointer,
      length: cut.find((each) => each.pointer === pointer)?.length ?? text.length,
    });
    switch (event.type) {
      case 'task.created': {
        const { prompt, enclosed = [], parent } = event.spec;
        this.entries.push({
          ...base,
          kind: 'input',
          from: parent ?? 'user',
          input: 'prompt',
          text: toText(prompt, '/spec/prompt'),
          attached: enclosed.map(({ name }) => name),
        });
        return;
      }
      case 'input.queued': {
        const { from, kind: input, text, enclosed = [] } = event.input;
        this.entries.push({
          ...base,
          kind: 'input',
          from,
          input,
          text: toText(text, '/input/text'),
          attached: enclosed.map(({ name }) => name),
        });
        return;
      }
      case 'turn.ended':
        this.addAnswer(event, base, toText);
        return;
      case 'call.started': {
        const { callId, tool, input } = event;
        // A call that was not in an answer, such as one of a slash command, has an entry of its own.
        if (!this.openCalls.has(callId)) this.addCall({ ...base, callId, tool, input });
        this.updateCall(callId, { tool, input, state: 'running' });
        return;
      }
      case 'call.ended': {
        const { callId, tool, text, error, ms, facts } = event;
        this.updateCall(callId, {
          tool,
          state: error === null ? 'done' : 'failed',
          result: toText(text, '/text'),
          ms,
          changed: facts.changed?.map(({ path }) => path) ?? [],
          exitCodes: facts.commands?.map(({ exitCode }) => exitCode) ?? [],
        });
        this.openCalls.delete(callId);
        return;
      }
      case 'call.refused': {
        const { callId, text } = event;
        this.updateCall(callId, { state: 'refused', result: toText(text, '/text') });
        this.openCalls.delete(callId);
        return;
      }
      case 'child.created':
      case 'child.resumed':
        this.updateCall(event.callId, { child: event.child });
        return;
      case 'task.ended': {
        const { status, because, error } = event.end;
        this.entries.push({
          ...base,
          kind: 'end',
          status,
          because,
          error: error === null ? null : `${error.code}: ${error.message}`,
        });
        return;
      }
      default: {
        if (event.type === 'task.rewound') this.rewind(event);
        const note = describeNote(event);
        if (note !== null) this.entries.push({ ...base, kind: 'note', ...note });
      }
    }
  }

  private addAnswer(
    event: Extract<TaskEvent, { type: 'turn.ended' }>,
    base: Omit<EntryBase, 'kind'>,
    toText: (text: string, pointer: string) => EntryText,
  ): void {
    const { turn, model, ms, usage, costUsd, message } = event;
    const reasoning: EntryText[] = [];
    const texts: EntryText[] = [];
    for (const [index, part] of message.content.entries()) {
      if (part.type === 'tool_call' || part.text.trim() === '') continue;
      const list = part.type === 'text' ? texts : reasoning;
      list.push(toText(part.text, `/message/content/${index}/text`));
    }
    const tokens = {
      input: usage.input + usage.cacheWrite,
      output: usage.output,
      cached: usage.cacheRead,
    };
    this.entries.push({
      ...base,
      kind: 'answer',
      turn,
      model,
      ms,
      tokens,
      costUsd,
      reasoning,
      texts,
    });
    for (const part of message.content) {
      if (part.type !== 'tool_call') continue;
      const { id: callId, name: tool, input } = part;
      this.addCall({ ...base, key: `${event.seq}/${callId}`, callId, tool, input });
    }
  }

  private addCall(call: EntryBase & Pick<TranscriptCall, 'callId' | 'tool' | 'input'>): void {
    this.openCalls.set(call.callId, this.omitted + this.entries.length);
    this.entries.push({
      ...call,
      kind: 'call',
      state: 'requested',
      result: null,
      ms: null,
      child: null,
      changed: [],
      exitCodes: [],
    });
  }

  private updateCall(callId: string, change: Partial<TranscriptCall>): void {
    const index = (this.openCalls.get(callId) ?? -1) - this.omitted;
    const entry = this.entries[index];
    if (entry?.kind === 'call') this.entries[index] = { ...entry, ...change };
  }

  private rewind({ seq, to }: { readonly seq: number; readonly to: number }): void {
    this.rewinds.push({ seq, to });
    const isLive = liveEventFilter(this.rewinds, seq);
    this.entries = this.entries.map((entry) => ({ ...entry, isCut: !isLive(entry.seq) }));
    this.openCalls.clear();
  }
}
