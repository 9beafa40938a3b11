import { formatLocalDay } from '../../base/local-time.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { AgentServers, McpServerTools } from '../../protocol/mcp.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { type ConfiguredServer, type DroppedTool, createToolView } from '../../policy/tool-view.ts';
import { delegableAgents, offeredAgents } from './agent-types.ts';
import type { AgentSource, EngineDeps, SkillSource } from '../task/deps.ts';
import { isMainAgent } from '../task/main-agent.ts';
import { readPromptNotes, type PromptNotes } from '../memory/prompt-notes.ts';
import { removeGit, type PromptInput } from './prompt.ts';

import { formatUnmetRequests, type UnmetRequest } from '../../protocol/unmet-request.ts';
import { findCallableSkills, loadPreloadedSkills, type PreloadedSkills } from './skills.ts';
import { isResourceTool, RESOURCE_TOOL, TOOL_FINDER_TOOLS } from '../../protocol/tool-names.ts';
import { findModelFamily, type ModelFamily } from '../../protocol/model-families/model-families.ts';
import { selectToolsOfFamily } from '../../protocol/model-families/describe-tools.ts';
import { PATCH_TOOL } from '../../protocol/file-tools.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import { findUnmetRequests } from './unmet-requests.ts';
import { isMcpTool, selectListedTools, type ListedTools } from './listed-tools.ts';

/** The parts of the engine that the setup of an agent depends on. */
export interface SetupDeps extends Pick<
  EngineDeps,
  | 'clock'
  | 'context'
  | 'mcp'
  | 'memory'
  | 'models'
  | 'platform'
  | 'processes'
  | 'redact'
  | 'settings'
  | 'templates'
  | 'tools'
  | 'workspaces'
> {
  readonly agents: Pick<AgentSource, 'agents'>;
  readonly skills: Pick<SkillSource, 'skills'>;
}

/** The agent of a task, with its rights, directory, provider and position in the tree. */
export interface Placement {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  /** The working directory; for a task in a workspace, the directory for which its working directory stands. */
  readonly cwd: string;
  /** True if the task works in a workspace, whose directory only the text about the task names. Default: false. */
  readonly isIsolated?: boolean;
  /** The reason why the task does not get the isolation that its definition asks for. Default: none. */
  readonly isolationProblem?: string;
  readonly isRoot: boolean;
  readonly model: Pick<ResolvedModel, 'provider' | 'id'>;
  /** The handling of the task's questions. Default: `deny`. */
  readonly onAsk?: OnAsk;
  /** The first prompt of a conversation. */
  readonly firstPrompt?: string;
  /** Setups with the same object use the same notes. Default: the present notes. */
  readonly moment?: object;
}

/** The tools and the prompt of an agent, before anything that is specific to one task. */
export interface AgentSetup {
  /** The tools that the definition asks for, that exist, and that the rights allow. */
  readonly tools: readonly AnyTool[];
  /** The tools that every request lists. */
  readonly listedTools: readonly AnyTool[];
  /** The tools that were left out, with the reasons. */
  readonly dropped: readonly DroppedTool[];
  /** The requests of the definition that are not met. */
  readonly unmet: readonly UnmetRequest[];
  /** The input from which the system prompt is built. */
  readonly prompt: PromptInput;
  /** The skills whose instructions are part of the prompt. */
  readonly preloaded: PreloadedSkills;
  /** The notes in the prompt; null when the agent has no notes. */
  readonly memory: PromptNotes | null;
}

/**
 * Prepares an agent for a task. The setup depends only on the arguments, the day, and the agent's notes on the disk.
 */
