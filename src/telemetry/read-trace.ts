import { isId } from '../base/ids.ts';
import type { SpanRecord } from './span-record.ts';
import { SpanFold } from './span-fold.ts';
import type { EventLogs } from './event-follower.ts';

/**
 * Reads the spans of a task and of all tasks below it from their logs. They are the spans that the live export of the
 * same tasks sends, with the same ids. Spans of a task that has not ended are marked with `muster.unfinished`.
 */
export function readTraceSpans(
  logs: EventLogs,
  id: string,
  options: { readonly content: boolean },
): readonly SpanRecord[] {
  const fold = new SpanFold(options);
  const spans: SpanRecord[] = [];
  const seen = new Set([id]);
  // This loop also visits the ids that it adds to the set.
  for (const task of seen) {
    if (!logs.exists(task)) continue;
    logs.scan(task, (event) => {
      if (event.type === 'child.created' && isId(event.child)) seen.add(event.child);
      spans.push(...fold.apply(event));
    });
    if (fold.isOpen(task)) spans.push(...fold.endUnfinished(task));
  }
  return spans;
}
