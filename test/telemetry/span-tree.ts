import type { ReceivedSpan } from './receiver.ts';

/** A span with its children, as a test writes it down. */
export interface SpanTree {
  readonly name: string;
  readonly children: readonly SpanTree[];
}

type Named = Pick<ReceivedSpan, 'spanId' | 'parentSpanId' | 'name'>;

/** Returns the spans without a parent, each with all spans below it by name. The children of a span are sorted. */
export function toSpanTrees(spans: Iterable<Named>): readonly SpanTree[] {
  const byParent = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId);
  const build = (parent: string | null): readonly SpanTree[] =>
    (byParent.get(parent) ?? [])
      .map(({ spanId, name }) => ({ name, children: build(spanId) }))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return build(null);
}

/** Returns the names of the spans whose parent is not among the spans. */
export function findOrphans(spans: readonly Named[]): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans
    .filter(({ parentSpanId }) => parentSpanId !== null && !ids.has(parentSpanId))
    .map(({ name }) => name);
}
