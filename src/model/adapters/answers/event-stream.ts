import type { JsonValue } from '../../../base/json.ts';
import type { Repair } from '../../../protocol/repair.ts';
import { parseEventJson, type LenientJson } from './lenient-json.ts';

/** One event of a body, or a complete body that is no stream. */
export type WireEvent =
  /** `name`: from the `event:` line before it; null: there was none. */
  | { readonly type: 'json'; readonly value: JsonValue; readonly name: string | null }
  /** The `[DONE]` that ends a stream of the OpenAI protocols. */
  | { readonly type: 'done' }
  /** Invalid JSON, with which a part of the answer may be lost. `isCut`: true if the body ended in it. */
  | { readonly type: 'unreadable'; readonly text: string; readonly isCut: boolean };

interface EventListener {
  onEvent(event: WireEvent): void;
  onRepair(repair: Repair): void;
}

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Splits the text of a server-sent event stream into events. It is tolerant: lines may end with LF, CR or CRLF,
 * events need no empty line between them, comments and empty data lines are ignored, and a line may be plain JSON.
 * A data line that is complete JSON is an event at once; other lines are joined until they are complete, including
 * empty lines inside a string. The standard: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class EventStreamParser {
  private readonly listener: EventListener;
  private unread = '';
  /** The index in `unread` at which the search for the end of the line continues. */
  private searchFrom = 0;
  private isFirst = true;
  private skipsLineFeed = false;
  private name: string | null = null;
  /** The data lines that are no complete JSON yet. */
  private pending: string | null = null;
  /** True if the end of `pending` is inside a string. */
  private isInString = false;
  /** True if an empty line came inside that string. It is part of the string, or the event was cut off there. */
  private hasEmptyLine = false;
  /** The length of `pending` at which it is parsed again. It doubles, which keeps the work linear. */
  private nextAttemptLength = 0;

  constructor(listener: EventListener) {
    this.listener = listener;
  }

  push(text: string): void {
    this.unread += this.normalizeLineEnds(text);
    for (;;) {
      const end = this.unread.indexOf('\n', this.searchFrom);
      if (end === -1) break;
      const line = this.unread.slice(0, end);
      this.unread = this.unread.slice(end + 1);
      this.searchFrom = 0;
      this.takeLine(line);
    }
    this.searchFrom = this.unread.length;
  }

  /** Takes the text after the last line end as a line, and ends the pending event. */
  end(): void {
    if (this.unread !== '') this.takeLine(this.unread);
    this.unread = '';
    this.dispatch({ isCut: true });
  }

  private normalizeLineEnds(text: string): string {
    let clean = text;
    if (this.isFirst && text !== '') {
      this.isFirst = false;
      if (text.startsWith(BYTE_ORDER_MARK)) clean = text.slice(1);
    }
    if (this.skipsLineFeed && clean !== '') {
      this.skipsLineFeed = false;
      if (clean.startsWith('\n')) clean = clean.slice(1);
    }
    if (!clean.includes('\r')) return clean;
    // A CR at the end of a piece may be the first half of a CRLF.
    this.skipsLineFeed = clean.endsWith('\r');
    return clean.replaceAll(/\r\n?/g, '\n');
  }

  private takeLine(line: string): void {
    if (this.pending !== null && this.isInString) {
      const isNextEvent = this.hasEmptyLine && NEXT_EVENT.test(line);
      if (!isNextEvent && !line.startsWith('data:')) {
        if (line === '') this.hasEmptyLine = true;
        return this.takeData(line);
      }
      if (isNextEvent) {
        this.dispatch({ isCut: false });
        this.name = null;
      }
    }
    if (line === '') {
      this.dispatch({ isCut: false });
      this.name = null;
      return;
    }
    if (line.startsWith(':')) return;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    if (field === 'data') return this.takeData(this.removeDoubledField(line.slice(colon + 1)));
    if (field === 'event') {
      this.name = colon === -1 ? null : line.slice(colon + 1).trim();
      return;
    }
    if (field === 'error' && colon !== -1) return this.takeError(line.slice(colon + 1));
    if (field === 'id' || field === 'retry') return;
    if (this.pending !== null || startsLikeJson(line)) return this.takeData(line);
    this.listener.onRepair('not_an_event');
  }

  /** Takes an error from the field `error`, which llama.cpp sends instead of `data`. */
  private takeError(value: string): void {
    this.dispatch({ isCut: false });
    this.name = ERROR_NAME;
    this.takeData(value);
  }

  /** Removes the space after a field name, and field names that a proxy has added again. */
  private removeDoubledField(value: string): string {
    const doubled = this.pending === null ? DOUBLED_FIELD.exec(value)?.[0] : undefined;
    if (doubled === undefined) return value.replace(/^ /, '');
    this.listener.onRepair('repeated_part');
    return value.slice(doubled.length);
  }

  private takeData(data: string): void {
    const text = data.trim();
    if (this.pending === null) {
      if (text === '') return;
      if (text.toUpperCase() === '[DONE]') {
        this.listener.onEvent({ type: 'done' });
        return;
      }
      if (!startsLikeJson(text) && this.name === ERROR_NAME) {
        this.listener.onEvent({ type: 'json', value: { message: text }, name: this.name });
        return;
      }
      if (!startsLikeJson(text)) {
        this.listener.onRepair('not_an_event');
        return;
      }
      this.pending = '';
      this.nextAttemptLength = 0;
      this.isInString = false;
      this.hasEmptyLine = false;
      this.append(data.trimStart());
    } else {
      this.append(`\n${data}`);
    }
    if (this.pending.length < this.nextAttemptLength || !/[}\]]\s*$/.test(this.pending.slice(-64)))
      return;
    const parsed = parseEventJson(this.pending);
    if (!parsed.ok) this.nextAttemptLength = this.pending.length * 2;
    else this.emit(parsed);
  }

  private append(text: string): void {
    this.pending += text;
    this.isInString = endsInString(text, this.isInString);
  }

  private dispatch({ isCut }: { readonly isCut: boolean }): void {
    if (this.pending === null) return;
    const parsed = parseEventJson(this.pending);
    if (parsed.ok) return this.emit(parsed);
    const text = this.pending;
    this.pending = null;
    this.listener.onEvent({ type: 'unreadable', text, isCut });
  }

  private emit({ value, repairs }: Extract<LenientJson, { ok: true }>): void {
    this.pending = null;
    for (const repair of repairs) this.listener.onRepair(repair);
    this.listener.onEvent({ type: 'json', value, name: this.name });
  }
}

/** The name of an event that reports an error, whose data may be plain text. */
const ERROR_NAME = 'error';
/** Matches a line that begins an event, even if the string of the event before it has not ended. */
const NEXT_EVENT = /^(?:data:\s*(?:[{[]|$)|event:\s*[\w.]+\s*$)/;
const DOUBLED_FIELD = /^(?:\s*data:)+/;

/** Returns true if a JSON text ends inside a string. `isInString`: true if the text before it does. */
function endsInString(text: string, isInString: boolean): boolean {
  let isInside = isInString;
  for (const [token] of text.matchAll(/\\[^]|"/g)) if (token === '"') isInside = !isInside;
  return isInside;
}

function startsLikeJson(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[');
}
