import { plural } from '../base/text.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { ExportSettings } from './export-settings.ts';
import { MetricStore } from './metric-store.ts';
import type { OtlpClient, SendOutcome } from './otlp-client.ts';
import { BATCH_SPANS, encodeMetrics, encodeTraces, type OtlpSource } from './otlp-json.ts';
import type { SpanRecord } from './span-record.ts';
import { EventFollower, type EventLogs, type FollowedWork } from './event-follower.ts';

/** The maximum number of events that wait to be folded (`otel_queued_events`). Further ones are read from the logs. */
const MAX_QUEUED_EVENTS = 10_000;
/** The maximum number of spans that wait to be sent (`otel_pending_spans`). Until then, further events wait. */
const MAX_PENDING_SPANS = 4096;
/** The number of events that are folded without a pause for other work. */
const SLICE_EVENTS = 500;
/** The time between two exports of spans, and between two exports of metrics. */
const SPAN_INTERVAL_MS = 1000;
const METRIC_INTERVAL_MS = 10_000;
/** The longest wait after failed requests. */
const MAX_BACKOFF_MS = 30_000;
/** The time for the last export when the session ends (`otel_flush_seconds`). */
const FLUSH_MS = 2000;

export interface ExporterParts {
  readonly settings: ExportSettings;
  readonly source: OtlpSource;
  readonly client: Pick<OtlpClient, 'send'>;
  readonly logs: EventLogs;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly onNotice: (line: string) => void;
}

/**
 * Exports spans and metrics of the events of this process. `push` only queues an event: folding, encoding and sending
 * happen later, in small steps. Nothing that the receiver does delays or breaks a task. What could not be delivered is
 * reported once, when the session ends.
 */
export class TelemetryExporter {
  private readonly parts: ExporterParts;
  private readonly follower: EventFollower;
  private readonly metrics = new MetricStore();
  private readonly startMs: number;
  private readonly timer: NodeJS.Timeout;
  /** Ends the requests that are under way when the time of the last export is over. */
  private readonly cancellation = new AbortController();
  private events: TaskEvent[] = [];
  /** The tasks whose newest events did not fit into the queue. */
  private readonly behind = new Set<string>();
  private readonly pending: SpanRecord[] = [];
  private sending: Promise<void> | null = null;
  private isDraining = false;
  private failures = 0;
  private nextSpansMs = 0;
  private nextMetricsMs: number;
  private metricsOutcome: SendOutcome = { kind: 'sent' };
  private refusedSpans = 0;
  private newestReason = '';
  private isClosed = false;

  constructor(parts: ExporterParts) {
    const { settings, logs, now } = parts;
    this.parts = parts;
    this.follower = new EventFollower(logs, settings);
    this.startMs = now();
    this.nextMetricsMs = this.startMs + METRIC_INTERVAL_MS;
    this.timer = setInterval(() => this.tick(), SPAN_INTERVAL_MS).unref();
  }

  /** Queues an event of a tree. Never throws. `tree`: the id of the root task. */
  push(event: TaskEvent, tree: string): void {
    if (this.isClosed) return;
    this.follower.note(event);
    // Once a task is behind, its events stay in order only if all of them are read from the log.
    if (this.events.length < MAX_QUEUED_EVENTS && !this.behind.has(event.task)) {
      this.events.push(event);
    } else this.behind.add(event.task);
    // The process may be killed while it waits for the next message, and nothing would send the spans then.
    if (event.type === 'task.ended' && event.task === tree) setImmediate(() => this.tick());
  }

  /** Exports what is left, within two seconds, and reports what could not be delivered. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.timer);
    const limit = setTimeout(() => this.cancellation.abort(), FLUSH_MS);
    try {
      await this.sending;
      do {
        this.foldEvents(Number.POSITIVE_INFINITY);
        await this.sendSpans();
      } while (this.hasWork() && this.failures === 0 && !this.cancellation.signal.aborted);
      await this.sendMetrics();
    } finally {
      clearTimeout(limit);
      this.cancellation.abort();
    }
    this.report();
  }

  private tick(): void {
    if (this.isClosed) return;
    void this.drain();
    const now = this.parts.now();
    if (this.sending !== null || now < this.nextSpansMs) return;
    this.sending = this.sendDue(now).finally(() => {
      this.sending = null;
    });
  }

  private async sendDue(now: number): Promise<void> {
    await this.sendSpans();
    if (now < this.nextMetricsMs) return;
    this.nextMetricsMs = now + METRIC_INTERVAL_MS;
    await this.sendMetrics();
  }

  /** Folds the queued events, with pauses for other work. */
  private async drain(): Promise<void> {
    if (this.isDraining) return;
    this.isDraining = true;
    while (!this.isClosed && this.foldEvents(SLICE_EVENTS)) await new Promise(setImmediate);
    this.isDraining = false;
  }

