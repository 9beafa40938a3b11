import { isAbsolute, join, resolve } from 'node:path';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import { expandTransport, type VariableSource } from '../../mcp/expand-variables.ts';
import { buildServerEnvironment } from '../../mcp/server-process.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import { confineWorktree } from '../../policy/workspace-rights.ts';
import type { AcpProgram, RemoteTask } from '../../protocol/remote-agent.ts';
import { listSources } from '../../protocol/workspace-paths.ts';
import type { AcpStart, StartAcpProgram } from '../../remote/acp/program.ts';
import { toRealPath } from '../../sys/files/real-path.ts';
import { startServerProgram } from '../../sys/processes/server-process.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import { startConfinedServer } from '../setup/start-confined.ts';

/** The parts of a session that decide how a program of a remote agent starts. */
interface StarterParts {
  readonly variables: VariableSource;
  readonly sandbox: Sandbox;
  /** The directories that no program may name as its own state: those of Muster. Absolute, without links. */
  readonly stateDirectories: readonly string[];
  /** Keeps a value out of logs. */
  addSecret(value: string): void;
  /** Tells whether a variable holds a secret. */
  isSecret(name: string): boolean;
  onNotice(line: string): void;
}

/**
 * Creates the starter of the programs of remote agents. A program runs in the sandbox with the rights of its task, and with
 * the network, because it needs its model. Without a sandbox, only a program of the user starts, and only if its task may
 * change files: nothing else could be kept from it.
 */
export function createAcpStarter(parts: StarterParts): StartAcpProgram {
  return async ({ task, program, access }) => {
    const { argv, env } = prepareCommand(parts, task, program);
    const { sandbox } = parts;
    const { cwd, rights } = task;
    const state = await sandbox.state();
    if (!state.on) {
      const isMachine = state.instead === 'container';
      if (access === 'read-only' || (task.isForeign && !isMachine))
        throw createSandboxError(task, access, state.because);
      const [file, ...args] = argv;
      return startServerProgram({
        file,
        args,
        cwd,
        env,
        ...(isMachine ? { maxProcesses: sandbox.maxProcesses } : {}),
      });
    }
    const { roots, rules, callLimits, workspace } = rights;
    const home = toRealPath(parts.variables.home);
    const confinement = {
      access,
      roots,
      network: true,
      denied: findDeniedPaths(
        { rules, roots, ...dropMissing({ callLimits, workspace }) },
        { home },
      ),
      ...confineWorktree(workspace),
      // The program may lie in the directory of the session.
      visible: workspace === undefined ? [] : listSources(workspace),
      ownState: task.isForeign ? [] : listOwnState(parts, task, program),
    };
    const report = (note: string): void => parts.onNotice(`agent ${task.name}: ${note}`);
    return startConfinedServer(sandbox, { argv, cwd, env, confinement }, report);
  };
}

/** Replaces the variables of a program, and builds its environment. */
function prepareCommand(
  { variables, addSecret, isSecret }: StarterParts,
  { name, path, isForeign }: RemoteTask,
  { command, args, env }: AcpProgram,
) {
  const origin = { scope: isForeign ? 'project' : 'user', file: path } as const;
  const transport = { type: 'stdio', command, args, env, cwd: null } as const;
  const expanded = expandTransport({ name, origin, transport, noun: 'agent' }, variables);
  for (const [variable, value] of expanded.used) if (isSecret(variable)) addSecret(value);
  if (expanded.transport.type !== 'stdio') throw new Error('a program became a server');
  const { command: file, args: words, env: added } = expanded.transport;
  const program = file.startsWith('~/') ? join(variables.home, file.slice(2)) : file;
  const isRelative = program.includes('/') && !isAbsolute(program);
  const argv = [isRelative ? resolve(variables.project, program) : program, ...words] as const;
  return { argv, env: buildServerEnvironment(variables.environment, added) };
}

/** Returns the directories of the program's own state. Throws UsageError for one that would show it more than that. */
function listOwnState(
  { variables: { home }, stateDirectories }: StarterParts,
  { name, path, rights }: RemoteTask,
  { state = [] }: AcpProgram,
): readonly string[] {
  return state.map((written) => {
    const real = toRealPath(written.startsWith('~/') ? join(home, written.slice(2)) : written);
    const others = [toRealPath(home), ...stateDirectories, ...rights.roots];
    const overlapping = others.find(
      (other) => isInside(real, other) || (other !== toRealPath(home) && isInside(other, real)),
    );
    if (overlapping === undefined) return real;
    const message = `${path}: agent ${name}: acp.state: ${written} overlaps with ${overlapping}; name only a directory of the program itself`;
    throw new MusterError('INVALID_PARAM', message);
  });
}

function createSandboxError(
  { name, path, isForeign }: RemoteTask,
  access: AcpStart['access'],
  because: string,
): MusterError {
  const reason =
    access === 'read-only'
      ? 'its task may not change files, and nothing but the sandbox can keep a program from that'
      : 'the program of an agent of a project always runs in the sandbox';
  const advice = isForeign
    ? 'Install the sandbox (muster sandbox), or define the agent in your own configuration.'
    : 'Install the sandbox (muster sandbox), or let the task change files.';
  const message = `the program of agent ${name} (${path}) was not started: ${reason}, and there is no sandbox: ${because}. ${advice}`;
  return new MusterError('PERMISSION_DENIED', message);
}
