import type { JsonObject } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { RequestPrefix, ResolvedModel } from '../../protocol/model.ts';
import { grantScope, wayToGrant } from '../../policy/mode-grants.ts';
import type { ModeToGrant, Rights } from '../../protocol/permission.ts';
import type { TaskLimits, TaskSource, TaskSpec } from '../../protocol/task.ts';
import type { FanOut } from '../../protocol/template.ts';
import { formatUnmetWarning } from '../../protocol/unmet-request.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { AgentSetup } from '../prompt/prepare-agent.ts';
import type { ChildPlan } from './plan-child.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { TransferredContext } from './context-transfer/transferred-context.ts';
import { flagGrantEvents } from '../task/mode-grant-store.ts';
import { openJournal } from '../task/journal.ts';
import { mentionsIn } from '../prompt/mentions.ts';
import { answerForm, taskLine } from '../prompt/prompt.ts';
import { recordedAgent } from '../task/recorded-agent.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import { TaskRun } from '../task/task-run.ts';
import type { Tree } from '../task/tree.ts';
import type { EngineContext } from './engine-context.ts';

/** Everything decided about a task that is about to be made. */
export interface TaskPlan {
  readonly id: string;
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly limits: TaskLimits;
  readonly setup: AgentSetup;
  readonly description: string;
  readonly prompt: string;
  /** What of it a person said, and may name agents by. Absent: nothing, it is of a model or a file. */
  readonly words?: string;
  /** What that person lays beside it. Default: nothing. */
  readonly enclosed?: readonly QuotedItem[];
  /** Tasks that the prompt names and that its parent can reach. */
  readonly handed: readonly string[];
  readonly cwd: string;
  readonly background: boolean;
  readonly source: TaskSource;
  /** Names of the skills whose instructions its prompt is. Default: none. */
  readonly skills?: readonly string[];
  /** What it gets beside its prompt. Absent: nothing. */
  readonly handover?: Pick<TransferredContext, 'given' | 'inherits' | 'summarises'>;
  readonly params: JsonObject;
  /** Of the call. Absent: its definition's, if any. */
  readonly outputSchema?: JsonObject;
  /** Of a root that is no conversation. */
  readonly fanOut?: FanOut;
  /** The grant that made its mode wider. Absent or null: none did. */
  readonly raisedBy?: ChildPlan['raisedBy'];
  /** The mode that its definition asks for and does not get. Absent or null: it gets what it asks for. */
  readonly modeToGrant?: ModeToGrant | null;
  /** The caller and its Task call; null for a root. */
  readonly parent: {
    readonly run: TaskRun;
    readonly callId: string;
    /** The key of what it delegates; null for an item of a template, which is nobody's repetition. */
    readonly delegation: string | null;
  } | null;
}

