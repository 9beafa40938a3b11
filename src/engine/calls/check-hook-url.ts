import { explainRefusal } from '../../policy/explain-refusal.ts';
import { NO_ACCESS, type Decision, type Rights } from '../../protocol/permission.ts';
import { decideNow } from '../permissions/judge.ts';
import { prepareCall, type CallingTask } from '../permissions/prepare-call.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/**
 * Finds the reason, as a sentence, why a hook must not send a request to an address for a task: the task itself could not
 * fetch it, or may not send anything. Returns null if it may be sent.
 */
export async function findUrlProblem(
  deps: EngineDeps,
  { spec, state, permissions }: TaskRun,
  url: string,
): Promise<string | null> {
  const tool = deps.tools.find(({ name }) => name === 'WebFetch');
  if (tool === undefined) return 'The web cannot be reached from here.';
  const caller: CallingTask = { spec, state, permissions, view: new Map([[tool.name, tool]]) };
  const call = { type: 'tool_call', id: 'hook', name: tool.name, input: { url } } as const;
  const prepared = prepareCall(caller, call);
  if (!prepared.ready) return prepared.text;
  // A hook sends its input along, which a call of the tool does not.
  const { onlyFetches: _, ...access } = prepared.access ?? NO_ACCESS;
  // Rules are about hosts, and an address without one would pass them.
  if (access.hosts.length === 0) return 'WebFetch takes no such address.';
  const { decision } = await decideNow(deps, caller, { ...prepared, access });
  return findRequestProblem(decision, permissions.rights);
}

/**
 * Finds the reason against a request of a hook in the decision about it. The user has trusted the hook with its address, which
 * answers the question that only the default of the tool asks. Nobody is asked any other one.
 */
export function findRequestProblem(
  decision: Decision,
  { network }: Pick<Rights, 'network'>,
): string | null {
  if (decision.verdict === 'allow') return null;
  if (decision.verdict === 'deny') return explainRefusal(decision);
  if (decision.step !== 'tool_default')
    return `${decision.reason} Nobody is asked about the request of a hook.`;
  return network ? null : 'The task has no network, and no rule allows this address.';
}
