import { describeCompaction } from '../../protocol/compaction-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { Run } from './contract.ts';
import type { EventListener } from './event-router.ts';

export interface CompactRequest {
  /** The content that is most important to keep, or null if nothing is named. */
  readonly keep: string | null;
}

/** Parses `/compact` or `/compact WHAT TO KEEP`. Returns null for any other message. */
export function parseCompactRequest(prompt: string): CompactRequest | null {
  const [, keep] = /^\/compact(?:\s+([\s\S]+))?$/.exec(prompt.trim()) ?? [undefined, null];
  if (keep === null) return null;
  return { keep: keep ?? null };
}

/**
 * Starts a run that compacts. Its result is the outcome of the compaction; the task's own result does not change.
 */
export async function reportCompaction(
  start: (listener: EventListener) => Promise<Run>,
  onEvent: EventListener = () => {},
): Promise<Run> {
  let text = 'the context was not summarised';
  const run = await start((event, of) => {
    text = compactionOutcome(event) ?? text;
    onEvent(event, of);
  });
  const result = run.result.then((envelope) => ({
    ...envelope,
    text,
    data: { ...envelope.data, result: text },
  }));
  return { ...run, result };
}

/** Returns the outcome of a compaction that an event reports, or null. */
function compactionOutcome(event: TaskEvent): string | null {
  switch (event.type) {
    case 'context.summarised':
    case 'summary.refused':
      return describeCompaction(event);
    case 'turn.failed':
      return `the context was not summarised: ${event.failure.message}`;
    default:
      return null;
  }
}