export function prepareAgent(deps: SetupDeps, placement: Placement): AgentSetup {
  const { agent, rights, isRoot, model } = placement;
  const isRemote = agent.remote !== undefined;
  const family = findModelFamily(model.id, deps.settings.modelFamily);
  const servers = findServers(deps, agent);
  const view = createToolView({
    definition: isMainAgent(agent) ? null : agent,
    rights,
    available: listAvailableTools(deps, rights, servers),
    servers: describeServers(servers),
    addsCodeSearch: model.provider === 'offline',
    addsPatches: family?.replaces[PATCH_TOOL] !== undefined,
    nested: deps.settings.nested,
    root: isRoot,
    delegable: delegableAgents(agent, deps.agents.agents()).length > 0,
    ...(placement.onAsk === undefined ? {} : { onAsk: placement.onAsk }),
  });
  const selected = selectTools(deps, agent, view.names);
  const { listed, servers: serverLines } = isRemote
    ? NO_LISTED_TOOLS
    : listTools(deps, servers, selected, family);
  const finders = [
    ...(serverLines.length === 0 ? [] : TOOL_FINDER_TOOLS),
    ...(selected.some(({ name }) => isResourceTool(name)) ? [RESOURCE_TOOL] : []),
  ];
  const tools = [...selected, ...findTools(deps, servers, finders)];
  const switchedOff = view.names
    .filter((name) => !tools.some((tool) => tool.name === name))
    .map((name) => ({ name, reason: 'task_tool.enabled is false.' }));
  const memory = readNotesForPrompt(deps, placement, tools);
  const dropped = [...view.dropped, ...switchedOff];
  const unmet = findUnmetRequests(agent, {
    dropped,
    isolationProblem: placement.isolationProblem,
    tools: deps.tools,
  });
  return {
    tools,
    listedTools: listed,
    dropped,
    unmet,
    prompt: {
      ...buildPromptInput(deps, placement, tools, memory),
      servers: serverLines,
      unmet: formatUnmetRequests(unmet),
    },
    preloaded: loadPreloadedSkills(deps, agent),
    memory,
  };
}

/** Reads the agent's notes for its prompt. Returns null when the task has no tool to read them. */
function readNotesForPrompt(
  { memory: source, redact }: SetupDeps,
  { agent, cwd, moment }: Placement,
  tools: readonly AnyTool[],
): PromptNotes | null {
  if (!tools.some(({ name }) => name === 'MemoryRead')) return null;
  return readPromptNotes({ source, redact, agent, cwd, moment });
}

/** Returns the available tools. Skill and RunTemplate are left out when there is no skill or template to call. */
function listAvailableTools(
  deps: SetupDeps,
  rights: Rights,
  { servers }: AgentServers,
): readonly AnyTool[] {
  const without = new Set<string>();
  if (findCallableSkills(deps, rights).skills.length === 0) without.add('Skill');
  if ((deps.templates ?? []).length === 0 || !deps.settings.taskTools) without.add('RunTemplate');
  for (const name of SERVER_TOOLS) without.add(name);
  return [...deps.tools.filter(({ name }) => !without.has(name)), ...listServerTools(servers)];
}

/** The tools that the requests to a remote agent list: it has tools of its own. */
const NO_LISTED_TOOLS: ListedTools = { listed: [], servers: [] };

const NO_SERVERS: AgentServers = { parts: [], servers: [], unusable: new Map() };

function findServers({ mcp }: Pick<SetupDeps, 'mcp'>, agent: AgentDefinition): AgentServers {
  return mcp?.ofAgent(agent) ?? NO_SERVERS;
}

/** Describes the servers that an agent may have, for the reasons why it does not get their tools. */
function describeServers({ parts, servers, unusable }: AgentServers): readonly ConfiguredServer[] {
  const known = new Set(servers.map(({ part }) => part));
  return [
    ...parts.map((part) => ({ part, hasKnownTools: known.has(part) })),
    ...Array.from(unusable, ([part, problem]) => ({ part, hasKnownTools: false, problem })),
  ];
}

function listServerTools(servers: readonly McpServerTools[]): readonly AnyTool[] {
  return servers.flatMap(({ tools, resources }) =>
    resources === null ? tools : [...tools, resources],
  );
}

/** The tools by which a task uses tools and resources of servers that its requests do not list. */
const SERVER_TOOLS = [...TOOL_FINDER_TOOLS, RESOURCE_TOOL];

/** Selects the tools that requests list, from all tools of a task. */
function listTools(
  deps: SetupDeps,
  servers: AgentServers,
  tools: readonly AnyTool[],
  family: ModelFamily | null,
): ListedTools {
  // A resumed task has some of them already.
  const all = [
    ...new Set([...selectToolsOfFamily(tools, family), ...findTools(deps, servers, SERVER_TOOLS)]),
  ];
  return selectListedTools(all, servers.servers, deps.settings.listedServerToolBytes);
}

