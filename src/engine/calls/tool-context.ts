import { dropMissing } from '../../base/drop-missing.ts';
import { denyLinkTargets } from '../permissions/link-targets.ts';
import type { AttachPort } from '../../protocol/attachment.ts';
import type { Decision, Rights } from '../../protocol/permission.ts';
import type { ServerPort } from '../../protocol/server-message.ts';
import type { FileAccess, ToolContext, CommandToStart, SandboxPort } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { WaitRunner } from '../questions/ask-person.ts';
import { createMemoryPort } from '../memory/memory-source.ts';
import { sleep } from '../../base/deadlines.ts';
import type { TaskRun } from '../task/task-run.ts';
import { createCodePort } from './plan-call.ts';
import { createChangePort } from './change-port.ts';
import { createServerPort } from './server-port.ts';
import { createWebPort } from './web-port.ts';
import { createVariablePort, readTaskVariables } from '../task/task-variables.ts';
import { runsOnlyGit } from '../../policy/shell/git-only.ts';
import { loadShellParser } from '../../policy/shell/load-parser.ts';
import type { Confinement, Sandbox } from '../../sys/sandbox/sandbox.ts';
import { withCpuLimit } from '../../sys/processes/cpu-limit.ts';
import { buildCommandEnvironment } from '../../sys/processes/command-environment.ts';
import { delimiter } from 'node:path';
import { readEnvironment, type Environment } from '../../sys/env.ts';
import { findDeniedPaths } from '../../policy/denied-paths.ts';
import { confineWorktree } from '../../policy/workspace-rights.ts';

/** The details of one call that its context depends on. */
type CallSetup = Pick<ToolContext, 'callId' | 'signal'> & {
  /** The canonical name of the tool. */
  readonly tool: string;
  readonly pathAccess: FileAccess;
  readonly decision: Decision | undefined;
  /** The port for the MCP server of the call. Absent for other tools. */
  readonly server?: ServerPort;
  /** Runs the waits for answers of the user. */
  readonly runWait: WaitRunner;
};

/** Creates the context of a tool call: the ports through which the tool acts. */
export function createToolContext(
  deps: EngineDeps,
  run: TaskRun,
  { callId, tool, signal, pathAccess, decision, server, runWait }: CallSetup,
): ToolContext {
  const { spec } = run;
  const wait = (ms: number) => sleep(deps.deadlines, ms, signal);
  const attach = createLazyAttachPort(deps, run, callId);
  const progress: ToolContext['progress'] = (line, lines) => {
    const running = run.state.runningCalls.get(callId)?.tool;
    // A call that has an outcome is not in `runningCalls` any more. Its late progress is dropped.
    if (running === undefined) return;
    const signalled = { type: 'progress', task: spec.id, callId, tool: running, line } as const;
    deps.onSignal(lines === undefined ? signalled : { ...signalled, lines });
  };
  const { memory: source } = deps;
  const web = createWebPort(deps, run, { tool, signal });
  const code = createCodePort(deps, run, signal);
  return {
    taskId: spec.id,
    callId,
    cwd: spec.cwd,
    workspace: run.permissions.rights.workspace,
    ...pathAccess,
    signal,
    clock: deps.clock,
    caps: deps.settings.caps,
    files: run.files,
    todos: {
      get: () => run.state.todos,
      set: (items) => run.journal.record({ type: 'todos.set', items }),
    },
    shells: run.shells.createPort(callId),
    remote: run.shells.createRemotePort({
      callId,
      tool,
      signal,
      attach,
      progress,
      runWait,
      createServerPort: (setup) => createServerPort(deps, run, setup),
    }),
    sandbox: run.tree.commands.queueCommands(
      createCommandSandbox({
        sandbox: deps.sandbox,
        environment: deps.environment,
        variableNames: deps.settings.commandVariables,
        taskVariables: readTaskVariables(run),
        taskId: spec.id,
        ...(deps.traceparent === undefined ? {} : { traceparent: deps.traceparent(spec, callId) }),
        ...(spec.isolation === 'process' && deps.processes !== undefined
          ? { cpuSeconds: deps.processes.limits.cpuSeconds }
          : {}),
        rights: denyLinkTargets(run.permissions.rights, deps.home),
        home: deps.home,
        decision,
      }),
      signal,
    ),
    ...(deps.changes === undefined ? {} : { changes: createChangePort(deps, run, decision) }),
    variables: createVariablePort(deps, run),
    ...(source === undefined ? {} : { memory: createMemoryPort({ source, spec, sleep: wait }) }),
    ...(web === undefined ? {} : { web }),
    ...(server === undefined ? {} : { server }),
    ...(code === undefined ? {} : { code }),
    ...(deps.editor === undefined || spec.workspace !== undefined ? {} : { editor: deps.editor }),
    askModel: async (question) =>
      (await import('../turn/request-apart.ts')).requestApart(
        deps,
        run,
        { callId, signal },
        question,
      ),
    sleep: wait,
    keepFormer: (bytes) => deps.store.putBackup(bytes),
    attach,
    spillPath: () => deps.store.createSpillFile(spec.id, callId),
    ...(deps.redactBytes === undefined ? {} : { redactBytes: deps.redactBytes }),
    progress,
  };
}

/** Creates an attachment port that loads its module at the first use, since few tasks look at images. */
function createLazyAttachPort(deps: EngineDeps, run: TaskRun, callId: string): AttachPort {
  const loadPort = async () =>
    (await import('./attachment-ports.ts')).createCallAttachPort(deps, run, callId);
  return {
    refusal: async (details) => (await loadPort()).refusal(details),
    add: async (details, bytes) => (await loadPort()).add(details, bytes),
    addAgain: async (attachment) => (await loadPort()).addAgain(attachment),
  };
}

