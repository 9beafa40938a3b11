import type { TaskEvent } from '../events/event.ts';
import { toCount } from '../model.ts';
import type { LimitHit } from './activation.ts';
import type { FileChange } from '../tool.ts';

/** Rounds of one delegation by one task: those of one message are one. */
interface OwnRounds {
  readonly rounds: number;
  /** Of the newest one. */
  readonly turn: number;
}

/**
 * Which delegations were made since anything changed: a file, or what a person wants. By their keys
 * (`delegationKey`), which say whose work it is and in which words.
 */
export interface Delegations {
  /** By the task itself. */
  readonly own: Map<string, OwnRounds>;
  /** By tasks below it that have ended, as far as one above them had made it before. */
  readonly below: Map<string, number>;
  /** Messages with a delegation that was refused as one of these. */
  refusals: number;
  /** The newest such refusal, and its turn. */
  refused: { readonly hit: LimitHit; readonly turn: number } | null;
}

export function initialDelegations(): Delegations {
  return { own: new Map(), below: new Map(), refusals: 0, refused: null };
}

/** What else the state says of the task, before the event. */
interface Surroundings {
  /** Answers that ended. */
  readonly turns: number;
  readonly filesChanged: ReadonlyMap<string, FileChange>;
}

export function applyToDelegations(
  delegations: Delegations,
  event: TaskEvent,
  { turns, filesChanged }: Surroundings,
): void {
  switch (event.type) {
    case 'child.created':
    case 'child.resumed':
      if (event.delegation !== undefined) addRound(delegations, event.delegation, turns);
      return;
    case 'child.ended':
      if (event.changed.some((change) => isNews(change, filesChanged))) beginAnew(delegations);
      for (const [key, rounds] of Object.entries(event.delegations ?? {})) {
        delegations.below.set(key, (delegations.below.get(key) ?? 0) + toCount(rounds));
      }
      return;
    case 'call.ended':
      if ((event.facts.changed ?? []).length > 0) beginAnew(delegations);
      if (event.facts.refusedBy !== undefined) refuse(delegations, event.facts.refusedBy, turns);
      return;
    case 'input.queued':
      if (event.input.from === 'user') beginAnew(delegations);
      return;
    case 'task.resumed':
      beginAnew(delegations);
      return;
    default:
  }
}

function addRound({ own }: Delegations, key: string, turn: number): void {
  const before = own.get(key);
  if (before?.turn === turn) return;
  own.set(key, { rounds: (before?.rounds ?? 0) + 1, turn });
}

/** A child that goes on tells of its earlier changes once more. */
function isNews({ path, after }: FileChange, known: ReadonlyMap<string, FileChange>): boolean {
  const before = known.get(path);
  return before === undefined || before.after !== after;
}

function beginAnew(delegations: Delegations): void {
  delegations.own.clear();
  delegations.below.clear();
  delegations.refusals = 0;
  delegations.refused = null;
}

/** Field by field: the hit is written down once more, and a log from elsewhere may hold anything. */
function refuse(
  delegations: Delegations,
  { limit, value, used }: Pick<LimitHit, 'limit' | 'value' | 'used'>,
  turn: number,
): void {
  if (delegations.refused?.turn !== turn) delegations.refusals += 1;
  delegations.refused = { hit: { limit, value, used }, turn };
}

/** Rounds of a delegation by the task itself and by what has ended below it. */
export function countRounds({ own, below }: Delegations, key: string): number {
  return (own.get(key)?.rounds ?? 0) + (below.get(key) ?? 0);
}
