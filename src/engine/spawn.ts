import { errorMessage, MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { createTask } from './create-task.ts';
import { recordLoss } from './delivery.ts';
import { limitMessage } from './limits.ts';
import { planChild, type ChildPlan } from './plan-child.ts';
import { describePrompt } from './prompt.ts';
import { handedIn } from './reach.ts';
import type { TaskRun } from './task-run.ts';
import type { TaskInput } from './task-tools/task-input.ts';
import type { Workshop } from './workshop.ts';

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
  const { running } = workshop;
  const { caller, callId, input } = request;
  const plan = planOf(workshop, request);
  if (plan instanceof MusterError) return plan;
  const id = request.announced ?? newId();
  try {
    return createTask(workshop, caller.tree, {
      ...plan,
      id,
      description: input.description ?? describePrompt(input.prompt),
      prompt: input.prompt,
      handed: handedIn(input.prompt, caller, running),
      cwd: caller.spec.cwd,
      source: input.ofSkill === undefined ? 'model' : 'skill',
      skills: input.ofSkill === undefined ? [] : [input.ofSkill.name],
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
function planOf(
  { deps }: Workshop,
  { caller, input, announced }: SpawnRequest,
): ChildPlan | MusterError {
  const { agent, cwd, model } = caller.spec;
  const hit = announced === null ? caller.tree.taskLimit() : null;
  if (hit !== null) {
    return new MusterError('LIMIT_EXCEEDED', `${limitMessage(hit)}. Do the work yourself.`);
  }
  return planChild(deps, { agent, cwd, model, rights: caller.rights }, input);
}