  /** Folds up to `count` events. Returns true if more can be folded at once. */
  private foldEvents(count: number): boolean {
    const isFull = () => this.pending.length >= MAX_PENDING_SPANS;
    let folded = 0;
    while (folded < this.events.length && folded < count && !isFull()) {
      const event = this.events[folded];
      if (event !== undefined) this.keep(() => this.follower.accept(event));
      folded += 1;
    }
    this.events = this.events.slice(folded);
    if (this.events.length > 0) return !isFull();
    for (const task of this.behind) {
      if (isFull()) return false;
      this.behind.delete(task);
      this.keep(() => this.follower.catchUp(task));
    }
    return false;
  }

  /** Keeps the result of folding. A damaged log must not stop the export of other tasks. */
  private keep(follow: () => FollowedWork): void {
    try {
      const { spans, measurements } = follow();
      this.pending.push(...spans.filter(({ isSampled }) => isSampled));
      for (const measurement of measurements) this.metrics.add(measurement);
    } catch (thrown) {
      this.newestReason = `a log could not be read: ${String(thrown)}`;
      this.refusedSpans += 1;
    }
  }

  private hasWork(): boolean {
    return this.pending.length + this.events.length + this.behind.size > 0;
  }

  /** Sends the pending spans in batches until none is left or the receiver fails. */
  private async sendSpans(): Promise<void> {
    const { settings, source, client, now } = this.parts;
    const { tracesUrl } = settings;
    if (tracesUrl === null) {
      this.pending.length = 0;
      return;
    }
    while (this.pending.length > 0) {
      const batch = this.pending.slice(0, BATCH_SPANS);
      const body = encodeTraces(batch, source);
      const outcome = await client.send(tracesUrl, body, this.cancellation.signal);
      if (outcome.kind !== 'sent') this.newestReason = outcome.reason;
      if (outcome.kind === 'failed') {
        this.failures += 1;
        const wait = Math.min(MAX_BACKOFF_MS, SPAN_INTERVAL_MS * 2 ** this.failures);
        this.nextSpansMs = now() + wait;
        return;
      }
      this.failures = 0;
      if (outcome.kind === 'refused') this.refusedSpans += batch.length;
      this.pending.splice(0, batch.length);
    }
  }

  private async sendMetrics(): Promise<void> {
    const { settings, source, client, now } = this.parts;
    const series = this.metrics.read();
    if (settings.metricsUrl === null || series.length === 0) return;
    const body = encodeMetrics(series, source, { startMs: this.startMs, nowMs: now() });
    this.metricsOutcome = await client.send(settings.metricsUrl, body, this.cancellation.signal);
  }

  private report(): void {
    const { settings, onNotice } = this.parts;
    const lost = this.pending.length + this.refusedSpans;
    const more = this.events.length + this.behind.size > 0 ? 'at least ' : '';
    const { metricsOutcome } = this;
    const parts = [
      ...(lost > 0 ? [`${more}${plural(lost, 'span')}`] : []),
      ...(metricsOutcome.kind === 'sent' ? [] : ['the metrics']),
    ];
    if (parts.length === 0) return;
    const url = (lost > 0 ? settings.tracesUrl : settings.metricsUrl) ?? settings.metricsUrl;
    const reason =
      lost > 0 || metricsOutcome.kind === 'sent' ? this.newestReason : metricsOutcome.reason;
    const address = url === null ? 'the receiver' : `${url.origin}${url.pathname}`;
    onNotice(
      `telemetry: ${parts.join(' and ')} could not be delivered to ${address}: ${sanitizeLine(reason)}`,
    );
  }
}
