import { createProgramStarter } from '../setup/languages.ts';
import { openConfiguredSandbox } from '../setup/sandbox.ts';
import { loadConfig } from '../../config/load.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import { runProgram } from '../../languages/run-program.ts';
import type { SetupRunner } from '../../protocol/workspace.ts';
import type { Environment } from '../../sys/env.ts';
import { homeDirectory } from '../../sys/env.ts';
import { TRUST_NOTHING } from '../../sys/files/project-file.ts';
import { toRealPath } from '../../sys/files/real-path.ts';

/** The surroundings of commands that run without a session. */
interface RunnerParts {
  readonly environment: Environment;
  readonly dataDir: string;
  readonly signal: AbortSignal;
  readonly onNotice: (line: string) => void;
}

/** The time after which a command is ended. */
const MAX_MS = 600_000;

/** Finds the paths of a directory that the rules of the user hide from commands. */
export async function findHiddenPaths(
  directory: string,
  { environment }: Pick<RunnerParts, 'environment'>,
): Promise<readonly string[]> {
  const home = homeDirectory(environment);
  const inputs = { environment, home, cwd: directory, trust: TRUST_NOTHING, flags: [] };
  const { rules } = await loadConfig(inputs);
  return findDeniedPaths({ rules, roots: [directory] }, { home: toRealPath(home) }).hidden;
}

/** Creates a runner of acceptance commands for a landing without a session. The commands run in the sandbox. */
export function createCommandRunner(parts: RunnerParts): SetupRunner {
  const { environment, dataDir, signal, onNotice } = parts;
  return async (command, directory) => {
    const home = homeDirectory(environment);
    const real = toRealPath(directory);
    const inputs = { environment, home, cwd: real, trust: TRUST_NOTHING, flags: [] };
    const { config, rules } = await loadConfig(inputs);
    const { kind, caches, commandProcesses, network } = config.sandbox;
    const places = { environment, home, dataDir, canWriteDataDir: true, roots: [real] };
    const start = createProgramStarter({
      sandbox: openConfiguredSandbox({ ...places, kind, caches, commandProcesses, onNotice }),
      environment,
      home: toRealPath(home),
      rules,
      network,
      trustsProject: true,
      onNotice,
    });
    const program = { cwd: real, roots: [real], access: 'workspace' } as const;
    const argv = ['/bin/bash', '--noprofile', '--norc', '-c', command] as const;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
    const { how, stdout, stderr } = await runProgram(start, { ...program, argv }, limit);
    const code = /^exited with code (\d+)$/.exec(how)?.[1];
    return { exitCode: code === undefined ? null : Number(code), output: `${stdout}${stderr}` };
  };
}
