import { describeCompaction } from '../../protocol/compaction-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
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
  const outcome = new CompactionOutcome();
  const run = await start((event, of) => {
    outcome.add(event);
    onEvent(event, of);
  });
  return { ...run, result: run.result.then((envelope) => outcome.in(envelope)) };
}

/** The outcome of a compaction, from its events. */
class CompactionOutcome {
  private text = 'the context was not summarised';

  add(event: TaskEvent): void {
    switch (event.type) {
      case 'context.summarised':
      case 'summary.refused':
        this.text = describeCompaction(event);
        return;
      case 'turn.failed':
        this.text = `the context was not summarised: ${event.failure.message}`;
        return;
      default:
    }
  }

  /** Returns the envelope of a compacted task with the outcome instead of its earlier answer. */
  in(envelope: ResultEnvelope): ResultEnvelope {
    const { text } = this;
    return { ...envelope, text, data: { ...envelope.data, result: text } };
  }
}
