import { bodyOf } from '../protocol/events/event-body.ts';
import type { CompactionStep } from '../engine/task/compaction-step.ts';
import { isExternalEvent } from './external-events.ts';
import type { RerunLog } from './rerun-log.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { type OutputCap, readOutputCap } from '../protocol/output-cap.ts';
import type { ClaimFlag } from '../protocol/result.ts';
import type { ReuseOutcome, EngineDeps } from '../engine/task/deps.ts';
import type { Epoch } from './epochs.ts';
import type { RerunSource } from './idle-deps.ts';

/** Those at which no more room is made. */
const LIMITS: ReadonlySet<string> = new Set(['context_window', 'compactions']);

/**
 * What was done before a request to keep it within its window: how large it was, and that window, no log
 * says again.
 */
export function loggedCompaction(script: RerunLog): CompactionStep {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return { kind: 'none' };
    if (isExternalEvent(event)) continue;
    const body = bodyOf(event);
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

/** The output cap of the request that the log has next; null: no budget lowered it. */
export function loggedOutputCap(next: TaskEvent | undefined): OutputCap | null {
  return next?.type === 'turn.started' ? (readOutputCap(next.outputCap) ?? null) : null;
}

/** Returns the flags of the end that the log has next: files and rules may be others now than they were then. */
export function loggedFlags(script: RerunLog): readonly ClaimFlag[] {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return [];
    if (event.type === 'task.ended') return event.claims ?? [];
  }
}

/** What came of the look for an earlier result; null: nobody looked, as far as its owner lived to write. */
export function loggedReuse(script: RerunLog): ReuseOutcome | null {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return null;
    if (isExternalEvent(event)) continue;
    const body = bodyOf(event);
    return body.type === 'task.reused' || body.type === 'reuse.missed' ? body : null;
  }
}

/** As they were: of a log that does not say so, those of now. What tools gave is as short as it was to be. */
export function recordedSettings(
  { settings }: RerunSource,
  { events }: Epoch,
): EngineDeps['settings'] {
  const started = events.find((event) => event.type === 'task.started');
  const recorded = started?.type === 'task.started' ? started.settings : undefined;
  const caps = { ...settings.caps, resultBytes: Infinity, readBytes: Infinity };
  return { ...settings, ...recorded, caps };
}
