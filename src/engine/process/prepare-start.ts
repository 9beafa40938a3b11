import { createRequire, findPackageJSON } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import type { Rights } from '../../protocol/permission.ts';
import { readEnvironment, type Environment } from '../../sys/env.ts';
import { buildCommandEnvironment } from '../../sys/processes/command-environment.ts';
import { withCpuLimit } from '../../sys/processes/cpu-limit.ts';
import type { FileToolAccess, Sandbox } from '../../sys/sandbox/sandbox.ts';
import { PROCESS_TOOLS } from '../../tools/process-tools.ts';
import { denyLinkTargets } from '../permissions/link-targets.ts';
import type { ProcessLimits, ProcessProgram } from '../task/call-process.ts';
import type { ProcessConnectionParts } from './process-connection.ts';

/** The parts of a start. */
export interface StartParts {
  readonly taskId: string;
  readonly limits: ProcessLimits;
  /** The path of the file that Node runs. */
  readonly program: string;
  readonly sandbox: Sandbox;
  /** The environment variables from which the process gets its own. Default: those of this process. */
  readonly environment?: Environment | undefined;
  /** The home directory that `~/` in a rule stands for: an absolute, real path. */
  readonly home: string;
  /** Returns the rights of the task as they are now. */
  readonly readRights: () => Rights;
}

/** A start of the process. */
export interface PreparedStart extends Pick<ProcessConnectionParts, 'file' | 'args' | 'options'> {
  /** Tells whether a call can run in the process. If not, it has to run in this process. */
  allows(access: FileToolAccess): boolean;
  /** Must be called when the process has ended. */
  release(): void;
}

/** Finds the program of the process of an isolated task. In dist/, it is a file of its own. */
export function findOwnProgram(): ProcessProgram {
  const name = import.meta.url.endsWith('.ts') ? './main.ts' : './task-process.js';
  return { path: fileURLToPath(new URL(name, import.meta.url)), tools: PROCESS_TOOLS };
}

/** Prepares the start of the process: in the sandbox, or without one if the machine has none. */
export async function prepareStart(parts: StartParts): Promise<PreparedStart> {
  const { taskId, limits, program, sandbox, home, environment = readEnvironment() } = parts;
  const heap = `--max-old-space-size=${limits.heapMb}`;
  const argv = withCpuLimit([process.execPath, heap, program], limits.cpuSeconds);
  const { on } = await sandbox.state();
  const git = { access: 'read-only', confined: on } as const;
  const env = buildCommandEnvironment(environment, { taskId, git });
  if (!on) {
    const [file, ...args] = argv;
    return { file, args, options: { cwd: '/', env }, allows: () => true, release: () => {} };
  }
  const rights = denyLinkTargets(parts.readRights(), home);
  const confined = sandbox.confine({
    argv,
    cwd: '/',
    env,
    confinement: {
      access: 'workspace',
      roots: rights.roots,
      denied: findDeniedPaths(rights, { home }),
      network: false,
      freshCaches: true,
      visible: listProgramFiles(program),
      servesFileTools: true,
    },
    stderr: 'command',
  });
  const { file, args, monitored, startCheck } = confined;
  return {
    file,
    args,
    options: { cwd: '/', env: confined.env, monitored, startCheck },
    allows: (access) => confined.allows(access),
    release: () => confined.release(),
  };
}

/** Lists what the program needs: Node, the package of the program, and the directories of the packages that it imports. */
function listProgramFiles(program: string): readonly string[] {
  const require = createRequire(program);
  return [
    process.execPath,
    findPackage(program) ?? dirname(program),
    ...(require.resolve.paths('muster') ?? []),
  ];
}

/** Returns the directory of the package to which a file belongs; undefined if it belongs to none. */
function findPackage(file: string): string | undefined {
  const manifest = findPackageJSON('..', file);
  return manifest === undefined ? undefined : dirname(manifest);
}
