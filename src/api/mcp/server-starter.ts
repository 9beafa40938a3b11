import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError } from '../../base/errors.ts';
import { toShellWord } from '../../base/text.ts';
import {
  runsInSandbox,
  runsInWorkspaceSandbox,
  type McpServerEntry,
} from '../../mcp/server-entry.ts';
import { startUnconfined, type StartServerProcess } from '../../mcp/server-process.ts';
import { startServerProgram } from '../../sys/processes/server-process.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import { confineWorktree } from '../../policy/workspace-rights.ts';
import { listSources } from '../../protocol/workspace-paths.ts';
import type { RuleSet } from '../../protocol/permission.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { startConfinedServer } from '../setup/start-confined.ts';

/** The parts that decide what a server in the sandbox may use. */
export interface StarterParts {
  readonly sandbox: Sandbox;
  readonly home: string;
  /**
   * The permission rules of the session, which are read at each start. Their deny and ask rules hide and protect files, as
   * for commands.
   */
  readonly rules: RuleSet;
  /** Receives what was done about protected files that a server has created. Default: nobody. */
  readonly onNotice?: (line: string) => void;
}

/**
 * Creates the starter of server processes, which runs those servers in the sandbox for which that is intended. A server that
 * starts for a workspace runs in the sandbox with the access of the commands there. As they do, it runs without one if
 * there is none, unless it always has to run in one.
 */
export function createStarter(parts: StarterParts): StartServerProcess {
  const { sandbox, home, onNotice = () => {} } = parts;
  return async (command) => {
    const { entry, cwd, place } = command;
    const { roots } = place;
    const workspace = place.workspace ?? undefined;
    const { maxProcesses } = sandbox;
    const isIntended =
      workspace === undefined ? runsInSandbox(entry) : runsInWorkspaceSandbox(entry);
    if (!isIntended) return await startUnconfined(command);
    const state = await sandbox.state();
    // The machine itself is the sandbox.
    if (!state.on && state.instead === 'container') {
      const [file, ...args] = command.argv;
      return startServerProgram({ file, args, cwd, env: command.env, maxProcesses });
    }
    if (!state.on && runsInSandbox(entry)) throw createSandboxError(entry, state.because);
    if (!state.on) return await startUnconfined(command);
    return startConfinedServer(
      sandbox,
      {
        argv: command.argv,
        cwd,
        env: command.env,
        confinement: {
          access: 'workspace',
          roots,
          network: true,
          denied: findDeniedPaths(
            { rules: parts.rules, roots, ...dropMissing({ workspace }) },
            { home: toRealPath(home) },
          ),
          ...confineWorktree(workspace),
          // The program of the server may lie in the directory of the session.
          visible: workspace === undefined ? [] : listSources(workspace),
        },
      },
      (note) => onNotice(`MCP server ${entry.name}: ${note}`),
    );
  };
}

function createSandboxError({ name, origin }: McpServerEntry, because: string): MusterError {
  const advice =
    origin.scope === 'project'
      ? `To run it without, add a server of the same name with the same command to a file of your own: muster mcp add ${toShellWord(name)} -- COMMAND…`
      : `To run it without, remove "sandbox" from its entry in ${origin.file}.`;
  const message = `MCP server ${name} should run in the sandbox, but there is none: ${because}. ${advice}`;
  return new MusterError('PERMISSION_DENIED', message);
}
