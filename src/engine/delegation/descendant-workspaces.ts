import { MusterError } from '../../base/errors.ts';
import type { ChangedPaths } from '../../protocol/state/overlaps.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { listChangedPaths } from '../../protocol/state/workspace-view.ts';
import type { LandingState } from '../../protocol/workspace.ts';
import type { EngineContext } from './engine-context.ts';
import { listKnownDescendants } from './deliver-end.ts';
import { readTaskState } from './visible-tasks.ts';
import type { TaskRun } from '../task/task-run.ts';

/** A task that works or has worked in a workspace. */
export interface TaskWithWorkspace {
  readonly state: TaskState;
  /** The state of its changes. */
  readonly landing: LandingState;
}

/** The maximum number of descendants whose logs are read, the newest first. Those at work need no reading. */
const MAX_READ = 64;

/** Reads the descendants of a task that have workspaces, by id. Reads nothing if there is none. */
export async function readWorkspaces(
  engine: EngineContext,
  { state }: TaskRun,
): Promise<ReadonlyMap<string, TaskWithWorkspace>> {
  const { deps, running } = engine;
  if (!state.hasWorkspacesBelow) return new Map();
  const ids = listKnownDescendants(state);
  const ended = ids.filter((id) => running.get(id) === undefined).slice(-MAX_READ);
  const isRead = new Set(ended);
  const states = ids.flatMap((id) => {
    const found = running.get(id)?.state ?? (isRead.has(id) ? readTaskState(engine, id) : null);
    const hasNone = found === null || found instanceof MusterError;
    return hasNone || found.spec.workspace === undefined ? [] : [found];
  });
  const landings = await deps.workspaces?.landingStates(states.map(({ spec }) => spec.id));
  return new Map(
    states.map((each) => {
      const { id } = each.spec;
      return [id, { state: each, landing: landings?.get(id) ?? 'gone' }];
    }),
  );
}

/** Lists what the tasks have changed that has not landed and was not discarded. */
export function listWaitingChanges(
  tasks: ReadonlyMap<string, TaskWithWorkspace>,
): readonly ChangedPaths[] {
  return [...tasks.values()].flatMap(({ state, landing }) => {
    const { id, workspace } = state.spec;
    const isWaiting = landing === 'open' || landing === 'unfinished';
    if (workspace === undefined || !isWaiting) return [];
    return [{ id, source: workspace.source, paths: listChangedPaths(state) }];
  });
}
