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
import type { Ending } from '../task/endings.ts';
import {
  estimateInput,
  firstRequest,
  inputToReserve,
  leastExpense,
  requestNeed,
} from '../limits/estimate.ts';
import {
  planChild,
  prepareModels,
  type ChildPlan,
  type ChildRequest,
} from '../delegation/plan-child.ts';
import { describePrompt, taskLine } from '../prompt/prompt.ts';
import { resumeChild } from '../delegation/resume-child.ts';
import { goOnMessage } from '../delegation/resume.ts';
import { unpricedCap } from '../turn/spending.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { endOfItems } from './ending.ts';
import { isReserved, remainingSteps, type ItemStep } from './left.ts';

/**
 * Does what is left of a run's items, as many at a time as tasks of a tree may be at work, and gives its
 * end. A budget that is used up keeps the rest from being begun.
 */
export async function driveItems(engine: EngineContext, run: TaskRun): Promise<Ending> {
  const { deps, running } = engine;
  const fanOut = fanOutOf(run);
  const { parts } = parseBody(fanOut.body);
  const isThere = (task: string) => running.get(task) !== undefined || deps.store.exists(task);
  const left = remainingSteps(fanOut, run.state, isThere).toReversed();
  // They are open, and at work nowhere.
  let announced = left.filter(isReserved).length;
  const at = { fanOut, parts };
  let hit: LimitHit | null = null;
  for (;;) {
    run.cancellation.signal.throwIfAborted();
    const step = left.at(-1);
    const atWork = run.state.openChildren.size - announced;
    if (step !== undefined && hit === null && atWork < deps.settings.maxParallel) {
      hit = await begin(engine, run, { ...at, step });
      if (hit === null) {
        left.pop();
        if (isReserved(step)) announced -= 1;
      } else run.journal.record({ type: 'limit.reached', ...hit });
      continue;
    }
    if (atWork === 0) return endOfItems(deps.store, run.state, hit);
    await run.tree.idleDetector.waiting(() => run.mailbox.nextMessage());
  }
}

function fanOutOf({ spec }: TaskRun): FanOut {
  if (spec.fanOut === undefined) throw new Error(`task ${spec.id} is no run of a template`);
  return spec.fanOut;
}

interface StepInRun {
  readonly fanOut: FanOut;
  readonly parts: readonly TemplatePart[];
  readonly step: ItemStep;
}

/** The limit that keeps the step from being begun; null: it has begun. */
async function begin(
  engine: EngineContext,
  run: TaskRun,
  { step, ...at }: StepInRun,
): Promise<LimitHit | null> {
  await engine.beginnings.waitForTurn();
  if (step.kind === 'make') return makeItem(engine, run, { ...at, step });
  const resumed = await resumeChild(engine, {
    caller: run,
    callId: itemCallId(step.index, newId()),
    by: 'user',
    field: 'item',
    word: step.task,
    message: goOnMessage(),
    background: false,
  });
  if (!(resumed instanceof MusterError)) return null;
  // Its log can't be gone on with: the item is done anew.
  const anew = { kind: 'make', index: step.index, announced: null } as const;
  return makeItem(engine, run, { ...at, step: anew });
}

interface ItemToMake extends StepInRun {
  readonly step: Extract<ItemStep, { kind: 'make' }>;
}

async function makeItem(
  engine: EngineContext,
  run: TaskRun,
  { fanOut, parts, step }: ItemToMake,
): Promise<LimitHit | null> {
  const { deps } = engine;
  const { index, announced } = step;
  const item = fanOut.items[index] ?? '';
  const prompt = renderPrompt(parts, { item, index, count: fanOut.items.length });
  const wish = itemRequest(fanOut, prompt);
  const { agent, cwd, model } = run.spec;
  await prepareModels(deps, agent, wish);
  const { rights } = run.permissions;
  const by = { agent, cwd, model, rights, modeGrants: run.permissions.modeGrants(), moment: run };
  const plan = planChild(deps, by, wish);
  if (plan instanceof MusterError) throw plan;
  const facts = await deps.models.facts(plan.model);
  // From here on nothing may come between.
  run.cancellation.signal.throwIfAborted();
  const description = describeItem(itemText(item), index);
  if (announced === null) {
    const hit = lacksRoom(engine, run, { plan, facts, prompt, description });
    if (hit !== null) return hit;
  }
  const child = createTask(engine, run.tree, {
    ...plan,
    id: announced ?? newId(),
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

/** What a Task call would say for an item. */
export function itemRequest({ agent, model, maxTurns }: FanOut, prompt: string): ChildRequest {
  return {
    prompt,
    ...(agent === undefined ? {} : { subagentType: agent }),
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  };
}

function describeItem(text: string, index: number): string {
  const words = describePrompt(text);
  return words === '' ? `item ${index + 1}` : words;
}

interface PlannedItem {
  readonly plan: ChildPlan;
  readonly facts: ModelDetails;
  readonly prompt: string;
  readonly description: string;
}

/** The cap of the whole run that leaves no room for the first request of an item; null: none does. */
function lacksRoom(
  { prefixes }: EngineContext,
  { budget }: TaskRun,
  { plan, facts, prompt, description }: PlannedItem,
): LimitHit | null {
  const { prefix } = prefixes.get(plan.setup.prompt, plan.setup.tools);
  const line = taskLine(description, plan.agent.outputSchema ?? null);
  const whole = { ...prefix, system: [...prefix.system, line] };
  const input = inputToReserve(estimateInput(firstRequest(prompt), whole), null);
  const least = leastExpense(requestNeed(input, facts));
  return unpricedCap(budget, plan.model, facts) ?? budget.lacks(least);
}
