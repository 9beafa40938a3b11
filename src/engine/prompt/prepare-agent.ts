import { formatLocalDay } from '../../base/local-time.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { type ConfiguredServer, type DroppedTool, createToolView } from '../../policy/tool-view.ts';
import { delegableAgents, offeredAgents } from './agent-types.ts';
import type { AgentSource, EngineDeps, SkillSource } from '../task/deps.ts';
import { isMainAgent } from '../task/main-agent.ts';
import { readPromptNotes, type PromptNotes } from '../memory/prompt-notes.ts';
import { removeGit, type PromptInput } from './prompt.ts';
import { formatUnmetRequests, type UnmetRequest } from '../../protocol/unmet-request.ts';
import { findCallableSkills, loadPreloadedSkills, type PreloadedSkills } from './skills.ts';
import { parseRules } from '../../policy/rules/rules.ts';
import type { JsonValue } from '../../base/json.ts';
import {
  CONFIGURED_TOOLS,
  isResourceTool,
  RESOURCE_TOOL,
  TOOL_FINDER_TOOLS,
  UNBUILT_TOOLS,
} from '../../protocol/tool-names.ts';
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
  | 'redact'
  | 'settings'
  | 'templates'
  | 'tools'
> {
  readonly agents: Pick<AgentSource, 'agents'>;
  readonly skills: Pick<SkillSource, 'skills'>;
}