/** Freezes the specification, writes it, and returns the task ready to run. */
export function createTask(engine: EngineContext, tree: Tree, plan: TaskPlan): TaskRun {
  const { deps, prefixes, running } = engine;
  const { id, parent, background, handover } = plan;
  const { tools, prompt, preloaded, memory, unmet } = plan.setup;
  const skills = [...(plan.skills ?? []), ...preloaded.names];
  const shared = handover?.inherits?.prefix ?? prefixes.get(prompt, tools);
  const names = tools.map((tool) => tool.name);
  const by = { agent: plan.agent, tools: names };
  const { mentions, warnings } = mentionsIn(plan.words ?? '', { agents: deps.agents, by });
  const spec: TaskSpec = {
    id,
    root: parent?.run.spec.root ?? id,
    parent: parent?.run.spec.id ?? null,
    parentCall: parent?.callId ?? null,
    depth: plan.rights.depth,
    agent: recordedAgent(plan.agent),
    description: plan.description,
    prompt: plan.prompt,
    model: plan.model,
    cwd: plan.cwd,
    rights: plan.rights,
    tools: names,
    ...(unmet.length === 0 ? {} : { unmet }),
    limits: plan.limits,
    prefix: shared.hash,
    ...dateField(plan),
    handed: plan.handed,
    ...(handover?.given === undefined ? {} : { given: handover.given }),
    ...(handover?.inherits === undefined ? {} : { inherited: handover.inherits.conversation }),
    ...(handover?.summarises && { summarised: handover.summarises.conversation }),
    ...(mentions === undefined ? {} : { mentions }),
    ...(plan.enclosed === undefined || plan.enclosed.length === 0
      ? {}
      : { enclosed: plan.enclosed }),
    ...(skills.length === 0 ? {} : { skills }),
    background,
    source: plan.source,
    ...(plan.fanOut === undefined ? {} : { fanOut: plan.fanOut }),
    ...(plan.outputSchema === undefined ? {} : { outputSchema: plan.outputSchema }),
    params: plan.params,
  };
  // The parent's note goes first: a crash in between leaves a child without a log, never a log
  // that nobody knows of. Then the note is there already when the call is made again.
  if (parent !== null && !parent.run.state.children.has(id)) {
    const { callId, run, delegation } = parent;
    const made = delegation === null ? {} : { delegation };
    run.journal.record({ type: 'child.created', child: id, callId, background, ...made });
    if (run.spec.fanOut === undefined) tree.addTasks([id]);
    else tree.addItems([id]);
  }
  const journal = openJournal(deps, tree, deps.store.create(spec));
  const run = new TaskRun(deps, {
    created: spec,
    journal,
    // From what the log holds: there secrets are redacted, and a resume must send the same bytes.
    prefix: requestPrefix(shared.prefix, journal.state.spec),
    view: new Map(tools.map((tool) => [tool.name, tool])),
    tree,
    parent: parent?.run ?? null,
    ...(plan.fanOut === undefined ? {} : { drive: engine.driveItems }),
  });
  try {
    const grants = modeGrantEvents(deps, plan);
    if (grants.length > 0) journal.record(...grants);
    const told = [
      plan.model.warning,
      formatUnmetWarning(plan.agent.name, unmet),
      memory?.warning,
      refusedMode(tree, plan),
      ...warnings,
      ...preloaded.warnings,
    ];
    for (const message of told) {
      if (message !== undefined && message !== null) journal.record({ type: 'warning', message });
    }
  } catch (thrown) {
    // Made and never at work, it would be waited for without end.
    run.close();
    throw thrown;
  }
  running.add(run);
  return run;
}

/** A child's log says by which grant it has its mode, that of a conversation what a flag grants in it. */
function modeGrantEvents(
  { inbox }: Pick<EngineDeps, 'inbox'>,
  { parent, raisedBy = null }: TaskPlan,
): readonly EventBody[] {
  if (parent === null) return flagGrantEvents(inbox.modeGrants);
  if (raisedBy === null) return [];
  const { grant, without } = raisedBy;
  return [{ type: 'mode.granted', grant, scope: grantScope(grant), by: 'user', without }];
}

/** Told once in a tree of each agent. */
function refusedMode(tree: Tree, { modeToGrant = null, rights }: TaskPlan): string | null {
  if (modeToGrant === null || !tree.isFirstToLack(modeToGrant)) return null;
  const { agent, mode } = modeToGrant;
  return `${agent} asks for ${mode} mode and runs in ${rights.mode} mode, that of the task above it. A user can grant it with ${wayToGrant(modeToGrant)}`;
}

/** An inherited prefix names the day that it was made on. */
function dateField({ parent, handover, setup }: TaskPlan): Pick<TaskSpec, 'date'> {
  if (handover?.inherits === undefined) return { date: setup.prompt.environment.date };
  const date = parent?.run.spec.date;
  return date === undefined ? {} : { date };
}

/**
 * Siblings share every byte up to the last system line, which is particular to the task. An inherited
 * conversation has that of its own.
 */
export function requestPrefix(shared: RequestPrefix, spec: TaskSpec): RequestPrefix {
  if (spec.inherited !== undefined) return shared;
  const schema = outputSchemaOf(spec);
  if (spec.parent !== null) {
    return { ...shared, system: [...shared.system, taskLine(spec.description, schema)] };
  }
  return schema === null ? shared : { ...shared, system: [...shared.system, answerForm(schema)] };
}
