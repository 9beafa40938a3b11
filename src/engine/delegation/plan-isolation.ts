import { MusterError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { ISOLATIONS, type Isolation } from '../../protocol/workspace.ts';
import type { SetupDeps } from '../prompt/prepare-agent.ts';

type IsolationDeps = Pick<SetupDeps, 'workspaces' | 'processes'>;

interface PlannedIsolation {
  readonly isolation: Isolation;
  /** The reason why it is not the one that the definition of the agent asks for. Missing if it is. */
  readonly isolationProblem?: string;
}

/**
 * Decides how a child is isolated. A call can ask for an isolation, but can't lift or change the one that the definition
 * asks for. If there can be none, a call that asks for it is wrong, and the child of a definition is told.
 *
 * @param child `cwd`: the working directory of the parent; `called`: the isolation in the call. Default: none
 */
export function planIsolation(
  deps: IsolationDeps,
  child: {
    readonly cwd: string;
    readonly agent: AgentDefinition;
    readonly called: Isolation | undefined;
  },
): PlannedIsolation | MusterError {
  const { cwd, agent, called = 'none' } = child;
  const defined = findDefinedIsolation(agent);
  if (called !== 'none' && defined !== 'none' && called !== defined) {
    const message = `isolation: the agent ${agent.name} asks for ${defined} itself, and a task has one isolation; leave the argument out`;
    return new MusterError('INVALID_PARAM', message);
  }
  if (called === 'none') return planDefined(deps, { cwd, agent });
  const problem = ISOLATION_PROBLEMS[called](deps, cwd);
  if (problem === null) return { isolation: called };
  return new MusterError('INVALID_PARAM', `isolation: ${problem}`);
}

/** The isolation of a conversation. With `worktree`, it gets a workspace; `name` names its branch. */
interface RootIsolation extends PlannedIsolation {
  readonly worktree?: { readonly name: string | null };
}

/**
 * Decides how a conversation is isolated: by a workspace that the user asks for, and otherwise as the definition of its
 * agent asks. If there can be no such isolation, the conversation is told.
 *
 * @param root `worktree`: set if the user asks for a workspace, which must be possible
 */
export function planRootIsolation(
  deps: IsolationDeps,
  root: {
    readonly cwd: string;
    readonly agent: AgentDefinition;
    readonly worktree?: { readonly name: string | null };
  },
): RootIsolation {
  const { worktree } = root;
  const planned = planDefined(deps, root);
  if (worktree !== undefined) {
    // The tools of an agent that asks for a process run in one, wherever the user lets it work.
    return { isolation: planned.isolation === 'process' ? 'process' : 'worktree', worktree };
  }
  return planned.isolation === 'worktree' ? { ...planned, worktree: { name: null } } : planned;
}

function planDefined(
  deps: IsolationDeps,
  { cwd, agent }: { readonly cwd: string; readonly agent: AgentDefinition },
): PlannedIsolation {
  const isolation = findDefinedIsolation(agent);
  if (isolation === 'none') return { isolation };
  const isolationProblem = ISOLATION_PROBLEMS[isolation](deps, cwd);
  return isolationProblem === null ? { isolation } : { isolation: 'none', isolationProblem };
}

function findDefinedIsolation({ isolation }: Pick<AgentDefinition, 'isolation'>): Isolation {
  return ISOLATIONS.find((each) => each === isolation) ?? 'none';
}

/** For each isolation, the function that returns the reason why a task that works in `cwd` can't have it, or null. */
const ISOLATION_PROBLEMS: Readonly<
  Record<Exclude<Isolation, 'none'>, (deps: IsolationDeps, cwd: string) => string | null>
> = {
  worktree: ({ workspaces }, cwd) =>
    workspaces === undefined
      ? 'there are no workspaces here; the task works in the directory of its parent.'
      : workspaces.findProblem(cwd),
  process: ({ processes }) =>
    processes === undefined ? "tasks get no processes here; the task runs in Muster's." : null,
};
