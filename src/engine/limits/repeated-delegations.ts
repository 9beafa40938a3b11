import { hash } from 'node:crypto';
import { MusterError } from '../../base/errors.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';

/**
 * Rounds of one delegation by a task and all below it, while nothing changes: a model that gets no
 * further makes it again and again. So many that a child which failed can be tried a few times more.
 */
export const MAX_REPEATED_DELEGATIONS = 5;
/** Tasks, one below the other, that were all made by one delegation: each hands on what it was to do. */
export const MAX_NESTED_DELEGATIONS = 3;
/** Messages with a refused one before the task is ended. */
export const MAX_REFUSED_MESSAGES = 3;

/**
 * The same for the same delegation: whose work it is, and in which words, whatever their white space.
 * A hash, since prompts are long.
 */
export function delegationKey(agent: string, prompt: string): string {
  const words = prompt.trim().replaceAll(/\s+/g, ' ');
  const text = `${agent.toLowerCase()}\0${words}`;
  return hash('sha256', text).slice(0, 16);
}

/** A task, as far as one delegation is concerned. */
export interface DelegatingTask {
  /** Whether that very delegation made it, or resumed it last. */
  readonly isCreatedByDelegation: boolean;
  /** Rounds of it that the task has made itself. */
  readonly ownRounds: number;
  /** Those, and all below the task. Counted only where it is asked for. */
  countSubtreeRounds(): number;
}

/**
 * Why a delegation would be one too many. Parallel ones of one message are one round: only the first
 * of them is to be asked about.
 *
 * @param chain who delegates, then each task above it
 */
export function findRepeatedDelegation(chain: readonly DelegatingTask[]): LimitHit | null {
  const nested = chain.filter(({ isCreatedByDelegation: isMadeByIt }) => isMadeByIt).length;
  if (nested >= MAX_NESTED_DELEGATIONS) {
    return { limit: 'nested_same_delegations', value: MAX_NESTED_DELEGATIONS, used: nested };
  }
  for (const { ownRounds: own, countSubtreeRounds: all } of chain) {
    // Others may delegate the same below it, each for its own reasons: siblings' children are no storm.
    const rounds = own === 0 ? 0 : all();
    if (rounds >= MAX_REPEATED_DELEGATIONS) {
      return { limit: 'same_delegations', value: MAX_REPEATED_DELEGATIONS, used: rounds };
    }
  }
  return null;
}

/** A delegation that is refused since it was made too often. */
export class RepeatedDelegationError extends MusterError {
  override readonly name = 'SameDelegation';
  readonly hit: LimitHit;

  constructor(agent: string, hit: LimitHit) {
    super('LIMIT_EXCEEDED', repeatedDelegationMessage(agent, hit));
    this.hit = hit;
  }
}

function repeatedDelegationMessage(agent: string, { limit, value, used }: LimitHit): string {
  const how =
    limit === 'same_delegations'
      ? `${used} times here, and no file has changed since`
      : `by ${used} tasks above you, each of which only handed it on`;
  return `the limit ${limit} = ${value} is reached: ${agent} was asked for the same in the same words ${how}. Once more gives nothing new. Use what came back, do the work yourself, or say in the prompt what is to be done differently.`;
}
