import type { CommandToStart, SandboxPort } from '../../protocol/tool.ts';
import type { Decision, Rights } from '../../protocol/permission.ts';
import { deniedPlaces } from '../../policy/denied-places.ts';
import { runsGitAlone } from '../../policy/git-alone.ts';
import { loadShellParser } from '../../policy/load-shell-parser.ts';
import type { Confinement, Sandbox } from '../../sys/sandbox/sandbox.ts';
import { buildCommandEnvironment } from '../../sys/processes/command-environment.ts';
import { readEnvironment } from '../../sys/env.ts';

export interface CommandSetup {
  readonly sandbox: Sandbox;
  /** Names of further environment variables that commands see. */
  readonly variables: readonly string[];
  /** What the task has set for its commands. What was proved without it runs without it. Default: nothing. */
  readonly set?: Readonly<Record<string, string>>;
  readonly taskId: string;
  readonly rights: Pick<Rights, 'mode' | 'rules' | 'roots' | 'network'>;
  /** What `~/` of a rule means. Absolute, real. */
  readonly home: string;
  /** By which the call runs. Its confinement, default `workspace`, is narrowed by a plan mode that has come since. */
  readonly decision?: Decision | undefined;
}

/** The sandbox of one call: what its commands may do follows from the rights of its task. */
export function commandSandbox(setup: CommandSetup): SandboxPort {
  const { sandbox, variables, set = {}, taskId, rights, home, decision } = setup;
  // Most calls run no command, and never ask.
  const confinementOf = (): Confinement => ({
    access: rights.mode === 'plan' ? 'read-only' : (decision?.confinement ?? 'workspace'),
    roots: rights.roots,
    network: rights.network,
    denied: deniedPlaces(rights, { home, answered: answeredRule(decision) }),
  });
  return {
    confine: async ([file, ...args], { cwd, serves, line }): Promise<CommandToStart> => {
      const { on } = await sandbox.state();
      const confinement = {
        ...confinementOf(),
        runsGitAlone: !serves && line !== undefined && (await isGitAlone(line)),
      };
      const { access, network } = confinement;
      const env = buildCommandEnvironment(readEnvironment(), {
        taskId,
        extraNames: variables,
        ...(access === 'workspace' ? { taskVariables: set } : {}),
        git: { access, confined: on },
        network: network || !on,
      });
      if (!on)
        return {
          file,
          args,
          env,
          held: null,
          settle: nothingSettled,
          release: () => {},
        };
      // What may only read must not have it done by a server of the same task that may write.
      const loopback = access === 'workspace' ? { loopback: taskId } : {};
      const leave = serves && access === 'workspace' ? await sandbox.useLoopback(taskId) : null;
      const argv = [file, ...args] as const;
      try {
        const command = { argv, cwd, env, confinement, stderr: 'monitor', ...loopback } as const;
        const confined = sandbox.confine(command);
        const release = (): void => {
          confined.release();
          leave?.();
        };
        return { ...confined, held: { access, network, monitored: confined.monitored }, release };
      } catch (thrown) {
        leave?.();
        throw thrown;
      }
    },
  };
}

const nothingSettled = () => Promise.resolve({ removed: [], fromCommits: [] });

/** The grammar is not loaded for a command that can't be one. */
async function isGitAlone(line: string): Promise<boolean> {
  if (!/(?:^|[\s;&|])git\s/.test(line)) return false;
  const read = await loadShellParser();
  return runsGitAlone(read(line));
}

/** The ask rule by which a person was asked, and has allowed the call. */
function answeredRule(decision: Decision | undefined): Decision['rule'] {
  return decision?.step === 'ask_rule' ? decision.rule : undefined;
}
