import { dropMissing } from '../../base/drop-missing.ts';
import { findFirstRequestHit } from '../turn/request-budget.ts';
import { addSystemText, createTask } from '../delegation/create-task.ts';
import {
  toDelegator,
  planChild,
  prepareDelegation,
  type ChildRequest,
} from '../delegation/plan-child.ts';
import { MusterError, UsageError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import {
  itemText,
  parseBody,
  renderPrompt,
  type TemplatePart,
} from '../../agents/templates/render.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import {
  countItemTasks,
  createItemCallId,
  locateItemTask,
  type FanOut,
} from '../../protocol/template.ts';
import { NO_CRITERIA, type AcceptanceCriteria } from '../../protocol/acceptance.ts';
import type { TaskEnding } from '../task/endings.ts';
import { describePrompt, formatTaskLine } from '../prompt/prompt.ts';
import { placeChild } from '../delegation/place-child.ts';
import { resumeChild } from '../delegation/resume-child.ts';
import { createContinueMessage } from '../delegation/resume-terms.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { isReservedStep, listRemainingSteps, type ItemStep } from './remaining-items.ts';
import { plural } from '../../base/text.ts';
import { findTimeLimit } from '../task/wall-time.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import { prepareAgent } from '../prompt/prepare-agent.ts';
import { MAIN_AGENT } from '../task/main-agent.ts';
import { TaskTree } from '../task/task-tree.ts';
import { combineLimits } from '../limits/configured-limits.ts';
import { decideFanOutEnding } from './run-ending.ts';

/** A request to run a template over items. The run becomes the root of a new tree. */
export interface FanOutRequest {
  /** The id of the root. Default: a new id. */
  readonly id?: string;
  /** The template and its items, of which there is at least one. */
  readonly fanOut: FanOut;
  /** The model for items if neither the template nor the agent names a model. */
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
  /** The W3C trace context, from outside. Default: none. */
  readonly traceparent?: string;
}

/**
 * Starts a template run. Rejects with UsageError if the first item can't be started, since the others couldn't either.
 */
export async function startFanOut(engine: EngineContext, request: FanOutRequest): Promise<TaskRun> {
  const { deps } = engine;
  const { fanOut, model, rights, cwd } = request;
  const agent = createRunnerAgent(fanOut);
  const [item = ''] = fanOut.items;
  const values = { item, index: 0, count: fanOut.items.length };
  const prompt = renderPrompt(parseBody(fanOut.body).parts, values);
  const child = createItemRequest(withAttemptModel(fanOut, 0), prompt);
  await prepareDelegation(deps, agent, child);
  const modeGrants = deps.inbox.modeGrants?.listGrants() ?? [];
  const plan = planChild(deps, { agent, rights, model, cwd, modeGrants }, child);
  if (plan instanceof MusterError) {
    throw new UsageError(`the template ${fanOut.template} can't be run: ${plan.message}`);
  }
  const id = request.id ?? newId();
  const run = createTask(engine, new TaskTree(id, deps), {
    id,
    agent,
    rights,
    model,
    cwd,
    fanOut,
    limits: combineLimits({ config: deps.settings.rootLimits, definition: {}, call: {} }),
    setup: prepareAgent(deps, { agent, rights, cwd, isRoot: true, model }),
    description: describeWork(fanOut),
    prompt: `Run the template ${fanOut.template} over ${describeWork(fanOut)}.`,
    handed: [],
    background: false,
    source: 'template',
    params: { template: fanOut.template, items: { ...fanOut.source } },
    ...dropMissing({ traceparent: request.traceparent }),
    parent: null,
  });
  engine.startLoop(run);
  return run;
}

function describeWork({ items, attempts = 1 }: FanOut): string {
  const counted = plural(items.length, 'item');
  return attempts === 1 ? counted : `${counted} in ${attempts} attempts each`;
}

/** Creates the agent definition of a template run. It has no prompt and no tools, since the run sends no requests. */
function createRunnerAgent({ template, path }: FanOut): AgentDefinition {
  return {
    ...MAIN_AGENT,
    name: template,
    description: 'Runs a template over items.',
    tools: { mode: 'allow', names: [] },
    contextFiles: false,
    origin: { ...MAIN_AGENT.origin, path },
  };
}

/**
 * Runs the remaining items of a template run, at most `max_parallel` at a time, and returns the ending of the run. When
 * a budget is used up, no further item is started.
 */
export async function driveItems(engine: EngineContext, run: TaskRun): Promise<TaskEnding> {
  const { deps, running } = engine;
  const fanOut = requireFanOut(run);
  const { parts } = parseBody(fanOut.body);
  const hasStarted = (task: string) => running.get(task) !== undefined || deps.store.exists(task);
  const remaining = listRemainingSteps(fanOut, run.state, hasStarted).toReversed();
  // The items that were reserved before a crash are open children of the run, but have no task yet.
  let reserved = remaining.filter(isReservedStep).length;
  let hit: LimitHit | null = null;
  for (;;) {
    run.cancellation.signal.throwIfAborted();
    hit ??= findTimeLimit(run.state);
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
    if (runningItems === 0) return decideFanOutEnding(deps.store, run.state, hit);
    await run.tree.idleDetector.trackWait(() => run.mailbox.waitForWake());
  }
}

