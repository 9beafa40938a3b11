import { errorMessage, MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { findAgent } from '../agents/find.ts';
import { attenuate } from '../policy/attenuate.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ResolvedModel } from '../protocol/model.ts';
import { createTask } from './create-task.ts';
import { recordLoss } from './delivery.ts';
import type { EngineDeps } from './deps.ts';
import { combineLimits, limitMessage } from './limits.ts';
import { describePrompt } from './prompt.ts';
import { handedIn } from './reach.ts';
import type { TaskRun } from './task-run.ts';
import type { TaskInput } from './task-tools/task-input.ts';
import type { Workshop } from './workshop.ts';

/** The type of a Task call that names none. */
export const DEFAULT_AGENT = 'general-purpose';

/** A Task call that makes a child. */
export interface SpawnRequest {
  readonly caller: TaskRun;
  readonly callId: string;
  readonly input: TaskInput;
  /** The id under which the call had announced it before a crash; null for a new one. */
  readonly announced: string | null;
}

/** Makes the child of a Task call, ready to run. What is wrong with the call is the error returned. */
export function spawnChild(workshop: Workshop, request: SpawnRequest): TaskRun | MusterError {
  const { deps, running } = workshop;
  const { caller, callId, input } = request;
  const choice = chooseChild(deps, request);
  if (choice instanceof MusterError) return choice;
  const { agent, model } = choice;
  const id = request.announced ?? newId();
  try {
    return createTask(workshop, caller.tree, {
      id,
      agent,
      model,
      rights: attenuate(caller.rights, agent),
      limits: combineLimits({
        config: deps.settings.taskLimits,
        definition: agent.limits,
        call: input.maxTurns === undefined ? {} : { maxTurns: input.maxTurns },
      }),
      description: input.description ?? describePrompt(input.prompt),
      prompt: input.prompt,
      handed: handedIn(input.prompt, caller.state, running),
      cwd: caller.spec.cwd,
      background: input.background,
      source: 'model',
      params: input.params,
      parent: { run: caller, callId },
    });
  } catch (thrown) {
    // The caller would wait for it without end.
    recordLoss(caller, id, errorMessage(thrown));
    // A log that can't be made (a full disk) is an error for the model, and no end of its task.
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** Everything about a call that can be wrong, before anything is made or asked. */
function chooseChild(
  deps: EngineDeps,
  { caller, input, announced }: SpawnRequest,
): { readonly agent: AgentDefinition; readonly model: ResolvedModel } | MusterError {
  const { rights } = caller.spec;
  if (rights.depth >= rights.maxDepth) {
    return new MusterError(
      'LIMIT_EXCEEDED',
      `the limit max_depth = ${rights.maxDepth} is reached: this task is at depth ${rights.depth} and can't delegate. Do the work yourself.`,
    );
  }
  const hit = announced === null ? caller.tree.taskLimit() : null;
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
