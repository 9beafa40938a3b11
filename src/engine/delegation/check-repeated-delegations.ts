import type { MusterError } from '../../base/errors.ts';
import { countRounds } from '../../protocol/state/delegations.ts';
import type { CallDetails } from '../../protocol/tool.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import {
  delegationKey,
  RepeatedDelegation,
  MAX_REPEATED_DELEGATIONS,
  repeatedDelegationHit,
} from '../limits/repeated-delegations.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from './engine-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Whose work is delegated, and in which words, as logs hold it. */
export function delegationOf(
  { deps }: EngineContext,
  { agent, prompt }: { readonly agent: string; readonly prompt: string },
): string {
  return delegationKey(agent, deps.redact?.(prompt) ?? prompt);
}

/** Why a delegation would be one too many; null: it may be made. */
export function repeatedDelegationError(
  { running }: EngineContext,
  caller: TaskRun,
  { agent, delegation }: { readonly agent: string; readonly delegation: string },
): RepeatedDelegation | null {
  const { delegations, turns } = caller.state;
  if (delegations.own.get(delegation)?.turn === turns) return null;
  const hit = repeatedDelegationHit(chainOf(caller, delegation, running));
  return hit === null ? null : new RepeatedDelegation(agent, hit);
}

function chainOf(caller: TaskRun, key: string, running: RunningTasks) {
  const chain = [];
  for (let run: TaskRun | null = caller; run !== null; run = run.parent) {
    const { state, parent, spec } = run;
    chain.push({
      isMadeByIt: parent?.state.children.get(spec.id)?.delegation === key,
      own: state.delegations.own.get(key)?.rounds ?? 0,
      all: () => roundsAtAndBelow(state, key, running),
    });
  }
  return chain;
}

/** Of what has ended the task itself knows. Counts no further than it matters. */
function roundsAtAndBelow(state: TaskState, key: string, running: RunningTasks): number {
  let rounds = countRounds(state.delegations, key);
  for (const id of state.openChildren) {
    if (rounds >= MAX_REPEATED_DELEGATIONS) break;
    const child = running.get(id);
    if (child !== undefined) rounds += roundsAtAndBelow(child.state, key, running);
  }
  return rounds;
}

/** A task that is told of the end of one below it, at work or opened to be ended. */
export interface Above extends Pick<TaskRun, 'state'> {
  /** Absent: nobody above it is told. */
  readonly parent?: Above | null;
}

/** What the end of a child tells of it: rounds of delegations that those above it have made, too. */
export function delegationsToReport(
  child: TaskState,
  above: Above,
): Readonly<Record<string, number>> {
  const { own, below } = child.delegations;
  const keys = new Set([...own.keys(), ...below.keys()]);
  const told = [...keys].filter((key) => isMadeAtOrAbove(above, key));
  return Object.fromEntries(told.map((key) => [key, countRounds(child.delegations, key)]));
}

function isMadeAtOrAbove({ state, parent = null }: Above, key: string): boolean {
  if (state.delegations.own.has(key)) return true;
  return parent !== null && isMadeAtOrAbove(parent, key);
}

/** What the log says of a call that failed with this. */
export function factsOf(error: MusterError): { readonly facts?: CallDetails } {
  return error instanceof RepeatedDelegation ? { facts: { refusedBy: error.hit } } : {};
}
