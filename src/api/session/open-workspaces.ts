import { UsageError } from '../../base/errors.ts';
import type { MusterOptions } from '../setup/options.ts';
import {
  createSessionWorkspaces,
  type SessionWorkspacePort,
} from '../workspaces/session-workspaces.ts';
import type { SessionConfig } from './session-config.ts';

/**
 * Opens the workspaces of a session. Throws UsageError if its conversations are to work in workspaces and there can be
 * none.
 */
export async function openWorkspaces(
  { loaded, environment, directory, roots }: SessionConfig,
  { attended = false, worktree }: MusterOptions,
  { canWriteDataDir }: { readonly canWriteDataDir: boolean },
): Promise<SessionWorkspacePort> {
  const workspaces = createSessionWorkspaces({
    settings: loaded.config.workspaces,
    environment,
    dataDir: canWriteDataDir ? directory : null,
    keepsOpen: attended,
  });
  if (worktree === undefined) return workspaces;
  await workspaces.prepare();
  const problem = workspaces.findProblem(roots[0]);
  if (problem !== null) throw new UsageError(`--worktree: ${problem}`);
  return workspaces;
}
