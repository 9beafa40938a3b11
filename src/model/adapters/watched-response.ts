import type { AnswerTooLarge, WireMeter } from './answer-caps.ts';
import type { ResponseWatch, WireObserver } from './endpoint-fetch.ts';
import { NoStream } from './failure.ts';

interface Listeners {
  readonly meter: WireMeter;
  /** The answer has begun. */
  onAnswer(): void;
  onExcess(excess: AnswerTooLarge): void;
}

/** No event of a stream begins with these. */
const JSON_BEGINS = new Set(['{', '['].map((sign) => sign.charCodeAt(0)));
/** Of JSON in the place of a stream. */
const MOST_KEPT = 4_096;

/** Tells of the first byte once its response has been found good: a refusal's is no answer. */
export class WatchedResponse implements ResponseWatch {
  private readonly observer: WireObserver | undefined;
  private readonly listeners: Listeners;
  private came = false;
  private good = false;
  /** What came first, where it is no stream. */
  private json: string | null = null;

  constructor(observer: WireObserver | undefined, listeners: Listeners) {
    this.observer = observer;
    this.listeners = listeners;
  }

  /** Why nothing came of it; null: it looked like a stream. */
  get noStream(): NoStream | null {
    return this.json === null ? null : new NoStream(this.json);
  }

  connected(): void {
    this.observer?.connected?.();
  }

  responded(headers: Parameters<NonNullable<WireObserver['responded']>>[0]): void {
    this.observer?.responded?.(headers);
  }

  bytes(chunk: Uint8Array): void {
    this.observer?.bytes?.(chunk);
    const isFirst = !this.came;
    this.came = true;
    if (!this.good) return;
    if (this.json !== null || (isFirst && JSON_BEGINS.has(chunk[0] ?? 0))) this.keep(chunk);
    const excess = this.listeners.meter.add(chunk);
    if (excess !== null) this.listeners.onExcess(excess);
    else if (isFirst) this.listeners.onAnswer();
  }

  isAnswer(): void {
    this.good = true;
    if (this.came) this.listeners.onAnswer();
  }

  private keep(chunk: Uint8Array): void {
    const before = this.json ?? '';
    if (before.length >= MOST_KEPT) return;
    this.json = before + new TextDecoder().decode(chunk.subarray(0, MOST_KEPT - before.length));
  }
}
