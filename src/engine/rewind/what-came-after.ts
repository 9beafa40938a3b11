import type { LogFacts, Moment } from './log-facts.ts';

/** Whether something of a log came after the event that a task is put back to. */
export type CameAfter = (moment: Moment) => boolean;

/** A log of the tree, with what of it came after. */
export interface JudgedLog {
  readonly facts: LogFacts;
  readonly cameAfter: CameAfter;
}

/**
 * Of a task below the one that is put back: what another task of the tree began after the event came
 * after it, and what had ended for that one before came before. The rest was at work at that event, or a
 * person began it: there the clock decides, and what has the very time of the event came before.
 */
export function afterInLogBelow(
  facts: LogFacts,
  above: ReadonlyMap<string, JudgedLog>,
  event: Moment,
): CameAfter {
  let before = -1;
  let after = Infinity;
  for (const [index, { seq, by, callId }] of facts.stints.entries()) {
    const caller = by === null ? undefined : above.get(by);
    const begun = caller?.facts.begun.find(
      (each) => each.child === facts.id && each.callId === callId,
    );
    if (caller === undefined || begun === undefined) continue;
    if (caller.cameAfter(begun)) {
      after = Math.min(after, seq);
      continue;
    }
    const ended = caller.facts.ended.find(
      (each) => each.child === facts.id && each.seq > begun.seq,
    );
    const next = facts.stints[index + 1];
    if (ended === undefined || caller.cameAfter(ended)) continue;
    before = next === undefined ? facts.lastSeq : next.seq - 1;
  }
  return ({ seq, ts }) => seq >= after || (seq > before && ts > event.ts);
}
