import { hash } from 'node:crypto';
import { MusterError } from '../../base/errors.ts';
import { countRounds } from '../../protocol/state/delegations.ts';
import type { CallDetails } from '../../protocol/tool.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';

/** Returns the key of a delegation whose prompt may contain secrets. Secrets are redacted first, as in logs. */
export function toRedactedDelegationKey(
  { deps }: EngineContext,
  { agent, prompt }: { readonly agent: string; readonly prompt: string },
): string {
  return toDelegationKey(agent, deps.redact?.(prompt) ?? prompt);
}

/** Returns the error if a delegation repeats earlier ones too often, or null if it is allowed. */
export function findRepetitionError(
  { running }: EngineContext,
  caller: TaskRun,
  { agent, delegation }: { readonly agent: string; readonly delegation: string },
): RepeatedDelegationError | null {
  const { delegations, turns } = caller.state;
  // Parallel delegations in one message are one round, so only the first of them is checked.
  if (delegations.own.get(delegation)?.turn === turns) return null;
  const hit = findRepeatedDelegation(buildChain(caller, delegation, running));
  return hit === null ? null : new RepeatedDelegationError(agent, hit);
}

/** Collects, for the caller and each task above, the relation to a delegation. */
function buildChain(caller: TaskRun, key: string, running: RunningTasks) {
  const chain = [];
  for (let run: TaskRun | null = caller; run !== null; run = run.parent) {
    const { state, parent, spec } = run;
    chain.push({
      isCreatedByDelegation: parent?.state.children.get(spec.id)?.delegation === key,
      ownRounds: state.delegations.own.get(key)?.rounds ?? 0,
      countSubtreeRounds: () => countSubtreeRounds(state, key, running),
    });
  }
  return chain;
}

/**
 * Counts the rounds of a delegation by a task and by all tasks below it. The state of a task includes the rounds of its
 * ended children. The count stops at the limit.
 */
function countSubtreeRounds(state: TaskState, key: string, running: RunningTasks): number {
  let rounds = countRounds(state.delegations, key);
  for (const id of state.openChildren) {
    if (rounds >= MAX_REPEATED_DELEGATIONS) break;
    const child = running.get(id);
    if (child !== undefined) rounds += countSubtreeRounds(child.state, key, running);
  }
  return rounds;
}

/** A task that is notified of the end of a descendant: a running task, or one that was claimed to be ended. */
export interface NotifiedAncestor extends Pick<TaskRun, 'state'> {
  /** The task above, if it is notified too. */
  readonly parent?: NotifiedAncestor | null;
}

/**
 * Counts, by delegation key, the rounds of a child and its descendants. Includes only delegations that a task above has
 * also made.
 */
export function countSharedDelegations(
  child: TaskState,
  above: NotifiedAncestor,
): Readonly<Record<string, number>> {
  const { own, below } = child.delegations;
  const keys = new Set([...own.keys(), ...below.keys()]);
  const shared = [...keys].filter((key) => isMadeInChain(above, key));
  return Object.fromEntries(shared.map((key) => [key, countRounds(child.delegations, key)]));
}

function isMadeInChain({ state, parent = null }: NotifiedAncestor, key: string): boolean {
  if (state.delegations.own.has(key)) return true;
  return parent !== null && isMadeInChain(parent, key);
}

/** Returns the details that the log records about a call that failed with this error. */
export function toFailureDetails(error: MusterError): { readonly facts?: CallDetails } {
  return error instanceof RepeatedDelegationError ? { facts: { refusedBy: error.hit } } : {};
}

/**
 * The maximum number of rounds of one delegation by a task and all tasks below it while no file changes. A model that
 * is stuck delegates the same work again and again. A few repetitions are allowed, because a child may have failed.
 */
export const MAX_REPEATED_DELEGATIONS = 5;
/** The maximum number of tasks in one chain that the same delegation created, each of which only passed its work on. */
export const MAX_NESTED_DELEGATIONS = 3;
/** The number of messages with a refused delegation at which the task is ended. */
export const MAX_REFUSED_MESSAGES = 3;

/**
 * Returns a key that is the same for all delegations of the same prompt to the same agent. Differences in white space
 * do not count. The key is a hash, since prompts are long.
 */
export function toDelegationKey(agent: string, prompt: string): string {
  const text = `${agent.toLowerCase()}\0${prompt.trim().replaceAll(/\s+/g, ' ')}`;
  return hash('sha256', text).slice(0, 16);
}

/** The relation of one task to one delegation. */
interface DelegatingTask {
  /** True if this delegation created the task, or was the last to resume it. */
  readonly isCreatedByDelegation: boolean;
  /** The rounds of this delegation that the task itself has made. */
  readonly ownRounds: number;
  /** Counts the rounds of the task and of all tasks below it. */
  countSubtreeRounds(): number;
}

/**
 * Returns the limit that a delegation would exceed, or null.
 *
 * @param chain the task that delegates, then each task above it
 */
export function findRepeatedDelegation(chain: readonly DelegatingTask[]): LimitHit | null {
  const nested = chain.filter(({ isCreatedByDelegation }) => isCreatedByDelegation).length;
  if (nested >= MAX_NESTED_DELEGATIONS) {
    return { limit: 'nested_same_delegations', value: MAX_NESTED_DELEGATIONS, used: nested };
  }
  for (const { ownRounds, countSubtreeRounds } of chain) {
    // A task that has not made this delegation itself is not stuck, even if several of its children have made it.
    const rounds = ownRounds === 0 ? 0 : countSubtreeRounds();
    if (rounds >= MAX_REPEATED_DELEGATIONS) {
      return { limit: 'same_delegations', value: MAX_REPEATED_DELEGATIONS, used: rounds };
    }
  }
  return null;
}

/** The refusal of a delegation that was repeated too often. */
class RepeatedDelegationError extends MusterError {
  override readonly name = 'RepeatedDelegationError';
  readonly hit: LimitHit;

  constructor(agent: string, hit: LimitHit) {
    super('LIMIT_EXCEEDED', formatRepetitionMessage(agent, hit));
    this.hit = hit;
  }
}

function formatRepetitionMessage(agent: string, { limit, value, used }: LimitHit): string {
  const how =
    limit === 'same_delegations'
      ? `${used} times here, and no file has changed since`
      : `by ${used} tasks above you, each of which only passed it on`;
  return `the limit ${limit} = ${value} is reached: ${agent} was given the same prompt ${how}. Delegating it again gives nothing new. Use the results that you have, do the work yourself, or say in the prompt what to do differently.`;
}
