import type { Attributes, AttributeValue, SpanEvent, SpanRecord } from './span-record.ts';

/** A span that has begun and not ended. */
export interface OpenSpan extends Omit<SpanRecord, 'endMs' | 'isError' | 'attributes' | 'events'> {
  readonly attributes: Record<string, AttributeValue>;
  readonly events: SpanEvent[];
}

/** The maximum number of events of one span (`otel_span_events`). Later events are counted in `muster.events.left_out`. */
const MAX_EVENTS = 128;
const LEFT_OUT = 'muster.events.left_out';

/** The end of a span. */
export interface SpanEnd {
  readonly endMs: number;
  readonly attributes?: Attributes;
  /** The kind of error with which the work ended: `error.type`. Default: it did not fail. */
  readonly errorType?: string;
}

/** Adds an event to a span. Beyond the limit, the event is only counted. */
export function addSpanEvent(span: OpenSpan, event: SpanEvent): void {
  if (span.events.length < MAX_EVENTS) {
    span.events.push(event);
    return;
  }
  const leftOut = span.attributes[LEFT_OUT];
  span.attributes[LEFT_OUT] = (typeof leftOut === 'number' ? leftOut : 0) + 1;
}

/** Ends a span. The end is never before the start, even if the clock was set back between two processes. */
export function endSpan(span: OpenSpan, { endMs, attributes, errorType }: SpanEnd): SpanRecord {
  return {
    ...span,
    endMs: Math.max(span.startMs, endMs),
    attributes: {
      ...span.attributes,
      ...attributes,
      ...(errorType === undefined ? {} : { 'error.type': errorType }),
    },
    isError: errorType !== undefined,
  };
}
