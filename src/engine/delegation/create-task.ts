import { dropMissing } from '../../base/drop-missing.ts';
import type { TaskSource, TaskLimits, TaskSpec } from '../../protocol/task.ts';
import type { Isolation, TaskWorkspace } from '../../protocol/workspace.ts';
import { type JsonObject, isJsonObject, type JsonValue } from '../../base/json.ts';
import type { AcceptanceCriteria } from '../../protocol/acceptance.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { RemoteAgent } from '../../protocol/remote-agent.ts';
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
import { applyRuleChange, type RuleChange } from '../permissions/change-rules.ts';
import { openJournal } from '../task/journal.ts';
import { mentioningText, resolveMentions } from '../prompt/mentions.ts';
import { describeAnswerForm, formatRootPlace, formatTaskLine } from '../prompt/prompt.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import { TaskRun, type TaskRunParts } from '../task/task-run.ts';
import { findLandingTool } from '../prompt/landing-tool.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { TaskTree } from '../task/task-tree.ts';
import type { EngineContext } from './engine-context.ts';
import { REDACTED } from '../../protocol/redaction.ts';

/** The work of a new task, its agent, and its rights. */
export interface TaskRequest {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  readonly model: ResolvedModel;
  readonly cwd: string;
  /** The workspace of the task, in which `cwd` lies. Default: none. */
  readonly workspace?: TaskWorkspace;
  /** The isolation of the task. Default: `none`. */
  readonly isolation?: Isolation;
  readonly prompt: string;
  /** The part of the prompt that a person wrote, in which agents may be mentioned. */
  readonly personText?: string;
  /** The items that the person quotes in the prompt. Default: none. */
  readonly enclosed?: readonly QuotedItem[];
  readonly source: TaskSource;
  readonly params: JsonObject;
  /** The JSON Schema of the answers. Default: that of the agent, if it has one. */
  readonly outputSchema?: JsonObject;
  /** The conditions under which the work is accepted. Default: those of the agent, if it has some. */
  readonly accept?: AcceptanceCriteria;
  /** The models that take over when the work is not accepted. Default: none. */
  readonly laterModels?: readonly ResolvedModel[];
  /** The W3C trace context of a root task, from outside. Default: none. A child has that of its parent. */
  readonly traceparent?: string;
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
  /** The context that the task gets in addition to its prompt. Default: none. */
  readonly transferred?: Pick<TransferredContext, 'initialContext' | 'forked' | 'summarized'>;
  /** The template and items of a template run, which has no conversation. Absent for all other tasks. */
  readonly fanOut?: FanOut;
  /** The grant that gives the task a wider mode. Absent or null if there is none. */
  readonly raisedBy?: ChildPlan['raisedBy'];
  /** The mode that the definition requests and the task does not get. Absent or null if the task gets that mode. */
  readonly modeToGrant?: ModeToGrant | null;
  /** The rules that the user has set for a new conversation. Default: none. */
  readonly rules?: readonly RuleChange[];
  /** The caller and its Task call; null for a root. */
  readonly parent: {
    readonly run: TaskRun;
    readonly callId: string;
    /** The key of the delegation; null for an item of a template, which never counts as a repetition. */
    readonly delegation: string | null;
  } | null;
}

