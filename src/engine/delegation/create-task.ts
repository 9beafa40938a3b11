import { dropMissing } from '../../base/drop-missing.ts';
import type { TaskSource, TaskLimits, TaskSpec } from '../../protocol/task.ts';
import { type JsonObject, isJsonObject, type JsonValue } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { RequestPrefix, ResolvedModel } from '../../protocol/model.ts';
import { findGrantScope, explainGrant } from '../../policy/mode-grants.ts';
import type { ModeToGrant, Rights } from '../../protocol/permission.ts';
import type { FanOut } from '../../protocol/template.ts';
import { formatUnmetWarning } from '../../protocol/unmet-request.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { AgentSetup } from '../prompt/prepare-agent.ts';
import type { ChildPlan, TransferredContext } from './plan-child.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { flagGrantEvents } from '../task/inbox.ts';
import { openJournal } from '../task/journal.ts';
import { resolveMentions } from '../prompt/agent-types.ts';
import { describeAnswerForm, formatTaskLine } from '../prompt/prompt.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import { TaskRun } from '../task/task-run.ts';
import type { TaskTree } from '../task/task-tree.ts';
import type { EngineContext } from './engine-context.ts';
import { REDACTED } from '../../protocol/redaction.ts';

/** The work of a new task, and the terms on which it works. */
export interface TaskRequest {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly cwd: string;
  readonly prompt: string;
  /** The part of the prompt that a person wrote, in which agents may be mentioned. */
  readonly personText?: string;
  /** The items that the person quotes with it. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
  readonly source: TaskSource;
  readonly params: JsonObject;
  /** The JSON Schema of its answers. Default: the agent's, if any. */
  readonly outputSchema?: JsonObject;
}

/** Everything that is decided about a task before it is created. */
interface TaskPlan extends TaskRequest {
  readonly id: string;
  readonly limits: TaskLimits;
  readonly setup: AgentSetup;
  readonly description: string;
  /** Ids of tasks that the prompt names and that the parent can see. */
  readonly handed: readonly string[];
  readonly background: boolean;
  /** Names of the skills whose instructions make up the prompt. Default: none. */
  readonly skills?: readonly string[];
  /** The context that it gets in addition to its prompt. Default: none. */
  readonly transferred?: Pick<TransferredContext, 'initialContext' | 'forked' | 'summarized'>;
  /** The template run of a root that is not a conversation. */
  readonly fanOut?: FanOut;
  /** The grant that made its mode wider. Absent or null if there is none. */
  readonly raisedBy?: ChildPlan['raisedBy'];
  /** The mode that its definition asks for and does not get. Absent or null if it gets what it asks for. */
  readonly modeToGrant?: ModeToGrant | null;
  /** The caller and its Task call; null for a root. */
  readonly parent: {
    readonly run: TaskRun;
    readonly callId: string;
    /** The key of the delegation; null for an item of a template, which never counts as a repetition. */
    readonly delegation: string | null;
  } | null;
}

