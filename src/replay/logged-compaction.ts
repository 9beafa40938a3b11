import { stripStamp } from '../protocol/events/event-body.ts';
import type { CompactionStep } from '../engine/task/compaction-step.ts';
import { isFromOutside } from './outside.ts';
import type { Script } from './script.ts';

/** Those at which no more room is made. */
const LIMITS: ReadonlySet<string> = new Set(['context_window', 'compactions']);

/**
 * What was done before a request to keep it within its window: how large it was, and that window, no log
 * says again.
 */
export function loggedCompaction(script: Script): CompactionStep {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return { kind: 'none' };
    if (isFromOutside(event)) continue;
    const body = stripStamp(event);
    switch (body.type) {
      case 'context.cleared':
      case 'context.dropped':
      case 'context.handed':
        return { kind: 'record', event: body };
      case 'summary.started':
        return { kind: 'summarise', event: body };
      case 'task.ended':
        return { kind: 'stuck', hit: null };
      case 'limit.reached': {
        const { type: _type, ...hit } = body;
        return LIMITS.has(hit.limit) ? { kind: 'stuck', hit } : { kind: 'none' };
      }
      default:
        return { kind: 'none' };
    }
  }
}
