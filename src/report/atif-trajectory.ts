import type { JsonObject } from '../base/json.ts';
import { VERSION } from '../base/version.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import { liveEventFilter } from '../protocol/events/rewound.ts';
import { modelName, type RequestPrefix } from '../protocol/model.ts';
import { applyEvent, applyRewoundEvent } from '../protocol/state/fold.ts';
import { addUsageTotals, knownCost, sumLedger, type UsageTotal } from '../protocol/state/ledger.ts';
import { initialState, type TaskState } from '../protocol/state/task-state.ts';
import { ATIF_VERSION, type AtifTrajectory } from './atif-format.ts';
import { StepList, toTokenCounts, type NewStep } from './atif-steps.ts';

/** A task with the tasks below it, as its log contains it. */
export interface LoggedTask {
  /** The events of the log, beginning with `task.created`. */
  readonly events: readonly TaskEvent[];
  /** The system prompt and the tools of the requests; null if they are lost, or if the task sends no requests. */
  readonly prefix: RequestPrefix | null;
  /** The children of the task whose logs can be read, by their ids. */
  readonly children: ReadonlyMap<string, LoggedTask>;
}

/**
 * Builds the trajectory of a task and of all tasks below it. Throws an error if the first event is not `task.created`.
 */
export function buildTrajectory(task: LoggedTask): AtifTrajectory {
  return build(task).trajectory;
}

/** A trajectory, and the usage of its task with all tasks below it. */
interface Built {
  readonly trajectory: AtifTrajectory;
  readonly tree: UsageTotal;
}

function build(task: LoggedTask): Built {
  const { prefix, children } = task;
  const { state, steps } = collectSteps(task);
  const { spec, ledger } = state;
  const below = Array.from(children.values(), build);
  const own = addUsageTotals(
    sumLedger(ledger, { isEstimated: false }),
    sumLedger(ledger, { isEstimated: true }),
  );
  const tree = below.reduce((sum, child) => addUsageTotals(sum, child.tree), own);
  const isRewound = task.events.some(({ type }) => type === 'task.rewound');
  return {
    tree,
    trajectory: {
      schema_version: ATIF_VERSION,
      session_id: spec.root,
      trajectory_id: spec.id,
      agent: {
        name: 'muster',
        version: VERSION,
        model_name: modelName(spec.model),
        ...(prefix === null ? {} : { tool_definitions: prefix.tools.map(toToolDefinition) }),
        extra: { agent: spec.agent.name, permission_mode: spec.rights.mode, cwd: spec.cwd },
      },
      steps: steps.map((step, index) => ({ step_id: index + 1, ...step })),
      ...(isRewound ? { notes: 'Steps that a rewind has cut off are left out.' } : {}),
      final_metrics: createFinalMetrics(steps, own, tree),
      extra: {
        description: spec.description,
        depth: spec.depth,
        status: state.status,
        result: state.result,
        ...(state.end === null
          ? {}
          : { because: state.end.because, error: state.end.error as JsonObject | null }),
      },
      ...(below.length === 0
        ? {}
        : { subagent_trajectories: below.map(({ trajectory }) => trajectory) }),
    },
  };
}

/** Adds up the metrics of the steps. The costs also contain requests that are no steps, such as failed ones. */
function createFinalMetrics(
  steps: readonly NewStep[],
  own: UsageTotal,
  tree: UsageTotal,
): AtifTrajectory['final_metrics'] {
  const sum = (field: 'prompt_tokens' | 'completion_tokens' | 'cached_tokens') =>
    steps.reduce((total, { metrics }) => total + (metrics?.[field] ?? 0), 0);
  const cost = knownCost(own);
  const treeTokens = toTokenCounts(tree.usage);
  return {
    total_prompt_tokens: sum('prompt_tokens'),
    total_completion_tokens: sum('completion_tokens'),
    total_cached_tokens: sum('cached_tokens'),
    ...(cost === null ? {} : { total_cost_usd: cost }),
    total_steps: steps.length,
    extra: { requests: own.answers, tree: { ...treeTokens, cost_usd: knownCost(tree) } },
  };
}

function toToolDefinition({
  name,
  description,
  inputSchema,
}: RequestPrefix['tools'][number]): JsonObject {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

/** Replays the log, and collects the steps in their order. */
function collectSteps({ events, prefix, children }: LoggedTask): {
  readonly state: TaskState;
  readonly steps: readonly NewStep[];
} {
  const [created] = events;
  if (created?.type !== 'task.created') throw new Error('the log does not begin with the task');
  const state = initialState(created);
  const steps = new StepList(created, prefix, new Set(children.keys()));
  const rewinds = events.filter((event) => event.type === 'task.rewound');
  const isLive = liveEventFilter(rewinds, events.at(-1)?.seq ?? -1);
  for (const event of events.slice(1)) {
    if (!isLive(event.seq)) {
      applyRewoundEvent(state, event);
      continue;
    }
    const { queued } = state.conversation;
    applyEvent(state, event);
    if (event.type === 'turn.started') steps.addInputs(event, queued, state.conversation.messages);
    else steps.add(event);
  }
  return { state, steps: steps.finish(state) };
}