/** The agent of a task, with its rights, directory, provider and position in the tree. */
export interface Placement {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  readonly cwd: string;
  readonly isRoot: boolean;
  /** The provider of the task's model. */
  readonly provider: string;
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
  const { agent, rights, isRoot, provider } = placement;
  const view = createToolView({
    definition: isMainAgent(agent) ? null : agent,
    rights,
    available: listAvailableTools(deps, rights),
    servers: listServers(deps),
    addsCodeSearch: provider === 'offline',
    nested: deps.settings.nested,
    root: isRoot,
    delegable: delegableAgents(agent, deps.agents.agents()).length > 0,
    ...(placement.onAsk === undefined ? {} : { onAsk: placement.onAsk }),
  });
  const selected = selectTools(deps, view.names);
  const { listed, servers } = listTools(deps, selected);
  const finders = [
    ...(servers.length === 0 ? [] : TOOL_FINDER_TOOLS),
    ...(selected.some(({ name }) => isResourceTool(name)) ? [RESOURCE_TOOL] : []),
  ];
  const tools = [...selected, ...findTools(deps, finders)];
  const switchedOff = view.names
    .filter((name) => !tools.some((tool) => tool.name === name))
    .map((name) => ({ name, reason: 'task_tool.enabled is false.' }));
  const memory = readNotesForPrompt(deps, placement, tools);
  const dropped = [...view.dropped, ...switchedOff];
  const unmet = findUnmetRequests(agent, dropped);
  return {
    tools,
    listedTools: listed,
    dropped,
    unmet,
    prompt: {
      ...buildPromptInput(deps, placement, tools, memory),
      servers,
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
function listAvailableTools(deps: SetupDeps, rights: Rights): readonly AnyTool[] {
  const without = new Set<string>();
  if (findCallableSkills(deps, rights).skills.length === 0) without.add('Skill');
  if ((deps.templates ?? []).length === 0 || !deps.settings.taskTools) without.add('RunTemplate');
  for (const name of SERVER_TOOLS) without.add(name);
  return [...deps.tools.filter(({ name }) => !without.has(name)), ...listServerTools(deps)];
}

function listServers({ mcp }: Pick<SetupDeps, 'mcp'>): readonly ConfiguredServer[] {
  const known = new Set(mcp?.servers.map(({ part }) => part));
  return (mcp?.parts ?? []).map((part) => ({ part, hasKnownTools: known.has(part) }));
}

function listServerTools({ mcp }: Pick<SetupDeps, 'mcp'>): readonly AnyTool[] {
  return (
    mcp?.servers.flatMap(({ tools, resources }) =>
      resources === null ? tools : [...tools, resources],
    ) ?? []
  );
}

/** The tools by which a task uses tools and resources of servers that its requests do not list. */
const SERVER_TOOLS = [...TOOL_FINDER_TOOLS, RESOURCE_TOOL];

/** Selects the tools that requests list, from all tools of a task. */
function listTools(deps: SetupDeps, tools: readonly AnyTool[]): ListedTools {
  // A resumed task has some of them already.
  const all = [...new Set([...tools, ...findTools(deps, SERVER_TOOLS)])];
  return selectListedTools(all, deps.mcp?.servers ?? [], deps.settings.listedServerToolBytes);
}

function buildPromptInput(
  deps: SetupDeps,
  placement: Placement,
  tools: readonly AnyTool[],
  notes: PromptNotes | null,
): PromptInput {
  const { agent, rights, cwd, isRoot, firstPrompt } = placement;
  const delegates = tools.some((tool) => tool.name === 'Task');
  const agents = deps.agents.agents();
  return {
    agent,
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
    environment: { cwd, platform: deps.platform, date: formatLocalDay(deps.clock.now()) },
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
  return { ...buildPromptInput(deps, placement, tools, notes), ...listTools(deps, tools) };
}

/** Returns the tools with these names, in this order. Tools that do not exist or are disabled are left out. */
export function selectTools(
  deps: Pick<SetupDeps, 'settings' | 'tools' | 'mcp'>,
  names: readonly string[],
): readonly AnyTool[] {
  const { settings } = deps;
  const existing = settings.taskTools ? names : names.filter((name) => !TASK_TOOLS.has(name));
  return findTools(deps, existing);
}

function findTools(
  deps: Pick<SetupDeps, 'tools' | 'mcp'>,
  names: readonly string[],
): readonly AnyTool[] {
  const serverTools = names.some(isMcpTool) ? listServerTools(deps) : [];
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

/** The codes of problems in a definition that mean that a requested tool is not granted. */
/** The codes of problems in a definition that concern servers, whose reports also name the file. */
const SERVER_CODES: ReadonlySet<string> = new Set(['inline-server', 'invalid-servers']);
const UNGRANTED_TOOL_CODES: ReadonlySet<string> = new Set([
  'unknown-tool',
  'too-wide-alias',
  'tool-pattern',
  'unknown-denied-tool',
  ...SERVER_CODES,
]);
const NO_ISOLATION_REASON =
  'Muster does not offer it yet; the task works in the directory of its parent.';

/**
 * Lists what a definition asks for by name and its task does not get: tools that are unknown, missing or removed by
 * its rights, and an isolation. A tool that the definition itself denies does not count as requested. Built-in
 * definitions may name tools that are not built yet, and their tasks may be too deep in the tree to delegate; both
 * are not listed.
 *
 * @param dropped the tools that were left out for the task
 */
export function findUnmetRequests(
  agent: AgentDefinition,
  dropped: readonly DroppedTool[],
): readonly UnmetRequest[] {
  if (isMainAgent(agent)) return [];
  const unknown = agent.problems.flatMap(({ code, tool, message, path }): readonly UnmetRequest[] =>
    tool === undefined || !UNGRANTED_TOOL_CODES.has(code)
      ? []
      : [toUnmetRequest(code, tool, SERVER_CODES.has(code) ? `${path}: ${message}` : message)],
  );
  const ungranted = dropped
    .filter(({ name }) => asksByName(agent, name) && !agent.disallowedTools.includes(name))
    .map(({ name, reason }): UnmetRequest => ({ kind: 'tool', name, reason }));
  return [...unknown, ...ungranted, ...findUnreadableRules(agent), ...findIsolationRequest(agent)];
}

function toUnmetRequest(code: string, name: string, message: string): UnmetRequest {
  if (code === 'unknown-denied-tool') {
    return { kind: 'denial', name, reason: 'No tool of that name is known: nothing is denied.' };
  }
  return { kind: 'tool', name, reason: code === 'unknown-tool' ? UNKNOWN_TOOL : message };
}

const UNKNOWN_TOOL = 'No tool of that name is known.';

/**
 * Lists the rules of a definition that can't be read. Such rules deny or ask, so nobody would notice that they are
 * missing.
 */
function findUnreadableRules({ name, rules }: AgentDefinition): readonly UnmetRequest[] {
  if (rules === undefined) return [];
  const source = { kind: 'definition', where: `agent ${name}` } as const;
  const texts = (list: readonly string[]) => list.map((text) => ({ text, source }));
  const { problems } = parseRules({ allow: [], ask: texts(rules.ask), deny: texts(rules.deny) });
  return problems.map(({ text, mistake, kind }): UnmetRequest => {
    const effect = kind === 'tool' ? 'It has no effect.' : 'It counts for all calls of its tool.';
    return { kind: 'rule', name: text, reason: `${mistake} ${effect}` };
  });
}

function asksByName({ tools, delegatesTo = [], origin }: AgentDefinition, name: string): boolean {
  const mayBeMissing = name === 'Task' || UNBUILT_TOOLS.has(name) || CONFIGURED_TOOLS.has(name);
  if (origin.scope === 'builtin' && mayBeMissing) return false;
  if (name === 'Task' && delegatesTo.length > 0) return true;
  return tools.mode === 'allow' && tools.names.includes(name);
}

/** Returns the isolation that a definition asks for, which has no effect yet. */
export function findIsolationRequest({
  extra,
}: Pick<AgentDefinition, 'extra'>): readonly UnmetRequest[] {
  return Object.entries(extra).flatMap(([field, value]: [string, JsonValue | undefined]) => {
    if (field.toLowerCase() !== 'isolation' || typeof value !== 'string') return [];
    const name = value.trim();
    if (name === '' || name.toLowerCase() === 'none') return [];
    return [{ kind: 'isolation', name, reason: NO_ISOLATION_REASON } as const];
  });
}
