import { isExternalEvent } from './external-events.ts';
import type { RerunLog } from './rerun-log.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { type OutputCap, readOutputCap } from '../protocol/output-cap.ts';
import type { ClaimFlag } from '../protocol/result.ts';
import type { ReuseOutcome, EngineDeps, CompactionStep } from '../engine/task/deps.ts';
import type { Epoch } from './epochs.ts';
import type { RerunSource } from './idle-deps.ts';
import { stripStamp } from '../protocol/events/event-body.ts';

/** The limits at which compaction ends. */
const LIMITS: ReadonlySet<string> = new Set(['context_window', 'compactions']);

/**
 * Returns the compaction step that the log has before the next request. It can't be decided again, since the log has
 * neither the size of the request nor the context window.
 */
export function loggedCompaction(script: RerunLog): CompactionStep {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return { kind: 'none' };
    if (isExternalEvent(event)) continue;
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

/** Returns the output cap of the next logged request, or null if no budget lowered it. */
export function loggedOutputCap(next: TaskEvent | undefined): OutputCap | null {
  return next?.type === 'turn.started' ? (readOutputCap(next.outputCap) ?? null) : null;
}

/** Returns the flags of the next logged end, since files and rules may have changed since then. */
export function loggedFlags(script: RerunLog): readonly ClaimFlag[] {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return [];
    if (event.type === 'task.ended') return event.claims ?? [];
  }
}

/** Returns the logged outcome of the search for an earlier result, or null if there was none. */
export function loggedReuse(script: RerunLog): ReuseOutcome | null {
  for (let ahead = 0; ; ahead += 1) {
    const event = script.next(ahead);
    if (event === undefined) return null;
    if (isExternalEvent(event)) continue;
    const body = stripStamp(event);
    return body.type === 'task.reused' || body.type === 'reuse.missed' ? body : null;
  }
}

/** Returns the logged settings, or the present ones for an older log. Tool outputs in the log are already cut. */
export function recordedSettings(
  { settings }: RerunSource,
  { events }: Epoch,
): EngineDeps['settings'] {
  const started = events.find((event) => event.type === 'task.started');
  const recorded = started?.type === 'task.started' ? started.settings : undefined;
  const caps = { ...settings.caps, resultBytes: Infinity, readBytes: Infinity };
  return { ...settings, ...recorded, caps };
}