/** Freezes the specification of a task, writes it, and returns the task ready to run. */
export function createTask(engine: EngineContext, tree: TaskTree, plan: TaskPlan): TaskRun {
  const { deps, prefixes, running } = engine;
  const { id, parent, background, transferred } = plan;
  const { tools, prompt, preloaded, memory, unmet } = plan.setup;
  const skills = [...(plan.skills ?? []), ...preloaded.names];
  const shared = transferred?.forked?.prefix ?? prefixes.get(prompt, tools);
  const names = tools.map((tool) => tool.name);
  const by = { agent: plan.agent, tools: names };
  const agents = deps.agents.agents();
  const { mentions, warnings } = resolveMentions(plan.personText ?? '', agents, by);
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
    ...(transferred?.initialContext === undefined ? {} : { given: transferred.initialContext }),
    ...(transferred?.forked === undefined ? {} : { inherited: transferred.forked.conversation }),
    ...(transferred?.summarized && { summarised: transferred.summarized.conversation }),
    ...(mentions === undefined ? {} : { mentions }),
    ...(plan.enclosed === undefined || plan.enclosed.length === 0
      ? {}
      : { enclosed: plan.enclosed }),
    ...(skills.length === 0 ? {} : { skills }),
    background,
    source: plan.source,
    ...dropMissing({ fanOut: plan.fanOut, outputSchema: plan.outputSchema }),
    params: plan.params,
  };
  // The parent's event goes first: a crash in between leaves a child without a log, never a log
  // that no parent knows. When the call is made again, the event is already there.
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
    // Taken from the log, where secrets are redacted: a resume must send the same bytes.
    prefix: requestPrefix(shared.prefix, journal.state.spec),
    view: new Map(tools.map((tool) => [tool.name, tool])),
    tree,
    parent: parent?.run ?? null,
    ...(plan.fanOut === undefined ? {} : { drive: engine.driveItems }),
  });
  try {
    const grants = modeGrantEvents(deps, plan);
    if (grants.length > 0) journal.record(...grants);
    const messages = [
      plan.model.warning,
      formatUnmetWarning(plan.agent.name, unmet),
      memory?.warning,
      refusedMode(tree, plan),
      ...warnings,
      ...preloaded.warnings,
    ];
    for (const message of messages) {
      if (message !== undefined && message !== null) journal.record({ type: 'warning', message });
    }
  } catch (thrown) {
    // The parent would wait forever for a task that was created and never runs.
    run.close();
    throw thrown;
  }
  running.add(run);
  return run;
}

/** A child's log holds the grant of its mode, and a conversation's log the grants of its flags. */
function modeGrantEvents(
  { inbox }: Pick<EngineDeps, 'inbox'>,
  { parent, raisedBy = null }: TaskPlan,
): readonly EventBody[] {
  if (parent === null) return flagGrantEvents(inbox.modeGrants);
  if (raisedBy === null) return [];
  const { grant, without } = raisedBy;
  return [{ type: 'mode.granted', grant, scope: findGrantScope(grant), by: 'user', without }];
}

/** Returns the warning about a mode that the agent does not get, once in a tree for each agent. */
function refusedMode(tree: TaskTree, { modeToGrant = null, rights }: TaskPlan): string | null {
  if (modeToGrant === null || !tree.noteMissingMode(modeToGrant)) return null;
  const { agent, mode } = modeToGrant;
  return `${agent} asks for ${mode} mode and runs in ${rights.mode} mode, that of the task above it. A user can grant it with ${explainGrant(modeToGrant)}`;
}

/** A forked prefix already contains the date on which it was made. */
function dateField({ parent, transferred, setup }: TaskPlan): Pick<TaskSpec, 'date'> {
  if (transferred?.forked === undefined) return { date: setup.prompt.environment.date };
  const date = parent?.run.spec.date;
  return date === undefined ? {} : { date };
}

/**
 * Completes a shared prefix for one task. Siblings share every byte up to the last system line, which describes
 * the task. A forked conversation keeps the prefix that it has.
 */
export function requestPrefix(shared: RequestPrefix, spec: TaskSpec): RequestPrefix {
  if (spec.inherited !== undefined) return shared;
  const schema = outputSchemaOf(spec);
  if (spec.parent !== null) return addSystemText(shared, formatTaskLine(spec.description, schema));
  return schema === null ? shared : addSystemText(shared, describeAnswerForm(schema));
}

/** Adds a text to the end of the system prompt. */
export function addSystemText(prefix: RequestPrefix, text: string): RequestPrefix {
  return { ...prefix, system: [...prefix.system, text] };
}

const recorded = new WeakMap<AgentDefinition, AgentDefinition>();

/**
 * Returns a definition as the log of a task keeps it, with the texts in `extra` redacted. Nothing uses `extra`, and
 * it may hold the keys and passwords of servers and hooks, which no list of secrets knows.
 */
export function recordedAgent(agent: AgentDefinition): AgentDefinition {
  if (Object.keys(agent.extra).length === 0) return agent;
  const known = recorded.get(agent);
  if (known !== undefined) return known;
  const made = { ...agent, extra: withoutTexts(agent.extra) };
  recorded.set(agent, made);
  return made;
}

function withoutTexts(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, withoutText(value ?? null)]),
  );
}

function withoutText(value: JsonValue): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => withoutText(item));
  return isJsonObject(value) ? withoutTexts(value) : REDACTED;
}
