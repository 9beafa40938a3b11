import type { TaskEvent } from '../events/event.ts';
import { toCount } from '../model.ts';
import type { LimitHit } from '../limits.ts';
import type { FileChange } from '../tool.ts';

/** The rounds of one delegation. Equal delegations in the same answer count as one round. */
export interface DelegationRounds {
  /** The number of rounds. */
  readonly rounds: number;
  /** The turn of the newest round. */
  readonly turn: number;
}

/**
 * The delegations since the last change of a file or the last input of a person, by key (`toDelegationKey`). A key identifies
 * the agent and the text of a delegation. Repeated delegations are refused after a number of rounds.
 */
export interface Delegations {
  /** The rounds of delegations by the task itself. */
  readonly own: Map<string, DelegationRounds>;
  /** The number of rounds by ended tasks below, for delegations that a task above them had made before. */
  readonly below: Map<string, number>;
  /** The number of answers with a delegation that was refused as a repetition. */
  refusals: number;
  /** The newest of these refusals and its turn; null: there was none. */
  refused: { readonly hit: LimitHit; readonly turn: number } | null;
}

export function initialDelegations(): Delegations {
  return { own: new Map(), below: new Map(), refusals: 0, refused: null };
}

/** Other parts of the state of the task, before the event is applied. */
interface OtherState {
  /** The number of complete answers. */
  readonly turns: number;
  readonly filesChanged: ReadonlyMap<string, FileChange>;
}

export function applyToDelegations(
  delegations: Delegations,
  event: TaskEvent,
  { turns, filesChanged }: OtherState,
): void {
  switch (event.type) {
    case 'child.created':
    case 'child.resumed':
      if (event.delegation !== undefined) addRound(delegations, event.delegation, turns);
      return;
    case 'child.ended':
      if (event.changed.some((change) => isNewChange(change, filesChanged)))
        resetDelegations(delegations);
      for (const [key, rounds] of Object.entries(event.delegations ?? {})) {
        delegations.below.set(key, (delegations.below.get(key) ?? 0) + toCount(rounds));
      }
      return;
    case 'call.ended':
      if ((event.facts.changed ?? []).length > 0) resetDelegations(delegations);
      if (event.facts.refusedBy !== undefined)
        recordRefusal(delegations, event.facts.refusedBy, turns);
      return;
    case 'input.queued':
      if (event.input.from === 'user') resetDelegations(delegations);
      return;
    case 'task.resumed':
      resetDelegations(delegations);
      return;
    default:
  }
}

function addRound({ own }: Delegations, key: string, turn: number): void {
  const before = own.get(key);
  if (before?.turn === turn) return;
  own.set(key, { rounds: (before?.rounds ?? 0) + 1, turn });
}

/** Returns true if a change is new. A resumed child reports its earlier changes again. */
function isNewChange({ path, after }: FileChange, known: ReadonlyMap<string, FileChange>): boolean {
  const before = known.get(path);
  return before === undefined || before.after !== after;
}

function resetDelegations(delegations: Delegations): void {
  delegations.own.clear();
  delegations.below.clear();
  delegations.refusals = 0;
  delegations.refused = null;
}

/** Records a refusal. Only known fields are copied, because the log may contain others and the fields are logged again. */
function recordRefusal(
  delegations: Delegations,
  { limit, value, used }: Pick<LimitHit, 'limit' | 'value' | 'used'>,
  turn: number,
): void {
  if (delegations.refused?.turn !== turn) delegations.refusals += 1;
  delegations.refused = { hit: { limit, value, used }, turn };
}

/** Returns the number of rounds of a delegation by the task itself and by ended tasks below. */
export function countRounds({ own, below }: Delegations, key: string): number {
  return (own.get(key)?.rounds ?? 0) + (below.get(key) ?? 0);
}
