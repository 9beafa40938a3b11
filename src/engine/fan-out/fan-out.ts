import { dropMissing } from '../../base/drop-missing.ts';
import { findFirstRequestHit } from '../turn/request-budget.ts';
import { addSystemText, createTask } from '../delegation/create-task.ts';
import {
  delegatorOf,
  planChild,
  prepareModels,
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
import { resumeChild, continueMessage } from '../delegation/resume-child.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { isReservedStep, remainingSteps, type ItemStep } from './remaining-items.ts';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { EndStatus } from '../../protocol/result.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { foldLog } from '../task/fold-log.ts';
import { limitMessage } from '../limits/limit-message.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import { prepareAgent } from '../prompt/prepare-agent.ts';
import { MAIN_AGENT } from '../task/main-agent.ts';
import { TaskTree } from '../task/task-tree.ts';
import { combineLimits } from '../limits/configured-limits.ts';

/** A request to run a template over items, as the root of a new tree. */
export interface FanOutRequest {
  /** The id of the root. Default: a new one. */
  readonly id?: string;
  /** Has at least one item. */
  readonly fanOut: FanOut;
  /** The model of items that name none. */
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
}

/** Starts a template run. Rejects with UsageError if its first item could not start, since then none could. */
export async function startFanOut(engine: EngineContext, request: FanOutRequest): Promise<TaskRun> {
  const { deps } = engine;
  const { fanOut, model, rights, cwd } = request;
  const agent = runner(fanOut);
  const [item = ''] = fanOut.items;
  const values = { item, index: 0, count: fanOut.items.length };
  const child = itemRequest(fanOut, renderPrompt(parseBody(fanOut.body).parts, values));
  await prepareModels(deps, agent, child);
  const modeGrants = deps.inbox.modeGrants?.inForce() ?? [];
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
    setup: prepareAgent(deps, { agent, rights, cwd, isRoot: true, provider: model.provider }),
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

/** Creates the agent definition of a template run. It has no prompt and no tools, since it asks no model. */
function runner({ template, path }: FanOut): AgentDefinition {
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
    callId: createItemCallId(step.index, newId()),
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
  await prepareModels(deps, run.spec.agent, request);
  const by = delegatorOf(run, run);
  const plan = planChild(deps, by, request);
  if (plan instanceof MusterError) throw plan;
  const details = await deps.models.details(plan.model);
  // From here to the creation nothing is awaited, so that limits still hold.
  run.cancellation.signal.throwIfAborted();
  const description = describeItem(itemText(item), index);
  if (reservedId === null) {
    const { prefix } = engine.prefixes.get(plan.setup.prompt, plan.setup.tools);
    const line = formatTaskLine(description, plan.agent.outputSchema ?? null);
    const hit = findFirstRequestHit(run.budget, {
      model: plan.model,
      details,
      prefix: addSystemText(prefix, line),
      prompt,
    });
    if (hit !== null) return hit;
  }
  const child = createTask(engine, run.tree, {
    ...plan,
    id: reservedId ?? newId(),
    background: false,
    description,
    prompt,
    handed: [],
    cwd: by.cwd,
    source: 'template',
    params: { template: fanOut.template, index: index + 1 },
    parent: { run, callId: createItemCallId(index), delegation: null },
  });
  engine.startLoop(child);
  return null;
}

/** Creates the child request of an item, as a Task call would make it. */
export function itemRequest(
  { agent, model, maxTurns }: Pick<FanOut, 'agent' | 'model' | 'maxTurns'>,
  prompt: string,
): ChildRequest {
  return { prompt, ...dropMissing({ subagentType: agent, model, maxTurns }) };
}

function describeItem(text: string, index: number): string {
  const description = describePrompt(text);
  return description === '' ? `item ${index + 1}` : description;
}

/** Maximum number of items that the result of a run lists as not completed. */
const SHOWN_ITEMS = 50;
/** Maximum length of an item's error in that list, in code points. */
const SHOWN_ERROR = 300;

/**
 * Decides the end of a template run whose tasks have all ended. It is `failed` if a task failed, otherwise `partial`
 * if a task was ended early or never started, otherwise `completed`. `hit` is the limit that stopped the run, or null.
 */
function fanOutEnding(store: TaskStore, state: TaskState, hit: LimitHit | null): TaskEnding {
  const ends = itemEnds(state);
  const counted = countsText(ends);
  const wrong = wrongItems(store, ends);
  const result = [`${counted}.`, ...wrong.lines].join('\n');
  const reason = hit === null ? counted : `${limitMessage(hit)}: ${counted}`;
  const status = statusOf(ends);
  if (status === 'completed') {
    return { end: { status, error: null, because: 'every item is completed', by: null }, result };
  }
  const code = hit === null ? (wrong.first?.code ?? 'INTERNAL_ERROR') : 'LIMIT_EXCEEDED';
  const error = { code, message: reason, retryable: false };
  return { end: { status, error, because: reason, by: hit === null ? null : 'limit' }, result };
}

interface ItemEnd {
  /** Its number, from 1. */
  readonly number: number;
  readonly task: string | null;
  /** The status of the item's task, or null if it was not started. */
  readonly status: EndStatus | null;
}

function itemEnds({ spec, items, children }: TaskState): readonly ItemEnd[] {
  return (spec.fanOut?.items ?? []).map((_, index) => {
    const task = items.get(index) ?? null;
    const status = task === null ? null : (children.get(task)?.status ?? null);
    return { number: index + 1, task, status };
  });
}

function statusOf(ends: readonly ItemEnd[]): 'completed' | 'partial' | 'failed' {
  if (ends.some(({ status }) => status === 'failed')) return 'failed';
  return ends.every(({ status }) => status === 'completed') ? 'completed' : 'partial';
}

function countsText(ends: readonly ItemEnd[]): string {
  const groups = Map.groupBy(ends, ({ status }) => status ?? 'not begun');
  const order = ['completed', 'partial', 'failed', 'stopped', 'killed', 'not begun'] as const;
  const counts = order.flatMap((name) => {
    const count = groups.get(name)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return `${plural(ends.length, 'item')}: ${counts.join(', ')}`;
}

/** Returns a line for each of the first items that did not complete, and the error of the first. */
function wrongItems(store: TaskStore, ends: readonly ItemEnd[]) {
  const wrong = ends.filter(({ status }) => status !== null && status !== 'completed');
  const inOrder = wrong.toSorted(
    (a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'),
  );
  const shown = inOrder
    .slice(0, SHOWN_ITEMS)
    .map((end) => ({ end, error: errorOf(store, end.task) }));
  const lines = shown.map(({ end: { number, task, status }, error }) => {
    const reason =
      error === null ? '' : `: ${truncate(collapseWhitespace(error.message), SHOWN_ERROR)}`;
    return `- item ${number} (task ${task}): ${status}${reason}`;
  });
  const more = wrong.length - shown.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return { lines, first: shown[0]?.error ?? null };
}

function errorOf(store: TaskStore, task: string | null): ErrorInfo | null {
  return task !== null && store.exists(task) ? (foldLog(store, task).end?.error ?? null) : null;
}
