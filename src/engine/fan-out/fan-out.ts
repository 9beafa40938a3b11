import { dropMissing } from '../../base/drop-missing.ts';
import { findFirstRequestHit } from '../turn/request-budget.ts';
import { addSystemText, createTask } from '../delegation/create-task.ts';
import {
  toDelegator,
  planChild,
  prepareDelegation,
  type ChildRequest,
} from '../delegation/plan-child.ts';
import { MusterError, type ErrorInfo, UsageError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import {
  itemText,
  parseBody,
  renderPrompt,
  type TemplatePart,
} from '../../agents/templates/render.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { createItemCallId, type FanOut } from '../../protocol/template.ts';
import type { TaskEnding } from '../task/endings.ts';
import { describePrompt, formatTaskLine } from '../prompt/prompt.ts';
import { placeChild } from '../delegation/place-child.ts';
import { resumeChild } from '../delegation/resume-child.ts';
import { createContinueMessage } from '../delegation/resume-terms.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { isReservedStep, listRemainingSteps, type ItemStep } from './remaining-items.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { EndStatus } from '../../protocol/result.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { foldLog } from '../task/fold-log.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { findTimeLimit } from '../task/wall-time.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import { prepareAgent } from '../prompt/prepare-agent.ts';
import { MAIN_AGENT } from '../task/main-agent.ts';
import { TaskTree } from '../task/task-tree.ts';
import { combineLimits } from '../limits/configured-limits.ts';

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
  const child = createItemRequest(fanOut, renderPrompt(parseBody(fanOut.body).parts, values));
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
    description: plural(fanOut.items.length, 'item'),
    prompt: `Run the template ${fanOut.template} over ${plural(fanOut.items.length, 'item')}.`,
    handed: [],
    background: false,
    source: 'template',
    params: { template: fanOut.template, items: { ...fanOut.source } },
    parent: null,
  });
  engine.startLoop(run);
  return run;
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
  const item = fanOut.items[index] ?? '';
  const prompt = renderPrompt(parts, { item, index, count: fanOut.items.length });
  const request = createItemRequest(fanOut, prompt);
  await prepareDelegation(deps, run.spec.agent, request);
  const by = toDelegator(run, run);
  const plan = planChild(deps, by, request);
  if (plan instanceof MusterError) throw plan;
  const details = await deps.models.details(plan.model);
  // From here to the creation nothing is awaited, so that no other task can use up the limits that are checked here.
  run.cancellation.signal.throwIfAborted();
  const description = describeItem(itemText(item), index);
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
    params: { template: fanOut.template, index: index + 1 },
    parent: { run, callId: createItemCallId(index), delegation: null },
  });
  engine.startLoop(child);
  return null;
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

/** The maximum number of incomplete items that the result of a run lists. */
const MAX_SHOWN_ITEMS = 50;
/** The maximum length of an item's error in this list, in code points. */
const MAX_ERROR_LENGTH = 300;

/**
 * Decides the ending of a template run whose tasks have all ended. The status is `failed` if a task failed, `partial`
 * if a task ended early or never started, and otherwise `completed`.
 *
 * @param hit the limit because of which no further item was started, or null
 */
function decideFanOutEnding(store: TaskStore, state: TaskState, hit: LimitHit | null): TaskEnding {
  const ends = listItemEnds(state);
  const counts = formatCounts(ends);
  const incomplete = describeIncompleteItems(store, ends);
  const result = [`${counts}.`, ...incomplete.lines].join('\n');
  const reason = hit === null ? counts : `${limitMessage(hit)}: ${counts}`;
  const status = summarizeStatus(ends);
  if (status === 'completed') {
    return { end: { status, error: null, because: 'every item is completed', by: null }, result };
  }
  const code = hit === null ? (incomplete.first?.code ?? 'INTERNAL_ERROR') : 'LIMIT_EXCEEDED';
  const error = { code, message: reason, retryable: false };
  return { end: { status, error, because: reason, by: hit === null ? null : 'limit' }, result };
}

/** The end of an item. */
interface ItemEnd {
  /** The number of the item, from 1. */
  readonly number: number;
  /** The id of the item's task, or null if no task was created. */
  readonly task: string | null;
  /** The status of the item's task, or null if the task was not started. */
  readonly status: EndStatus | null;
}

function listItemEnds({ spec, items, children }: TaskState): readonly ItemEnd[] {
  return (spec.fanOut?.items ?? []).map((_, index) => {
    const task = items.get(index) ?? null;
    const status = task === null ? null : (children.get(task)?.status ?? null);
    return { number: index + 1, task, status };
  });
}

function summarizeStatus(ends: readonly ItemEnd[]): 'completed' | 'partial' | 'failed' {
  if (ends.some(({ status }) => status === 'failed')) return 'failed';
  return ends.every(({ status }) => status === 'completed') ? 'completed' : 'partial';
}

function formatCounts(ends: readonly ItemEnd[]): string {
  const groups = Map.groupBy(ends, ({ status }) => status ?? 'not started');
  const order = ['completed', 'partial', 'failed', 'stopped', 'killed', 'not started'] as const;
  const counts = order.flatMap((name) => {
    const count = groups.get(name)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return `${plural(ends.length, 'item')}: ${counts.join(', ')}`;
}

/**
 * Returns a line for each of the first items that ended without completing, failed items first, and the first error.
 */
function describeIncompleteItems(store: TaskStore, ends: readonly ItemEnd[]) {
  const incomplete = ends.filter(({ status }) => status !== null && status !== 'completed');
  const failedFirst = incomplete.toSorted(
    (a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'),
  );
  const shown = failedFirst
    .slice(0, MAX_SHOWN_ITEMS)
    .map((end) => ({ end, error: readTaskError(store, end.task) }));
  const lines = shown.map(({ end: { number, task, status }, error }) => {
    const reason =
      error === null ? '' : `: ${truncate(collapseWhitespace(error.message), MAX_ERROR_LENGTH)}`;
    return `- item ${number} (task ${task}): ${status}${reason}`;
  });
  const more = incomplete.length - shown.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return { lines, first: shown[0]?.error ?? null };
}

function readTaskError(store: TaskStore, task: string | null): ErrorInfo | null {
  return task !== null && store.exists(task) ? (foldLog(store, task).end?.error ?? null) : null;
}
