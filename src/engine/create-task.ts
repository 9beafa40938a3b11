import type { JsonObject } from '../base/json.ts';
import { newId } from '../base/ids.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { TaskEvent } from '../protocol/event.ts';
import type { RequestPrefix, ResolvedModel } from '../protocol/model.ts';
import type { Rights } from '../protocol/permission.ts';
import type { TaskLimits, TaskSource, TaskSpec } from '../protocol/task.ts';
import type { AnyTool } from '../protocol/tool.ts';
import { toolView } from '../policy/tool-view.ts';
import type { EngineDeps } from './deps.ts';
import { Journal } from './journal.ts';
import { isMainAgent } from './main-agent.ts';
import { outputText } from './output-text.ts';
import type { PrefixCache } from './prefix.ts';
import { taskLine } from './prompt.ts';
import type { RunningTasks } from './running-tasks.ts';
import { TaskRun } from './task-run.ts';
import type { Tree } from './tree.ts';

/** Everything decided about a task that is about to be made. */
export interface TaskPlan {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly limits: TaskLimits;
  readonly description: string;
  readonly prompt: string;
  readonly cwd: string;
  readonly source: TaskSource;
  readonly params: JsonObject;
  /** The caller and its Task call; null for a root. */
  readonly parent: { readonly run: TaskRun; readonly callId: string } | null;
}

/** What tasks are made with. */
export interface Workshop {
  readonly deps: EngineDeps;
  readonly prefixes: PrefixCache;
  readonly running: RunningTasks;
}

/** Freezes the specification, writes it, and returns the task ready to run. */
export function createTask(
  { deps, prefixes, running }: Workshop,
  tree: Tree,
  plan: TaskPlan,
): TaskRun {
  const id = newId();
  const tools = toolsOf(deps, plan);
  const isRoot = plan.parent === null;
  const shared = prefixes.get(
    {
      agent: plan.agent,
      mode: plan.rights.mode,
      isRoot,
      types: tools.some((tool) => tool.name === 'Task') ? deps.agents.agents() : [],
      environment: {
        cwd: plan.cwd,
        platform: deps.platform,
        date: new Date(deps.clock.now()).toISOString().slice(0, 10),
      },
    },
    tools,
  );
  const spec: TaskSpec = {
    id,
    root: plan.parent?.run.spec.root ?? id,
    parent: plan.parent?.run.spec.id ?? null,
    parentCall: plan.parent?.callId ?? null,
    depth: plan.rights.depth,
    agent: plan.agent,
    description: plan.description,
    prompt: plan.prompt,
    model: plan.model,
    cwd: plan.cwd,
    rights: plan.rights,
    tools: tools.map((tool) => tool.name),
    limits: plan.limits,
    prefix: shared.hash,
    background: false,
    source: plan.source,
    params: plan.params,
  };
  // The parent's note goes first: a crash in between leaves a child without a log, never a log
  // that nobody knows of.
  plan.parent?.run.journal.record({
    type: 'child.created',
    child: id,
    callId: plan.parent.callId,
  });
  const log = deps.store.create(spec);
  const journal = new Journal(log, (event) => {
    growOutput(deps, event);
    deps.onEvent(event);
  });
  const run = new TaskRun(deps, {
    spec,
    journal,
    // From what the log holds: there secrets are redacted, and a resume must send the same bytes.
    prefix: requestPrefix(shared.prefix, journal.state.spec),
    view: new Map(tools.map((tool) => [tool.name, tool])),
    tree,
    parent: plan.parent?.run ?? null,
  });
  running.add(run);
  if (plan.model.warning !== undefined) {
    journal.record({ type: 'warning', message: plan.model.warning });
  }
  return run;
}

/** The text beside the log is for people alone: what keeps it from growing keeps no task from working. */
function growOutput(deps: EngineDeps, event: TaskEvent): void {
  const text = outputText(event);
  if (text === null) return;
  try {
    deps.store.appendOutput(event.task, text);
  } catch (thrown) {
    deps.onFault(event.task, thrown);
  }
}

/** The frozen view: what policy leaves of the definition's wish, among the tools that exist. */
function toolsOf(deps: EngineDeps, plan: TaskPlan): readonly AnyTool[] {
  const { settings } = deps;
  const view = toolView({
    definition: isMainAgent(plan.agent) ? null : plan.agent,
    rights: plan.rights,
    available: deps.tools,
    nested: settings.nested,
    root: plan.parent === null,
  });
  const names = new Set(view.names);
  if (!settings.taskTools) names.delete('Task');
  // Nothing to ask about for a task that can delegate nothing.
  if (!names.has('Task')) names.delete('TaskOutput');
  return deps.tools.filter((tool) => names.has(tool.name));
}

/** Siblings share every byte up to the last system line, which is particular to the task. */
function requestPrefix(shared: RequestPrefix, spec: TaskSpec): RequestPrefix {
  if (spec.parent === null) return shared;
  return { ...shared, system: [...shared.system, taskLine(spec.description)] };
}
