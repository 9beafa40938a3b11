import type { JsonValue } from '../../../base/json.ts';
import type { Repair } from '../../../protocol/repair.ts';
import { parseEventJson, type LenientJson } from './lenient-json.ts';

/** One event of a stream. */
export type WireEvent =
  /** `name`: the name in the `event:` line before the event; null: there was no such line. */
  | { readonly type: 'json'; readonly value: JsonValue; readonly name: string | null }
  /** The text `[DONE]`, which ends a stream of the OpenAI protocols. */
  | { readonly type: 'done' }
  /** Invalid JSON, so that a part of the answer may be lost. `isCut`: true if the body ended inside the JSON text. */
  | { readonly type: 'unreadable'; readonly text: string; readonly isCut: boolean };

interface EventListener {
  onEvent(event: WireEvent): void;
  onRepair(repair: Repair): void;
}

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Splits the text of a server-sent event stream into events. It is tolerant: lines may end with LF, CR or CRLF,
 * events need no empty line between them, comments and empty data lines are ignored, and a line may be plain JSON
 * without a field name. A data line that is complete JSON is an event at once. Other lines are joined until they are
 * complete JSON, including empty lines inside a string. The standard: https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class EventStreamParser {
  private readonly listener: EventListener;
  /** The text after the last complete line. */
  private unread = '';
  /** The index in `unread` at which the search for the end of the line continues. */
  private searchFrom = 0;
  private isFirst = true;
  /** True if the last piece ended with CR, so that a line feed at the beginning of the next piece belongs to that CR. */
  private skipsLineFeed = false;
  /** The name for the next event, from an `event:` line. */
  private name: string | null = null;
  /** The data lines that are not complete JSON yet. */
  private pending: string | null = null;
  /** True if the end of `pending` is inside a string. */
  private isInString = false;
  /** True if that string contains an empty line, which either is part of the string or follows a cut-off event. */
  private hasEmptyLine = false;
  /** The length that `pending` must reach before it is parsed again. It doubles each time, so the work remains linear. */
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

  /** Takes an error from the field `error`, which llama.cpp sends instead of the field `data`. */
  private takeError(value: string): void {
    this.dispatch({ isCut: false });
    this.name = ERROR_NAME;
    this.takeData(value);
  }

  /** Removes the space after a field name, and repetitions of the field name that a proxy has added. */
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

/** The name of an event that reports an error. The data of such an event may be plain text. */
const ERROR_NAME = 'error';
/** Matches a line that begins a new event, even if the previous event ends inside a string. */
const NEXT_EVENT = /^(?:data:\s*(?:[{[]|$)|event:\s*[\w.]+\s*$)/;
const DOUBLED_FIELD = /^(?:\s*data:)+/;

/** Returns true if a piece of JSON ends inside a string. `isInString`: true if the JSON before the piece does. */
function endsInString(text: string, isInString: boolean): boolean {
  let isInside = isInString;
  for (const [token] of text.matchAll(/\\[^]|"/g)) if (token === '"') isInside = !isInside;
  return isInside;
}

function startsLikeJson(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[');
}
