import { describeCompaction } from '../../protocol/compaction-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { Run } from './contract.ts';
import type { EventListener } from './event-router.ts';

export interface CompactRequest {
  /** What is kept above all; null: nothing more than the rest. */
  readonly keep: string | null;
}

/** `/compact`, or `/compact WHAT TO KEEP`, said to a conversation; null: it is another message. */
export function compactRequest(prompt: string): CompactRequest | null {
  const [, keep] = /^\/compact(?:\s+([\s\S]+))?$/.exec(prompt.trim()) ?? [undefined, null];
  if (keep === null) return null;
  return { keep: keep ?? null };
}

/** A run that compacts: its result says what came of that, and the task's own is as it was. */
export async function compactionReport(
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

/** What came of it, in the words of its events. */
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

  /** The envelope of a task that was compacted, which gives that instead of the answer that it had given. */
  in(envelope: ResultEnvelope): ResultEnvelope {
    const { text } = this;
    return { ...envelope, text, data: { ...envelope.data, result: text } };
  }
}