function buildPromptInput(
  deps: SetupDeps,
  placement: Placement,
  tools: readonly AnyTool[],
  notes: PromptNotes | null,
): PromptInput {
  const { agent, rights, cwd, isRoot, model, firstPrompt, isIsolated = false } = placement;
  const delegates = tools.some((tool) => tool.name === 'Task');
  const agents = deps.agents.agents();
  return {
    agent,
    family: findModelFamily(model.id, deps.settings.modelFamily),
    tools: tools.map(({ name }) => name),
    mode: rights.mode,
    isRoot,
    types: delegates ? offeredAgents(agent, agents) : [],
    agents,
    firstPrompt: isRoot ? (firstPrompt ?? '') : null,
    skills: tools.some((tool) => tool.name === 'Skill')
      ? findCallableSkills(deps, rights).lines
      : [],
    preloaded: loadPreloadedSkills(deps, agent).texts,
    environment: {
      cwd: isIsolated ? null : cwd,
      platform: deps.platform,
      date: formatLocalDay(deps.clock.now()),
    },
    ...(notes === null ? {} : { memory: notes.text }),
    context: findContext(deps, placement),
  };
}

/** Returns the present prompt input for a task with these tools, and the tools that its requests list. */
export function currentPromptInput(
  deps: SetupDeps,
  placement: Placement,
  tools: readonly AnyTool[],
): PromptInput & Pick<ListedTools, 'listed'> {
  const notes = readNotesForPrompt(deps, placement, tools);
  const servers = findServers(deps, placement.agent);
  const input = buildPromptInput(deps, placement, tools, notes);
  if (placement.agent.remote !== undefined) return { ...input, ...NO_LISTED_TOOLS };
  return { ...input, ...listTools(deps, servers, tools, input.family) };
}

/**
 * Returns the tools of an agent with these names, in this order. Tools that do not exist or are disabled are left out.
 */
export function selectTools(
  deps: Pick<SetupDeps, 'settings' | 'tools' | 'mcp'>,
  agent: AgentDefinition,
  names: readonly string[],
): readonly AnyTool[] {
  const { settings } = deps;
  const existing = settings.taskTools ? names : names.filter((name) => !TASK_TOOLS.has(name));
  return findTools(deps, findServers(deps, agent), existing);
}

function findTools(
  deps: Pick<SetupDeps, 'tools'>,
  { servers }: AgentServers,
  names: readonly string[],
): readonly AnyTool[] {
  const serverTools = names.some(isMcpTool) ? listServerTools(servers) : [];
  const byName = new Map([...deps.tools, ...serverTools].map((tool) => [tool.name, tool]));
  return names.flatMap((name) => byName.get(name) ?? []);
}

/** The tools that `task_tool.enabled = false` disables. */
const TASK_TOOLS: ReadonlySet<string> = new Set([
  'Task',
  'TaskOutput',
  'TaskStop',
  'TaskSend',
  'TaskList',
  'TaskReplay',
  'RunTemplate',
]);

/** The maximum number of tools whose reasons a message contains. */
const MAX_SHOWN_TOOLS = 8;

/**
 * Returns the reason why an agent can't be started and what to do about it; null when it can be started. An agent
 * that asks for tools by name and gets none could only invent its results. An agent that asks for no tools works
 * without tools.
 */
export function findUnusableReason(
  agent: AgentDefinition,
  { tools, dropped }: AgentSetup,
): string | null {
  const { name, origin, unusable } = agent;
  if (unusable !== undefined) {
    return `\`${name}\` can't be started: ${endWithFullStop(unusable)} Fix ${origin.path}, or name another agent.`;
  }
  const { mode, names } = agent.tools;
  const asksForSome = mode === 'allow' && names.length > 0;
  if (!asksForSome || tools.some((tool) => asksFor(agent, tool.name))) return null;
  const reasons = dropped.slice(0, MAX_SHOWN_TOOLS).map((each) => `${each.name}: ${each.reason}`);
  const more =
    dropped.length > MAX_SHOWN_TOOLS ? ` And ${dropped.length - MAX_SHOWN_TOOLS} more.` : '';
  return `\`${name}\` can't be started: none of the tools that it asks for can be had here. ${reasons.join(' ')}${more} Name another agent, or do the work yourself.`;
}

/**
 * Returns true when the definition asks for this tool. `Task` is also given to agents that do not ask for it, so it
 * counts only when the definition names it or lists agents to delegate to.
 */
function asksFor({ tools, delegatesTo = [] }: AgentDefinition, name: string): boolean {
  return name !== 'Task' || tools.names.includes('Task') || delegatesTo.length > 0;
}

function endWithFullStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function findContext({ context, settings }: SetupDeps, { agent, cwd, isRoot }: Placement) {
  if (agent.contextFiles === false) return null;
  const fullContext = context?.getContext(cwd) ?? null;
  const isReusable = !isRoot && (agent.cache ?? settings.reusesResults);
  return fullContext !== null && isReusable ? removeGit(fullContext) : fullContext;
}
