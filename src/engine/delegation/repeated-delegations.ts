import { hash } from 'node:crypto';
import { MusterError } from '../../base/errors.ts';
import { countRounds } from '../../protocol/state/delegations.ts';
import type { CallDetails } from '../../protocol/tool.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';

/** Returns the key of a delegation: the agent and the prompt as logs hold it, with its secrets redacted. */
export function recordedDelegationKey(
  { deps }: EngineContext,
  { agent, prompt }: { readonly agent: string; readonly prompt: string },
): string {
  return delegationKey(agent, deps.redact?.(prompt) ?? prompt);
}

/** Returns the error of a delegation that repeats earlier ones too often, or null if it may be made. */
export function repeatedDelegationError(
  { running }: EngineContext,
  caller: TaskRun,
  { agent, delegation }: { readonly agent: string; readonly delegation: string },
): RepeatedDelegationError | null {
  const { delegations, turns } = caller.state;
  if (delegations.own.get(delegation)?.turn === turns) return null;
  const hit = findRepeatedDelegation(chainOf(caller, delegation, running));
  return hit === null ? null : new RepeatedDelegationError(agent, hit);
}

function chainOf(caller: TaskRun, key: string, running: RunningTasks) {
  const chain = [];
  for (let run: TaskRun | null = caller; run !== null; run = run.parent) {
    const { state, parent, spec } = run;
    chain.push({
      isCreatedByDelegation: parent?.state.children.get(spec.id)?.delegation === key,
      ownRounds: state.delegations.own.get(key)?.rounds ?? 0,
      countSubtreeRounds: () => roundsAtAndBelow(state, key, running),
    });
  }
  return chain;
}

/** Counts what has ended from the task's own state, and stops counting at the limit. */
function roundsAtAndBelow(state: TaskState, key: string, running: RunningTasks): number {
  let rounds = countRounds(state.delegations, key);
  for (const id of state.openChildren) {
    if (rounds >= MAX_REPEATED_DELEGATIONS) break;
    const child = running.get(id);
    if (child !== undefined) rounds += roundsAtAndBelow(child.state, key, running);
  }
  return rounds;
}

/** A task that is notified of the end of a descendant. It runs, or was opened to be ended. */
export interface NotifiedAncestor extends Pick<TaskRun, 'state'> {
  /** Absent if no task above it is notified. */
  readonly parent?: NotifiedAncestor | null;
}

/** Counts, by delegation key, the rounds in a child's tree of the delegations that its ancestors have made too. */
export function delegationsToReport(
  child: TaskState,
  above: NotifiedAncestor,
): Readonly<Record<string, number>> {
  const { own, below } = child.delegations;
  const keys = new Set([...own.keys(), ...below.keys()]);
  const shared = [...keys].filter((key) => isMadeAtOrAbove(above, key));
  return Object.fromEntries(shared.map((key) => [key, countRounds(child.delegations, key)]));
}

function isMadeAtOrAbove({ state, parent = null }: NotifiedAncestor, key: string): boolean {
  if (state.delegations.own.has(key)) return true;
  return parent !== null && isMadeAtOrAbove(parent, key);
}

/** Returns the details that the log keeps of a call that failed with this error. */
export function failureDetails(error: MusterError): { readonly facts?: CallDetails } {
  return error instanceof RepeatedDelegationError ? { facts: { refusedBy: error.hit } } : {};
}

/**
 * The most rounds of one delegation by a task and all tasks below it while no file changes. A model that is
 * stuck delegates the same again and again; a few repetitions are allowed because a child may have failed.
 */
export const MAX_REPEATED_DELEGATIONS = 5;
/**
 * The maximum number of tasks in one chain that were created by the same delegation, each passing its whole work
 * on.
 */
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
interface DelegatingTask {
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
class RepeatedDelegationError extends MusterError {
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
