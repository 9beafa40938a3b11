import type { JsonObject } from '../base/json.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { RequestPrefix, ResolvedModel } from '../protocol/model.ts';
import type { Rights } from '../protocol/permission.ts';
import type { TaskLimits, TaskSource, TaskSpec } from '../protocol/task.ts';
import type { AnyTool } from '../protocol/tool.ts';
import { toolView } from '../policy/tool-view.ts';
import type { EngineDeps } from './deps.ts';
import { openJournal } from './journal.ts';
import { isMainAgent } from './main-agent.ts';
import type { SharedPrefix } from './prefix.ts';
import { taskLine } from './prompt.ts';
import { TaskRun } from './task-run.ts';
import type { Tree } from './tree.ts';
import type { Workshop } from './workshop.ts';

/** Everything decided about a task that is about to be made. */
export interface TaskPlan {
  readonly id: string;
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly limits: TaskLimits;
  readonly description: string;
  readonly prompt: string;
  /** Tasks that the prompt names and that its parent can reach. */
  readonly handed: readonly string[];
  readonly cwd: string;
  readonly background: boolean;
  readonly source: TaskSource;
  readonly params: JsonObject;
  /** The caller and its Task call; null for a root. */
  readonly parent: { readonly run: TaskRun; readonly callId: string } | null;
}

/** Freezes the specification, writes it, and returns the task ready to run. */
export function createTask(workshop: Workshop, tree: Tree, plan: TaskPlan): TaskRun {
  const { deps, running } = workshop;
  const { id, parent, background } = plan;
  const tools = toolsOf(deps, plan);
  const shared = sharedPrefix(workshop, plan, tools);
  const spec: TaskSpec = {
    id,
    root: parent?.run.spec.root ?? id,
    parent: parent?.run.spec.id ?? null,
    parentCall: parent?.callId ?? null,
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
    handed: plan.handed,
    background,
    source: plan.source,
    params: plan.params,
  };
  // The parent's note goes first: a crash in between leaves a child without a log, never a log
  // that nobody knows of. Then the note is there already when the call is made again.
  if (parent !== null && !parent.run.state.children.has(id)) {
    const { callId, run } = parent;
    run.journal.record({ type: 'child.created', child: id, callId, background });
    tree.addTasks([id]);
  }
  const journal = openJournal(deps, tree, deps.store.create(spec));
  const run = new TaskRun(deps, {
    given: spec,
    journal,
    // From what the log holds: there secrets are redacted, and a resume must send the same bytes.
    prefix: requestPrefix(shared.prefix, journal.state.spec),
    view: new Map(tools.map((tool) => [tool.name, tool])),
    tree,
    parent: parent?.run ?? null,
  });
  const { warning } = plan.model;
  try {
    if (warning !== undefined) journal.record({ type: 'warning', message: warning });
  } catch (thrown) {
    // Made and never at work, it would be waited for without end.
    run.close();
    throw thrown;
  }
  running.add(run);
  return run;
}

type PrefixPlan = Pick<TaskPlan, 'agent' | 'rights' | 'cwd'> & { readonly parent: unknown };

/** What all tasks of this kind begin their requests with. */
export function sharedPrefix(
  { deps, prefixes }: Workshop,
  plan: PrefixPlan,
  tools: readonly AnyTool[],
): SharedPrefix {
  return prefixes.get(
    {
      agent: plan.agent,
      mode: plan.rights.mode,
      isRoot: plan.parent === null,
      types: tools.some((tool) => tool.name === 'Task') ? deps.agents.agents() : [],
      environment: {
        cwd: plan.cwd,
        platform: deps.platform,
        date: new Date(deps.clock.now()).toISOString().slice(0, 10),
      },
    },
    tools,
  );
}

/** The frozen view: what policy leaves of the definition's wish, among the tools that exist. */
export function toolsOf(deps: EngineDeps, plan: PrefixPlan): readonly AnyTool[] {
  const { settings } = deps;
  const view = toolView({
    definition: isMainAgent(plan.agent) ? null : plan.agent,
    rights: plan.rights,
    available: deps.tools,
    nested: settings.nested,
    root: plan.parent === null,
  });
  return toolsNamed(deps, view.names);
}

/** The tools of these names, as far as they exist and are switched on. */
export function toolsNamed(
  { settings, tools }: EngineDeps,
  wanted: readonly string[],
): readonly AnyTool[] {
  const names = new Set(wanted);
  if (!settings.taskTools) for (const name of TASK_TOOLS) names.delete(name);
  return tools.filter((tool) => names.has(tool.name));
}

/** What `task_tool.enabled = false` takes out of every request. */
const TASK_TOOLS = ['Task', 'TaskOutput', 'TaskStop', 'TaskSend', 'TaskList', 'TaskReplay'];

/** Siblings share every byte up to the last system line, which is particular to the task. */
export function requestPrefix(shared: RequestPrefix, spec: TaskSpec): RequestPrefix {
  if (spec.parent === null) return shared;
  return { ...shared, system: [...shared.system, taskLine(spec.description)] };
}
