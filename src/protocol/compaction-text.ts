import { plural } from '../base/text.ts';
import type { CompactionEvent, ContextSize } from './events/compaction-event.ts';

/** Describes a compaction event in one line for a person. */
export function describeCompaction(event: CompactionEvent): string {
  switch (event.type) {
    case 'context.cleared':
      return `${plural(event.calls.length, 'old result')} cleared: ${formatSizes(event.size)}`;
    case 'summary.started':
      return event.of === undefined
        ? `summarizing ${plural(event.upTo, 'message')} of its context${formatWindow(event.size)}`
        : `summarizing the conversation of ${event.of} for it: ${plural(event.upTo, 'message')}${formatWindow(event.size)}`;
    case 'summary.refused':
      return `the summary can't be used: ${event.because}`;
    case 'context.summarised':
      return `${event.nonce === undefined ? 'context' : "its parent's conversation"} summarized: ${formatSizes(event.size)}`;
    case 'context.dropped':
      return `${plural(event.upTo, 'message')} dropped from its context without a summary, since ${event.because}: ${formatSizes(event.size)}`;
    case 'context.handed':
      return event.from === null
        ? `no summary of its parent's conversation: ${event.because}. The last statements in it are used instead`
        : `uses the summary that task ${event.from} requested`;
    default:
      return event satisfies never;
  }
}

function formatSizes({ before, after, window }: ContextSize): string {
  return `about ${before} tokens → ${after}${window === null ? '' : ` of ${window}`}`;
}

function formatWindow({ before, window }: ContextSize): string {
  return ` (about ${before}${window === null ? '' : ` of ${window}`} tokens)`;
}
