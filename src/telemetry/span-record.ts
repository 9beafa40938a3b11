/** The value of an attribute, as the attributes of OTLP can hold it. */
export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Something that happened during a span. */
export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  readonly attributes: Attributes;
}

/** A span that has ended. */
export interface SpanRecord {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** The id of the parent; null for a span at the top of its trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  /** `client` for a request to another process, `internal` for work in this process. */
  readonly kind: 'internal' | 'client';
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  /** Milliseconds since the epoch, never before the start. */
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** The ids of earlier spans of the same trace that this span continues. */
  readonly links: readonly string[];
  /** True if the work failed. */
  readonly isError: boolean;
  /** False if whoever started the trace does not want its spans to be recorded. */
  readonly isSampled: boolean;
}
