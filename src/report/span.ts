/**
 * The activities of a task. It waits for a slot (`slot`), for its model (`model`), until it sends a request again
 * (`retry`), for a rate limit or memory (`held`), for a tool (`tool`), for its children (`children`), or for a person
 * (`person`). `away` is the time from the end of one process until another process takes over the log.
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
  /** The start in milliseconds since the epoch. It is never after `to`. */
  readonly from: number;
  readonly to: number;
  /** The tools, the limit or the failure, or an empty text if the kind says everything. It may contain outside text. */
  readonly detail: string;
}

/** The descriptions of the activities for people. */
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
export function sumTimeByKind(
  spans: readonly Span[],
): readonly { readonly kind: SpanKind; readonly ms: number }[] {
  const sums = new Map<SpanKind, number>();
  for (const { kind, from, to } of spans) sums.set(kind, (sums.get(kind) ?? 0) + to - from);
  return SPAN_KINDS.flatMap((kind) => {
    const ms = sums.get(kind);
    return ms === undefined ? [] : [{ kind, ms }];
  });
}
