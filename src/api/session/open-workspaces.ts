import { UsageError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { SessionServers } from '../mcp/open-servers.ts';
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
 * @param places `agents`: the definitions of the session; `programs`: the servers that work in the workspaces of tasks
 */
export async function openWorkspaces(
  { loaded, environment, directory, roots }: SessionConfig,
  { attended = false, worktree }: SessionOptions,
  {
    canWriteDataDir,
    agents,
    programs,
  }: {
    readonly canWriteDataDir: boolean;
    readonly agents: readonly Pick<AgentDefinition, 'isolation'>[];
    readonly programs: readonly Pick<SessionServers, 'endWorkspace'>[];
  },
): Promise<SessionWorkspacePort> {
  const workspaces = createSessionWorkspaces({
    settings: loaded.config.workspaces,
    environment,
    dataDir: canWriteDataDir ? directory : null,
    keepsOpen: attended,
    endPrograms: async (tree) => {
      await Promise.all(programs.map((each) => each.endWorkspace(tree)));
    },
  });
  const isAskedFor = agents.some(({ isolation }) => isolation === 'worktree');
  if (worktree !== undefined || isAskedFor) await workspaces.prepare();
  if (worktree === undefined) return workspaces;
  const problem = workspaces.findProblem(roots[0]);
  if (problem !== null) throw new UsageError(`--worktree: ${problem}`);
  return workspaces;
}
