import type { MusterError } from '../../base/errors.ts';
import { countRounds } from '../../protocol/state/delegations.ts';
import type { CallDetails } from '../../protocol/tool.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import {
  delegationKey,
  RepeatedDelegationError,
  MAX_REPEATED_DELEGATIONS,
  findRepeatedDelegation,
} from '../limits/repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

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
