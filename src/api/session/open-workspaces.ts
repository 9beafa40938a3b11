import { UsageError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { SessionOptions } from '../setup/options.ts';
import {
  createSessionWorkspaces,
  type SessionWorkspacePort,
} from '../workspaces/session-workspaces.ts';
import type { SessionConfig } from './session-config.ts';

/**
 * Opens the workspaces of a session, ready for conversations that work in one. Throws UsageError if all of them are to and
 * there can be no workspaces.
 *
 * @param places `agents`: the definitions of the session
 */
export async function openWorkspaces(
  { loaded, environment, directory, roots }: SessionConfig,
  { attended = false, worktree }: SessionOptions,
  {
    canWriteDataDir,
    agents,
  }: {
    readonly canWriteDataDir: boolean;
    readonly agents: readonly Pick<AgentDefinition, 'isolation'>[];
  },
): Promise<SessionWorkspacePort> {
  const workspaces = createSessionWorkspaces({
    settings: loaded.config.workspaces,
    environment,
    dataDir: canWriteDataDir ? directory : null,
    keepsOpen: attended,
  });
  const isAskedFor = agents.some(({ isolation }) => isolation === 'worktree');
  if (worktree !== undefined || isAskedFor) await workspaces.prepare();
  if (worktree === undefined) return workspaces;
  const problem = workspaces.findProblem(roots[0]);
  if (problem !== null) throw new UsageError(`--worktree: ${problem}`);
  return workspaces;
}
