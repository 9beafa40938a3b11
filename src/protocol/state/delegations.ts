import type { TaskEvent } from '../events/event.ts';
import { toCount } from '../model.ts';
import type { LimitHit } from '../limits.ts';
import type { FileChange } from '../tool.ts';

/** The rounds of one delegation by one task. Delegations in the same message count as one round. */
interface OwnRounds {
  readonly rounds: number;
  /** The turn of the newest round. */
  readonly turn: number;
}

/**
 * The delegations since the last change of a file or the last input of a person, by their keys (`toDelegationKey`).
 * A key identifies the agent and the text of a delegation.
 */
export interface Delegations {
  /** Rounds by the task itself. */
  readonly own: Map<string, OwnRounds>;
  /** Rounds by tasks below it that have ended, of delegations that a task above them had made before. */
  readonly below: Map<string, number>;
  /** The number of messages with a delegation that was refused as a repetition. */
  refusals: number;
  /** The newest such refusal, and its turn. */
  refused: { readonly hit: LimitHit; readonly turn: number } | null;
}

export function initialDelegations(): Delegations {
  return { own: new Map(), below: new Map(), refusals: 0, refused: null };
}

/** Other parts of the task's state before the event. */
interface Surroundings {
  /** The number of complete answers. */
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

/** Tells whether a change is new. A child that continues reports its earlier changes again. */
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

/** Records a refusal. Only these fields are copied, because they are logged again and a log may contain anything. */
function refuse(
  delegations: Delegations,
  { limit, value, used }: Pick<LimitHit, 'limit' | 'value' | 'used'>,
  turn: number,
): void {
  if (delegations.refused?.turn !== turn) delegations.refusals += 1;
  delegations.refused = { hit: { limit, value, used }, turn };
}

/** Counts the rounds of a delegation by the task itself and by tasks that have ended below it. */
export function countRounds({ own, below }: Delegations, key: string): number {
  return (own.get(key)?.rounds ?? 0) + (below.get(key) ?? 0);
}