/** Writes the specification of a new task to its log, and returns the task, ready to run. */
export function createTask(engine: EngineContext, tree: TaskTree, plan: TaskPlan): TaskRun {
  const { deps, prefixes, running } = engine;
  const { id, parent, background, transferred } = plan;
  const { tools, listedTools, prompt, preloaded, memory, unmet } = plan.setup;
  const skills = [...(plan.skills ?? []), ...preloaded.names];
  const sharedPrefix = transferred?.forked?.prefix ?? prefixes.get(prompt, listedTools);
  const toolNames = tools.map((tool) => tool.name);
  const reader = { agent: plan.agent, tools: toolNames };
  const agents = deps.agents.agents();
  const { mentions, warnings } = resolveMentions(
    mentioningText(plan.personText ?? '', plan.enclosed ?? []),
    agents,
    reader,
  );
  const spec: TaskSpec = {
    id,
    root: parent?.run.spec.root ?? id,
    parent: parent?.run.spec.id ?? null,
    parentCall: parent?.callId ?? null,
    depth: plan.rights.depth,
    agent: redactAgent(plan.agent),
    description: plan.description,
    prompt: plan.prompt,
    model: plan.model,
    cwd: plan.cwd,
    ...dropMissing({ workspace: plan.workspace }),
    ...(plan.isolation === 'process' ? { isolation: plan.isolation } : {}),
    rights: plan.rights,
    tools: toolNames,
    ...(unmet.length === 0 ? {} : { unmet }),
    limits: plan.limits,
    prefix: sharedPrefix.hash,
    ...toDateField(plan),
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
    ...dropMissing({ traceparent: plan.traceparent ?? parent?.run.spec.traceparent }),
    ...dropMissing({ fanOut: plan.fanOut, outputSchema: plan.outputSchema }),
    ...dropMissing({ accept: plan.accept ?? plan.agent.accept }),
    ...(plan.laterModels?.length ? { laterModels: plan.laterModels } : {}),
    params: plan.params,
  };
  // The parent's event is written first: a crash in between leaves a child without a log, but never a log that no
  // parent mentions. If the call runs again after a crash, the event is already there.
  if (parent !== null && !parent.run.state.children.has(id)) {
    const { callId, run, delegation } = parent;
    const extra = {
      ...(delegation === null ? {} : { delegation }),
      ...(plan.workspace === undefined ? {} : { workspace: true as const }),
    };
    run.journal.record({ type: 'child.created', child: id, callId, background, ...extra });
    if (run.spec.fanOut !== undefined) tree.addItems([id]);
    else if (plan.source !== 'hook') tree.addTasks([id]);
  }
  const journal = openJournal(deps, tree, deps.store.create(spec));
  const run = new TaskRun(deps, {
    created: spec,
    journal,
    // The recorded specification is used, where secrets are redacted, since a resumed task must send the same bytes.
    prefix: completePrefix(sharedPrefix.prefix, journal.state.spec),
    ...toToolParts(deps, tools, spec),
    tree,
    parent: parent?.run ?? null,
    ...(plan.fanOut === undefined ? {} : { drive: engine.driveItems }),
    hookPorts: engine.hookPorts,
  });
  try {
    const grants = [...buildModeGrantEvents(deps, plan), ...buildRuleEvents(deps, plan)];
    if (grants.length > 0) journal.record(...grants);
    const messages = [
      plan.model.warning,
      formatUnmetWarning(plan.agent.name, unmet),
      memory?.warning,
      buildModeWarning(tree, plan),
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

/** Returns the tools of a task, and the tool that it gets only later. */
export function toToolParts(
  deps: Pick<EngineDeps, 'tools' | 'settings'>,
  tools: readonly AnyTool[],
  spec: TaskSpec,
): Pick<TaskRunParts, 'view' | 'landing'> {
  return {
    view: new Map(tools.map((tool) => [tool.name, tool])),
    landing: findLandingTool(deps, spec),
  };
}

/**
 * Builds the events of mode grants: for a child the grant of its own mode, and for a root those of the command line.
 */
function buildModeGrantEvents(
  { inbox }: Pick<EngineDeps, 'inbox'>,
  { parent, raisedBy = null }: TaskPlan,
): readonly EventBody[] {
  if (parent === null) return flagGrantEvents(inbox.modeGrants);
  if (raisedBy === null) return [];
  const { grant, without } = raisedBy;
  return [{ type: 'mode.granted', grant, scope: findGrantScope(grant), by: 'user', without }];
}

/** Builds the events of the rules that the user has set for a new conversation. */
function buildRuleEvents(
  { redact = (text) => text }: Pick<EngineDeps, 'redact'>,
  { rules = [] }: TaskPlan,
): readonly EventBody[] {
  const stores = { standing: null, directory: null, redact };
  return rules.flatMap((change) => applyRuleChange(change, null, stores));
}

/**
 * Builds the warning that the agent does not get the mode that it requests. Null if it gets the mode, or if the tree
 * was already warned.
 */
function buildModeWarning(tree: TaskTree, { modeToGrant = null, rights }: TaskPlan): string | null {
  if (modeToGrant === null || !tree.noteMissingMode(modeToGrant)) return null;
  const { agent, mode } = modeToGrant;
  return `${agent} asks for ${mode} mode and runs in ${rights.mode} mode, that of the task above it. A user can grant it with ${explainGrant(modeToGrant)}`;
}

/** Returns the date in the prompt. A forked prefix contains the date of the parent. */
function toDateField({ parent, transferred, setup }: TaskPlan): Pick<TaskSpec, 'date'> {
  if (transferred?.forked === undefined) return { date: setup.prompt.environment.date };
  const date = parent?.run.spec.date;
  return date === undefined ? {} : { date };
}

/**
 * Completes a shared prefix for one task. Siblings share every byte up to the last system text, which describes the
 * task. A forked conversation keeps the prefix of its parent.
 */
export function completePrefix(shared: RequestPrefix, spec: TaskSpec): RequestPrefix {
  if (spec.inherited !== undefined) return shared;
  const schema = outputSchemaOf(spec);
  if (spec.parent !== null)
    return addSystemText(shared, formatTaskLine(spec.description, schema, spec));
  if (spec.workspace !== undefined)
    return addSystemText(shared, formatRootPlace(spec.cwd, spec.workspace, schema));
  return schema === null ? shared : addSystemText(shared, describeAnswerForm(schema));
}

/** Adds a text to the end of the system prompt. */
export function addSystemText(prefix: RequestPrefix, text: string): RequestPrefix {
  return { ...prefix, system: [...prefix.system, text] };
}

const recordedAgents = new WeakMap<AgentDefinition, AgentDefinition>();

/**
 * Returns a definition as logs contain it, with the texts in `extra`, in the entries of its servers, and in the variables
 * of its remote agent redacted, and without the credentials of its remote agent. These texts may contain keys and passwords, which the list of secrets does
 * not include. Nothing reads them from a log: a resumed task has those of its present definition.
 */
export function redactAgent(agent: AgentDefinition): AgentDefinition {
  const { extra, servers, remote } = agent;
  if (Object.keys(extra).length === 0 && servers === undefined && remote === undefined)
    return agent;
  const known = recordedAgents.get(agent);
  if (known !== undefined) return known;
  const copy = {
    ...agent,
    extra: redactTexts(extra),
    ...(servers === undefined ? {} : { servers: redactTexts(servers) }),
    ...(remote === undefined ? {} : { remote: redactRemote(remote) }),
  };
  recordedAgents.set(agent, copy);
  return copy;
}

function redactRemote(remote: RemoteAgent): RemoteAgent {
  if (remote.protocol === 'a2a') {
    const { auth: _auth, ...server } = remote;
    return server;
  }
  const env = Object.keys(remote.env).map((name) => [name, REDACTED] as const);
  return { ...remote, env: Object.fromEntries(env) };
}

function redactTexts(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, redactText(value ?? null)]),
  );
}

function redactText(value: JsonValue): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactText(item));
  return isJsonObject(value) ? redactTexts(value) : REDACTED;
}
