import { loadVerifier } from '../../agents/builtin.ts';
import { onAbort } from '../../base/async.ts';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { requestedModels } from '../../protocol/agent.ts';
import { toHookCallId } from '../../protocol/hook-fields.ts';
import type { HookAnswer, HookQuestion } from '../../protocol/hook.ts';
import { Budget } from '../limits/budget.ts';
import { taskCaps } from '../limits/configured-limits.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { stopOrder } from '../task/stop-order.ts';
import type { TaskRun } from '../task/task-run.ts';
import { findFirstRequestHit } from '../turn/request-budget.ts';
import { createTask } from './create-task.ts';
import type { EngineContext } from './engine-context.ts';
import { planAgent, toDelegator, type ChildPlan } from './plan-child.ts';

/** The form of the answer. */
const ANSWER: JsonObject = {
  type: 'object',
  properties: { ok: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['ok'],
};

/**
 * Has a child of a task answer the question of a hook. It may only read, asks nobody and delegates nothing, so the depth of the
 * task does not matter. It does not count as a task of the tree, so that a guard cannot keep the task from delegating; its
 * requests count in the budgets of the task. Rejects only when the signal aborts, after the child
 * has ended.
 */
export async function askVerifier(
  engine: EngineContext,
  caller: TaskRun,
  { prompt, model }: HookQuestion,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const { deps } = engine;
  if (caller.end.isDecided)
    return { ok: false, problem: 'the task has ended, so no subagent can answer' };
  const agent = await loadVerifier();
  await deps.models.prepare?.(model === undefined ? requestedModels(agent) : [model]);
  const request = { prompt, ...(model === undefined ? {} : { model }) };
  const planned = planAgent(deps, toDelegator(caller), agent, request);
  if (planned instanceof MusterError) return { ok: false, problem: planned.message };
  const { unusable, ...plan } = planned;
  if (unusable !== null) return { ok: false, problem: unusable };
  const details = await deps.models.details(plan.model);
  // From here to the creation nothing is awaited, so that no other task can use up the limits that are checked here.
  signal.throwIfAborted();
  const hit = findFirstRequestHit(new Budget(taskCaps(plan.limits), caller.budget), {
    model: plan.model,
    details,
    prefix: engine.prefixes.get(plan.setup.prompt, plan.setup.listedTools).prefix,
    prompt,
  });
  if (hit !== null) return { ok: false, problem: limitMessage(hit) };
  return await runVerifier(engine, caller, { plan, prompt, signal });
}

async function runVerifier(
  engine: EngineContext,
  caller: TaskRun,
  {
    plan,
    prompt,
    signal,
  }: { readonly plan: ChildPlan; readonly prompt: string; readonly signal: AbortSignal },
): Promise<HookAnswer> {
  const id = newId();
  const child = createTask(engine, caller.tree, {
    ...plan,
    rights: { ...plan.rights, refusesQuestions: true },
    id,
    description: 'Answer the question of a hook',
    prompt,
    handed: [],
    cwd: caller.spec.cwd,
    source: 'hook',
    params: {},
    outputSchema: ANSWER,
    parent: { run: caller, callId: toHookCallId(id), delegation: null },
  });
  const order = stopOrder('parent', 'the hook that asked it has ended');
  const removeListener = onAbort(signal, () => child.stop(order));
  engine.startLoop(child);
  await child.end.written;
  removeListener();
  signal.throwIfAborted();
  const { structured, end } = child.outcome();
  if (structured === null)
    return { ok: false, problem: `its task ${id} gave no answer: ${end?.because ?? 'no end'}` };
  return { ok: true, text: JSON.stringify(structured.value) };
}
