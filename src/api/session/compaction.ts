import { describeCompaction } from '../../protocol/compaction-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { Run } from './contract.ts';
import type { EventListener } from './event-router.ts';

export interface CompactRequest {
  /** The content that the summary must keep, in the user's words; null if the user named nothing. */
  readonly keep: string | null;
}

/** Parses `/compact` or `/compact WHAT TO KEEP`. Returns null for any other message. */
export function parseCompactRequest(prompt: string): CompactRequest | null {
  const [, keep] = /^\/compact(?:\s+([\s\S]+))?$/.exec(prompt.trim()) ?? [undefined, null];
  if (keep === null) return null;
  return { keep: keep ?? null };
}

/**
 * Starts a run that compacts the context of a task. The result of the run describes the compaction; the result of the
 * task itself does not change.
 */
export async function reportCompaction(
  start: (listener: EventListener) => Promise<Run>,
  onEvent: EventListener = () => {},
): Promise<Run> {
  let text = 'the context was not summarized';
  const run = await start((event, state) => {
    text = describeCompactionEvent(event) ?? text;
    onEvent(event, state);
  });
  const result = run.result.then((envelope) => ({
    ...envelope,
    text,
    data: { ...envelope.data, result: text },
  }));
  return { ...run, result };
}

/** Describes the outcome of a compaction if the event reports one; otherwise returns null. */
function describeCompactionEvent(event: TaskEvent): string | null {
  switch (event.type) {
    case 'context.summarised':
    case 'summary.refused':
      return describeCompaction(event);
    case 'turn.failed':
      return `the context was not summarized: ${event.failure.message}`;
    default:
      return null;
  }
}
