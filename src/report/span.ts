/**
 * What a task is at, or waits for: a slot to work in, its model, the wait before a request is sent
 * again, a rate limit or memory, a tool, its children, a person; `away`: nobody worked on it, from the
 * death of one process until another took its log.
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

/** A stretch of time in which a task was at one thing. */
export interface Span {
  readonly kind: SpanKind;
  /** Milliseconds since the epoch; never after `to`. */
  readonly from: number;
  readonly to: number;
  /** Which tools, whose limit, what failed; empty where the kind says it all. From outside. */
  readonly detail: string;
}

/** What each kind is called before people. */
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

/** Milliseconds by kind, those that there are, in the order of SPAN_KINDS. */
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
