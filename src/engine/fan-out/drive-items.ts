import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import {
  itemText,
  parseBody,
  renderPrompt,
  type TemplatePart,
} from '../../agents/templates/render.ts';
import type { ModelDetails } from '../../protocol/model.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { itemCallId, type FanOut } from '../../protocol/template.ts';
import { createTask } from '../delegation/create-task.ts';
import type { TaskEnding } from '../task/endings.ts';
import {
  estimateInput,
  firstRequest,
  inputToReserve,
  minimumExpense,
  estimateRequestNeed,
} from '../limits/estimate.ts';
import {
  planChild,
  prepareModels,
  type ChildPlan,
  type ChildRequest,
} from '../delegation/plan-child.ts';
import { describePrompt, formatTaskLine } from '../prompt/prompt.ts';
import { resumeChild } from '../delegation/resume-child.ts';
import { findUnpricedCap } from '../turn/request-budget.ts';
import { continueMessage } from '../delegation/resume-task.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { fanOutEnding } from './fan-out-ending.ts';
import { isReservedStep, remainingSteps, type ItemStep } from './remaining-items.ts';

/**
 * Runs the remaining items of a template run, as many at a time as tasks of a tree may run, and returns its end.
 * Once a budget is used up, no further item is started.
 */
export async function driveItems(engine: EngineContext, run: TaskRun): Promise<TaskEnding> {
  const { deps, running } = engine;
  const fanOut = fanOutOf(run);
  const { parts } = parseBody(fanOut.body);
  const hasStarted = (task: string) => running.get(task) !== undefined || deps.store.exists(task);
  const remaining = remainingSteps(fanOut, run.state, hasStarted).toReversed();
  // These are open children of the run that do not run anywhere.
  let reserved = remaining.filter(isReservedStep).length;
  let hit: LimitHit | null = null;
  for (;;) {
    run.cancellation.signal.throwIfAborted();
    const step = remaining.at(-1);
    const runningItems = run.state.openChildren.size - reserved;
    if (step !== undefined && hit === null && runningItems < deps.settings.maxParallel) {
      hit = await startStep(engine, run, { fanOut, parts, step });
      if (hit === null) {
        remaining.pop();
        if (isReservedStep(step)) reserved -= 1;
      } else run.journal.record({ type: 'limit.reached', ...hit });
      continue;
    }
    if (runningItems === 0) return fanOutEnding(deps.store, run.state, hit);
    await run.tree.idleDetector.trackWait(() => run.mailbox.nextMessage());
  }
}

function fanOutOf({ spec }: TaskRun): FanOut {
  if (spec.fanOut === undefined) throw new Error(`task ${spec.id} is not a template run`);
  return spec.fanOut;
}

interface StepInRun {
  readonly fanOut: FanOut;
  readonly parts: readonly TemplatePart[];
  readonly step: ItemStep;
}

/** Starts a step. Returns the limit that prevents it, or null once it has started. */
async function startStep(
  engine: EngineContext,
  run: TaskRun,
  { step, ...template }: StepInRun,
): Promise<LimitHit | null> {
  await engine.beginnings.waitForTurn();
  if (step.kind === 'create') return createItem(engine, run, { ...template, step });
  const resumed = await resumeChild(engine, {
    caller: run,
    callId: itemCallId(step.index, newId()),
    by: 'user',
    field: 'item',
    reference: step.task,
    message: continueMessage(),
    background: false,
  });
  if (!(resumed instanceof MusterError)) return null;
  // The task of the item can't be resumed, so the item gets a new one.
  const newTask = { kind: 'create', index: step.index, reservedId: null } as const;
  return createItem(engine, run, { ...template, step: newTask });
}

interface ItemToCreate extends StepInRun {
  readonly step: Extract<ItemStep, { kind: 'create' }>;
}

async function createItem(
  engine: EngineContext,
  run: TaskRun,
  { fanOut, parts, step }: ItemToCreate,
): Promise<LimitHit | null> {
  const { deps } = engine;
  const { index, reservedId } = step;
  const item = fanOut.items[index] ?? '';
  const prompt = renderPrompt(parts, { item, index, count: fanOut.items.length });
  const request = itemRequest(fanOut, prompt);
  const { agent, cwd, model } = run.spec;
  await prepareModels(deps, agent, request);
  const { rights } = run.permissions;
  const by = { agent, cwd, model, rights, modeGrants: run.permissions.modeGrants(), moment: run };
  const plan = planChild(deps, by, request);
  if (plan instanceof MusterError) throw plan;
  const modelDetails = await deps.models.details(plan.model);
  // From here to the creation nothing is awaited, so that limits still hold.
  run.cancellation.signal.throwIfAborted();
  const description = describeItem(itemText(item), index);
  if (reservedId === null) {
    const hit = findBudgetHit(engine, run, { plan, modelDetails, prompt, description });
    if (hit !== null) return hit;
  }
  const child = createTask(engine, run.tree, {
    ...plan,
    id: reservedId ?? newId(),
    background: false,
    description,
    prompt,
    handed: [],
    cwd,
    source: 'template',
    params: { template: fanOut.template, index: index + 1 },
    parent: { run, callId: itemCallId(index), delegation: null },
  });
  engine.startLoop(child);
  return null;
}

/** Creates the child request of an item, as a Task call would make it. */
export function itemRequest({ agent, model, maxTurns }: FanOut, prompt: string): ChildRequest {
  return {
    prompt,
    ...(agent === undefined ? {} : { subagentType: agent }),
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  };
}

function describeItem(text: string, index: number): string {
  const description = describePrompt(text);
  return description === '' ? `item ${index + 1}` : description;
}

interface PlannedItem {
  readonly plan: ChildPlan;
  readonly modelDetails: ModelDetails;
  readonly prompt: string;
  readonly description: string;
}

/** Returns the cap of the run that leaves no room for the first request of an item, or null if there is none. */
function findBudgetHit(
  { prefixes }: EngineContext,
  { budget }: TaskRun,
  { plan, modelDetails, prompt, description }: PlannedItem,
): LimitHit | null {
  const { prefix } = prefixes.get(plan.setup.prompt, plan.setup.tools);
  const line = formatTaskLine(description, plan.agent.outputSchema ?? null);
  const fullPrefix = { ...prefix, system: [...prefix.system, line] };
  const input = inputToReserve(estimateInput(firstRequest(prompt), fullPrefix), null);
  const expense = minimumExpense(estimateRequestNeed(input, modelDetails));
  return findUnpricedCap(budget, plan.model, modelDetails) ?? budget.findExceededCap(expense);
}
