import type { AttachPort } from '../../protocol/attachment.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { FileAccess, ToolContext } from '../../protocol/tool.ts';
import { createCommandSandbox } from './command-sandbox.ts';
import type { EngineDeps } from '../task/deps.ts';
import { createMemoryPort } from '../memory/memory-port.ts';
import { sleep } from '../../base/deadlines.ts';
import type { TaskRun } from '../task/task-run.ts';
import { createVariablePort, readTaskVariables } from '../task/task-variables.ts';

type CallSetup = Pick<ToolContext, 'callId' | 'signal'> & {
  readonly reach: FileAccess;
  readonly decision: Decision | undefined;
};

/** Creates the context of one tool call: the ports through which the tool acts. */
export function toolContext(
  deps: EngineDeps,
  run: TaskRun,
  { callId, signal, reach, decision }: CallSetup,
): ToolContext {
  const { spec } = run;
  const wait = (ms: number) => sleep(deps.deadlines, ms, signal);
  const { memory: source } = deps;
  return {
    taskId: spec.id,
    callId,
    cwd: spec.cwd,
    ...reach,
    signal,
    clock: deps.clock,
    caps: deps.settings.caps,
    files: run.files,
    todos: {
      get: () => run.state.todos,
      set: (items) => run.journal.record({ type: 'todos.set', items }),
    },
    shells: run.shells.forCall(callId),
    sandbox: run.tree.commands.queueCommands(
      createCommandSandbox({
        sandbox: deps.sandbox,
        variableNames: deps.settings.commandVariables,
        taskVariables: readTaskVariables(run),
        taskId: spec.id,
        rights: run.permissions.rights,
        home: deps.home,
        decision,
      }),
      signal,
    ),
    variables: createVariablePort(deps, run),
    ...(source === undefined ? {} : { memory: createMemoryPort({ source, spec, sleep: wait }) }),
    sleep: wait,
    keepFormer: (bytes) => deps.store.putBackup(bytes),
    attach: attachLater(deps, run, callId),
    spillPath: () => deps.store.createSpillFile(spec.id, callId),
    ...(deps.redactBytes === undefined ? {} : { redactBytes: deps.redactBytes }),
    progress(line) {
      const tool = run.state.runningCalls.get(callId)?.tool;
      // Progress that arrives after the outcome of the call is dropped.
      if (tool !== undefined) {
        deps.onSignal({ type: 'progress', task: spec.id, callId, tool, line });
      }
    },
  };
}

/** Creates an attachment port whose module is loaded at first use, since few tasks look at images. */
function attachLater(deps: EngineDeps, run: TaskRun, callId: string): AttachPort {
  const port = async () =>
    (await import('./attachment-ports.ts')).createCallAttachPort(deps, run, callId);
  return {
    refusal: async (facts) => (await port()).refusal(facts),
    add: async (facts, bytes) => (await port()).add(facts, bytes),
    addAgain: async (attachment) => (await port()).addAgain(attachment),
  };
}
