import { MusterError } from '../base/errors.ts';
import { findAgent } from '../agents/find.ts';
import { attenuate } from '../policy/attenuate.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ResolvedModel } from '../protocol/model.ts';
import type { ToolContext, ToolOutput } from '../protocol/tool.ts';
import { createTask, type TaskPlan, type Workshop } from './create-task.ts';
import type { EngineDeps } from './deps.ts';
import { combineLimits, limitMessage } from './limits.ts';
import { runTask } from './loop.ts';
import { describePrompt } from './prompt.ts';
import { parentText } from './result.ts';
import type { TaskRun } from './task-run.ts';
import type { TaskInput } from './task-tools/task-input.ts';
import type { Tree } from './tree.ts';

/** The type of a Task call that names none. */
export const DEFAULT_AGENT = 'general-purpose';

/** Runs a Task call to its end. What is wrong with the call is its output; rejects for bugs alone. */
export type Delegation = (input: TaskInput, context: ToolContext) => Promise<ToolOutput>;

export function createDelegation(workshop: Workshop): Delegation {
  const { deps, running } = workshop;
  return async (input, context) => {
    const caller = running.get(context.taskId);
    if (caller === undefined) {
      return { text: `Task: task ${context.taskId} does not run here`, error: 'INTERNAL_ERROR' };
    }
    const choice = chooseChild(deps, caller, input);
    if (choice instanceof MusterError) {
      return { text: `Task: ${choice.message}`, error: choice.code };
    }
    const child = tryToCreate(workshop, caller.tree, {
      agent: choice.agent,
      rights: attenuate(caller.spec.rights, choice.agent),
      model: choice.model,
      limits: combineLimits({
        config: deps.settings.taskLimits,
        definition: choice.agent.limits,
        call: input.maxTurns === undefined ? {} : { maxTurns: input.maxTurns },
      }),
      description: input.description ?? describePrompt(input.prompt),
      prompt: input.prompt,
      cwd: caller.spec.cwd,
      source: 'model',
      params: input.params,
      parent: { run: caller, callId: context.callId },
    });
    if (child instanceof MusterError) return { text: `Task: ${child.message}`, error: child.code };
    await runTask(deps, child);
    noteEnd(caller, child);
    return childOutput(child);
  };
}

/** A child whose log can't be made (a full disk) is an error for its parent's model, no end of it. */
function tryToCreate(workshop: Workshop, tree: Tree, plan: TaskPlan): TaskRun | MusterError {
  try {
    return createTask(workshop, tree, plan);
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** Everything about a call that can be wrong, before anything is made or asked. */
function chooseChild(
  deps: EngineDeps,
  caller: TaskRun,
  input: TaskInput,
): { readonly agent: AgentDefinition; readonly model: ResolvedModel } | MusterError {
  const { rights } = caller.spec;
  if (rights.depth >= rights.maxDepth) {
    return new MusterError(
      'LIMIT_EXCEEDED',
      `the limit max_depth = ${rights.maxDepth} is reached: this task is at depth ${rights.depth} and can't delegate. Do the work yourself.`,
    );
  }
  const hit = caller.tree.taskLimit();
  if (hit !== null) {
    return new MusterError('LIMIT_EXCEEDED', `${limitMessage(hit)}. Do the work yourself.`);
  }
  const found = findAgent(input.subagentType ?? DEFAULT_AGENT, deps.agents.agents());
  if (!found.ok) return new MusterError(found.error.code, `subagent_type: ${found.error.message}`);
  const { agent } = found;
  const model = deps.models.forTask({
    call: input.model,
    definition: agent.model,
    agent: agent.name,
    prompt: input.prompt,
    parent: caller.spec.model,
  });
  if (model instanceof MusterError) return model;
  return { agent, model };
}

/** What it and those below it did to files counts as its parent's doing, too. */
function noteEnd(caller: TaskRun, { spec, state }: TaskRun): void {
  if (state.end === null) return;
  caller.journal.record({
    type: 'child.ended',
    child: spec.id,
    status: state.end.status,
    changed: [...state.filesChanged.values()],
  });
}

function childOutput(child: TaskRun): ToolOutput {
  const state = child.outcome();
  const text = parentText(state, 0);
  const failed = state.status !== 'completed' && state.status !== 'partial';
  return failed ? { text, error: state.end?.error?.code ?? 'INTERNAL_ERROR' } : { text };
}
