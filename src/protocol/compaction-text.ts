import { plural } from '../base/text.ts';
import type { CompactionEvent, ContextSize } from './compaction-event.ts';

/** What is done about a context that nears its window, in a line for a person. */
export function compactionText(event: CompactionEvent): string {
  switch (event.type) {
    case 'context.cleared':
      return `${plural(event.calls.length, 'old result')} cleared: ${sizes(event.size)}`;
    case 'summary.started':
      return `summarising ${plural(event.upTo, 'message')} of its context${windowText(event.size)}`;
    case 'summary.refused':
      return `the summary can't be used: ${event.because}`;
    case 'context.summarised':
      return `context summarised: ${sizes(event.size)}`;
    case 'context.dropped':
      return `${plural(event.upTo, 'message')} dropped from its context without a summary, since ${event.because}: ${sizes(event.size)}`;
    default:
      return event satisfies never;
  }
}

function sizes({ before, after, window }: ContextSize): string {
  return `about ${before} tokens → ${after}${window === null ? '' : ` of ${window}`}`;
}

function windowText({ before, window }: ContextSize): string {
  return ` (about ${before}${window === null ? '' : ` of ${window}`} tokens)`;
}
