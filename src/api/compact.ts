import { compactionText } from '../protocol/compaction-text.ts';
import type { TaskEvent } from '../protocol/event.ts';
import type { ResultEnvelope } from '../protocol/result.ts';

export interface CompactWish {
  /** What is kept above all; null: nothing more than the rest. */
  readonly keep: string | null;
}

/** `/compact`, or `/compact WHAT TO KEEP`, said to a conversation; null: it is another message. */
export function compactWish(prompt: string): CompactWish | null {
  const [, keep] = /^\/compact(?:\s+([\s\S]+))?$/.exec(prompt.trim()) ?? [undefined, null];
  if (keep === null) return null;
  return { keep: keep ?? null };
}

/** What came of it, in the words of its events. */
export class CompactionOutcome {
  private text = 'the context was not summarised';

  add(event: TaskEvent): void {
    switch (event.type) {
      case 'context.summarised':
      case 'summary.refused':
        this.text = compactionText(event);
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
