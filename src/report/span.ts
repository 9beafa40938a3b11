/**
 * The activities of a task: it waits for a slot, for its model, to send a request again, for a rate limit or memory,
 * for a tool, its children or a person. `away` is the time from the death of one process until another one takes the
 * log.
 */
export const SPAN_KINDS = [
  'slot',
  'model',
  'retry',
  'held',
  'tool',
  'children',
  'person',
  'away',
] as const;
export type SpanKind = (typeof SPAN_KINDS)[number];

/** A span of time with one activity of a task. */
export interface Span {
  readonly kind: SpanKind;
  /** Milliseconds since the epoch; never after `to`. */
  readonly from: number;
  readonly to: number;
  /**
   * The tools, the limit or the failure, or empty if the kind says everything. Text from outside.
   */
  readonly detail: string;
}

/** The names of the kinds for people. */
export const SPAN_NAMES: Readonly<Record<SpanKind, string>> = {
  slot: 'waits for a slot',
  model: 'model',
  retry: 'waits to ask again',
  held: 'rate limit',
  tool: 'tool',
  children: 'waits for children',
  person: 'waits for a person',
  away: 'nobody worked on it',
};

/** Adds up the milliseconds of each kind that occurs, in the order of SPAN_KINDS. */
export function timeByKind(
  spans: readonly Span[],
): readonly { readonly kind: SpanKind; readonly ms: number }[] {
  const sums = new Map<SpanKind, number>();
  for (const { kind, from, to } of spans) sums.set(kind, (sums.get(kind) ?? 0) + to - from);
  return SPAN_KINDS.flatMap((kind) => {
    const ms = sums.get(kind);
    return ms === undefined ? [] : [{ kind, ms }];
  });
}
