import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { catchMusterError } from '../../base/errors.ts';
import { hasWorkspaces } from './has-workspaces.ts';
import { openDataDirectory } from '../setup/data-dir.ts';
import { findHolder } from './workspace-hold.ts';

/** Something that a process has left behind of a workspace. */
export interface WorkspaceProblem {
  readonly detail: string;
  /** The command that ends it, or null if there is none. */
  readonly fix: string | null;
}

/**
 * Finds what ended processes have left behind of the workspaces in a data directory: landings that are not finished, and
 * workspaces whose changes nobody has recorded. Changes nothing.
 */
export async function findWorkspaceProblems(dataDir: string): Promise<readonly WorkspaceProblem[]> {
  if (!hasWorkspaces(dataDir)) return [];
  const [
    { listDamagedLandings, listUnfinishedLandings },
    { findAbandonedWorkspaces },
    { isDamagedWorkspace, workspaceDirectory },
  ] = await Promise.all([
    import('../../workspaces/landing/unfinished.ts'),
    import('../../workspaces/remove.ts'),
    import('../../workspaces/record.ts'),
  ]);
  const store = existsSync(join(dataDir, 'tasks'))
    ? openDataDirectory({ dataDir, durability: 'safe', onProblem: () => {} })
    : null;
  try {
    const isActive = (id: string): boolean =>
      findHolder(workspaceDirectory(dataDir, id)) !== null ||
      (store?.exists(id) === true && catchMusterError(() => store.getOwner(id)) !== null);
    const landings = listUnfinishedLandings(join(dataDir, 'workspaces')).map(
      ({ task, source, kind }): WorkspaceProblem => ({
        detail: `the ${kind === 'apply' ? 'landing' : 'undoing of a landing'} of task ${task} in ${source} is not finished`,
        fix: `muster tasks apply ${task} --continue, or --abort`,
      }),
    );
    const damaged = listDamagedLandings(join(dataDir, 'workspaces')).map(
      ({ task, problem }): WorkspaceProblem => ({
        detail: `the landing of task ${task} is not finished, and cannot be: ${problem}`,
        fix: null,
      }),
    );
    const abandoned = findAbandonedWorkspaces(dataDir, isActive).map(
      ({ workspace, state }): WorkspaceProblem => {
        if (isDamagedWorkspace(workspace)) {
          const { directory, problem } = workspace;
          return { detail: `${directory} cannot be used: ${problem}`, fix: null };
        }
        const { id, tree } = workspace;
        return state === 'open'
          ? {
              detail: `the process of task ${id} died, and its changes are in ${tree}`,
              fix: `muster tasks resume ${id}, muster tasks apply ${id} or muster tasks discard ${id}`,
            }
          : {
              detail: `${tree} was left when its process died, and holds no changes`,
              fix: 'muster tasks prune',
            };
      },
    );
    return [...landings, ...damaged, ...abandoned];
  } finally {
    await store?.close();
  }
}
