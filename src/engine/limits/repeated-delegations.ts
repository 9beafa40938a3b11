import { hash } from 'node:crypto';
import { MusterError } from '../../base/errors.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';

/**
 * The most rounds of one delegation by a task and all tasks below it while no file changes. A model that is
 * stuck delegates the same again and again; a few repetitions are allowed because a child may have failed.
 */
export const MAX_REPEATED_DELEGATIONS = 5;
/** The most tasks in one chain that were created by the same delegation, each passing its whole work on. */
export const MAX_NESTED_DELEGATIONS = 3;
/** The number of messages with a refused delegation after which the task is ended. */
export const MAX_REFUSED_MESSAGES = 3;

/**
 * Returns a key that is the same for delegations to the same agent with the same prompt, apart from white
 * space. It is a hash, since prompts are long.
 */
export function delegationKey(agent: string, prompt: string): string {
  const text = `${agent.toLowerCase()}\0${prompt.trim().replaceAll(/\s+/g, ' ')}`;
  return hash('sha256', text).slice(0, 16);
}

/** The relation of one task to one delegation. */
export interface DelegatingTask {
  /** True when this delegation created the task, or resumed it last. */
  readonly isCreatedByDelegation: boolean;
  /** The rounds of this delegation that the task itself has made. */
  readonly ownRounds: number;
  /** Counts the rounds of the task and of all tasks below it. */
  countSubtreeRounds(): number;
}

/**
 * Returns the limit that a delegation would exceed, or null. Parallel delegations in one message are one
 * round, so only the first of them is checked.
 *
 * @param chain the task that delegates, then each task above it
 */
export function findRepeatedDelegation(chain: readonly DelegatingTask[]): LimitHit | null {
  const nested = chain.filter(({ isCreatedByDelegation: isMadeByIt }) => isMadeByIt).length;
  if (nested >= MAX_NESTED_DELEGATIONS) {
    return { limit: 'nested_same_delegations', value: MAX_NESTED_DELEGATIONS, used: nested };
  }
  for (const { ownRounds: own, countSubtreeRounds: all } of chain) {
    // A task that has not delegated this itself is not stuck, whatever several of its children delegate.
    const rounds = own === 0 ? 0 : all();
    if (rounds >= MAX_REPEATED_DELEGATIONS) {
      return { limit: 'same_delegations', value: MAX_REPEATED_DELEGATIONS, used: rounds };
    }
  }
  return null;
}

/** The refusal of a delegation that was repeated too often. */
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
      : `by ${used} tasks above you, each of which only passed it on`;
  return `the limit ${limit} = ${value} is reached: ${agent} was given the same prompt ${how}. Delegating it again gives nothing new. Use the results that you have, do the work yourself, or say in the prompt what to do differently.`;
}