function requireFanOut({ spec }: TaskRun): FanOut {
  if (spec.fanOut === undefined) throw new Error(`task ${spec.id} is not a template run`);
  return spec.fanOut;
}

/** A step, and the template that it belongs to. `parts` is the parsed body of the template. */
interface StepInRun {
  readonly fanOut: FanOut;
  readonly parts: readonly TemplatePart[];
  readonly step: ItemStep;
}

/** Starts a step. Returns the limit that prevents it, or null if the step has started. */
async function startStep(
  engine: EngineContext,
  run: TaskRun,
  { step, ...template }: StepInRun,
): Promise<LimitHit | null> {
  await engine.beginnings.waitForTurn();
  if (step.kind === 'create') return createItemTask(engine, run, { ...template, step });
  const resumed = await resumeChild(engine, {
    caller: run,
    callId: createItemCallId(step.index, newId()),
    by: 'user',
    field: 'item',
    reference: step.task,
    message: createContinueMessage(),
    background: false,
  });
  if (!(resumed instanceof MusterError)) return null;
  // The task of the item can't be resumed, so the item gets a new task.
  const newTask = { kind: 'create', index: step.index, reservedId: null } as const;
  return createItemTask(engine, run, { ...template, step: newTask });
}

/** A step that creates a task. */
interface ItemToCreate extends StepInRun {
  readonly step: Extract<ItemStep, { kind: 'create' }>;
}

/** Creates and starts the task of an item. Returns the limit that prevents it, or null if the task has started. */
async function createItemTask(
  engine: EngineContext,
  run: TaskRun,
  { fanOut, parts, step }: ItemToCreate,
): Promise<LimitHit | null> {
  const { deps } = engine;
  const { index, reservedId } = step;
  const { item: itemIndex, attempt } = locateItemTask(fanOut, index);
  const item = fanOut.items[itemIndex] ?? '';
  const prompt = renderPrompt(parts, { item, index: itemIndex, count: fanOut.items.length });
  const request = createItemRequest(withAttemptModel(fanOut, attempt), prompt);
  await prepareDelegation(deps, run.spec.agent, request);
  const by = toDelegator(run, run);
  const plan = planChild(deps, by, request);
  if (plan instanceof MusterError) throw plan;
  const details = await deps.models.details(plan.model);
  // From here to the creation nothing is awaited, so that no other task can use up the limits that are checked here.
  run.cancellation.signal.throwIfAborted();
  const description = describeItem(itemText(item), itemIndex);
  const id = reservedId ?? newId();
  const placed = placeChild(deps, { id, cwd: by.cwd, description, prompt }, plan);
  if (reservedId === null) {
    const { prefix } = engine.prefixes.get(plan.setup.prompt, plan.setup.listedTools);
    const line = formatTaskLine(description, plan.agent.outputSchema ?? null, placed);
    const hit = findFirstRequestHit(run.budget, {
      model: plan.model,
      details,
      prefix: addSystemText(prefix, line),
      prompt,
    });
    if (hit !== null) return hit;
  }
  const child = createTask(engine, run.tree, {
    ...placed.plan,
    id,
    background: false,
    description,
    prompt: placed.prompt,
    handed: [],
    cwd: placed.cwd,
    ...dropMissing({ workspace: placed.workspace }),
    source: 'template',
    ...dropMissing({ accept: combineWithScore(fanOut, plan.agent.accept) }),
    params: {
      template: fanOut.template,
      index: itemIndex + 1,
      ...(countItemTasks(fanOut) === fanOut.items.length ? {} : { attempt: attempt + 1 }),
    },
    parent: { run, callId: createItemCallId(index), delegation: null },
  });
  engine.startLoop(child);
  return null;
}

/** Returns a run with the model of one attempt. `attempt`: its number, from 0. */
function withAttemptModel({ models = [], ...fanOut }: FanOut, attempt: number): FanOut {
  const model = models[attempt % Math.max(models.length, 1)];
  return model === undefined ? fanOut : { ...fanOut, model };
}

/**
 * Returns the conditions for the work on an item, with the command that scores it. Those of the template come before
 * those of the agent's definition.
 */
function combineWithScore(
  { accept, score }: Pick<FanOut, 'accept' | 'score'>,
  ofAgent: AcceptanceCriteria | undefined,
): AcceptanceCriteria | undefined {
  const conditions = accept ?? ofAgent;
  return score === undefined ? conditions : { ...(conditions ?? NO_CRITERIA), score };
}

/** Creates the child request for an item. */
export function createItemRequest(
  fanOut: Pick<FanOut, 'agent' | 'model' | 'maxTurns' | 'accept' | 'isolation'>,
  prompt: string,
): ChildRequest {
  const { agent, model, maxTurns, accept, isolation } = fanOut;
  return { prompt, ...dropMissing({ subagentType: agent, model, maxTurns, accept, isolation }) };
}

function describeItem(text: string, index: number): string {
  const description = describePrompt(text);
  return description === '' ? `item ${index + 1}` : description;
}