/** The options of a command sandbox. */
interface CommandSandboxOptions {
  readonly sandbox: Sandbox;
  /** The environment variables from which commands get theirs. Default: those of the process. */
  readonly environment?: Environment | undefined;
  /** Names of further environment variables that commands see. */
  readonly variableNames: readonly string[];
  /**
   * Variables that the task has set for its commands. Only commands with access to the workspace get them: a read-only
   * command was proved harmless without these variables. Default: none.
   */
  readonly taskVariables?: Readonly<Record<string, string>>;
  readonly taskId: string;
  /** The W3C trace context of the call. Default: that of Muster's environment, if there is one. */
  readonly traceparent?: string;
  readonly rights: Pick<Rights, 'mode' | 'rules' | 'roots' | 'network' | 'workspace'>;
  /** The processor time of each process of a command, in seconds. Default: no limit. */
  readonly cpuSeconds?: number;
  /** The home directory that `~/` in a rule stands for: an absolute, real path. */
  readonly home: string;
  /**
   * The decision that allowed the call. In plan mode, commands are read-only whatever confinement the decision has.
   * Otherwise a decision without a confinement means `workspace`.
   */
  readonly decision?: Decision | undefined;
  /** Set for commands that must not see the servers and caches of earlier commands. Default: they see them. */
  readonly isolated?: {
    /** Returns true for the entries that PATH must not have. */
    pathWithout(entry: string): boolean;
    /** Further directories that the commands can read. Absolute real paths. */
    readonly readable: readonly string[];
  };
}

/** Creates the sandbox for the commands of a call. The rights of the task decide what the commands may do. */
export function createCommandSandbox(options: CommandSandboxOptions): SandboxPort {
  const { sandbox, variableNames, taskVariables = {}, taskId, rights, home } = options;
  const { cpuSeconds, decision, isolated, traceparent, environment = readEnvironment() } = options;
  // This is computed only when a command runs, since most calls run none.
  const computeConfinement = (): Confinement => {
    const denied = findDeniedPaths(rights, { home, answered: findAnsweredRule(decision) });
    const readable = isolated?.readable ?? [];
    return {
      access: rights.mode === 'plan' ? 'read-only' : (decision?.confinement ?? 'workspace'),
      roots: [...rights.roots, ...readable],
      network: rights.network,
      denied: { ...denied, readOnly: [...denied.readOnly, ...readable] },
      ...confineWorktree(rights.workspace),
      ...(isolated === undefined ? {} : { freshCaches: true }),
    };
  };
  return {
    ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
    confine: async (command, { cwd, serves, line }): Promise<CommandToStart> => {
      const [file, ...args] =
        cpuSeconds === undefined ? command : withCpuLimit(command, cpuSeconds);
      const { on } = await sandbox.state();
      const confinement = {
        ...computeConfinement(),
        runsGitAlone: !serves && line !== undefined && (await lineRunsOnlyGit(line)),
      };
      const { access, network } = confinement;
      const env = buildCommandEnvironment(restrictPath(environment, isolated), {
        taskId,
        extraNames: variableNames,
        ...(access === 'workspace' ? { taskVariables } : {}),
        ...dropMissing({ traceparent }),
        git: { access, confined: on },
        network: network || !on,
      });
      const { maxProcesses } = sandbox;
      if (!on) {
        const release = (): void => {};
        return { file, args, env, held: null, maxProcesses, settle: settleNothing, release };
      }
      // Servers of the task are reached through a loopback. A command that may only read does not join it, since a
      // server may be able to write.
      const loopback = access === 'workspace' && isolated === undefined ? { loopback: taskId } : {};
      const leaveLoopback =
        serves && access === 'workspace' ? await sandbox.useLoopback(taskId) : null;
      const argv = [file, ...args] as const;
      try {
        const toConfine = { argv, cwd, env, confinement, stderr: 'monitor', ...loopback } as const;
        const confined = sandbox.confine(toConfine);
        const release = (): void => {
          confined.release();
          leaveLoopback?.();
        };
        const { monitored } = confined;
        const { workspace } = rights;
        const held = { access, network, monitored, ...dropMissing({ workspace }) };
        return { ...confined, held, maxProcesses, release };
      } catch (thrown) {
        leaveLoopback?.();
        throw thrown;
      }
    },
  };
}

function restrictPath(own: Environment, isolated: CommandSandboxOptions['isolated']): Environment {
  const { PATH } = own;
  if (isolated === undefined || PATH === undefined) return own;
  const entries = PATH.split(delimiter).filter((entry) => !isolated.pathWithout(entry));
  return { ...own, PATH: entries.join(delimiter) };
}

/** Without a sandbox there are no files to quarantine. */
const settleNothing = () => Promise.resolve({ removed: [], fromCommits: [] });

/** Returns true if a command line runs nothing but git. Loads the shell parser only if the line names git. */
async function lineRunsOnlyGit(line: string): Promise<boolean> {
  if (!/(?:^|[\s;&|])git\s/.test(line)) return false;
  const parseLine = await loadShellParser();
  return runsOnlyGit(parseLine(line));
}

/** Returns the ask rule if the user was asked because of it and allowed the call. */
function findAnsweredRule(decision: Decision | undefined): Decision['rule'] {
  return decision?.step === 'ask_rule' ? decision.rule : undefined;
}
