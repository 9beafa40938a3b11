import { formatLocalDay } from '../../base/local-time.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { toolView, type DroppedTool } from '../../policy/tool-view.ts';
import { delegableAgents, offeredAgents } from './delegable-agents.ts';
import type { AgentSource, EngineDeps, SkillSource } from '../task/deps.ts';
import { isMainAgent } from '../task/main-agent.ts';
import { memoryOpening, type MemoryOpening } from '../memory/opening.ts';
import { withoutGit } from './project-context.ts';
import type { PromptInput } from './prompt.ts';
import { formatUnmetRequests, type UnmetRequest } from '../../protocol/unmet-request.ts';
import { unmetRequests } from './unmet-requests.ts';
import { callableSkills, preloadedSkills, type Preloaded } from './skill-use.ts';

/** What of the engine's ports it takes to say what a task would be. */
export interface PlanDeps extends Pick<
  EngineDeps,
  | 'clock'
  | 'context'
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

/** Where a task stands and who works on it. */
export interface Placement {
  readonly agent: AgentDefinition;
  readonly rights: Rights;
  readonly cwd: string;
  readonly isRoot: boolean;
  /** Of the model that works on it. */
  readonly provider: string;
  /** What happens to its questions. Default `deny`. */
  readonly onAsk?: OnAsk;
  /** What the conversation of a root begins with. */
  readonly firstPrompt?: string;
  /** Those who are equipped for one find the same notes. Absent: as they are now. */
  readonly moment?: object;
}

/** What a task begins its requests with, before anything of its own. */
export interface AgentSetup {
  /** The frozen view: what policy leaves of the definition's wish, among the tools that exist. */
  readonly tools: readonly AnyTool[];
  readonly dropped: readonly DroppedTool[];
  /** Requests of its definition that are not met. */
  readonly unmet: readonly UnmetRequest[];
  /** What its system prompt is written from. */
  readonly prompt: PromptInput;
  /** The skills whose instructions stand in it. */
  readonly preloaded: Preloaded;
  /** What its type's notes put into it; null: none are kept. */
  readonly memory: MemoryOpening | null;
}

/** Pure, but for the day that the clock says, and the notes of a type that keeps some. */
export function prepareAgent(deps: PlanDeps, post: Placement): AgentSetup {
  const { agent, rights, isRoot, provider } = post;
  const view = toolView({
    definition: isMainAgent(agent) ? null : agent,
    rights,
    available: availableTools(deps, rights),
    addsCodeSearch: provider === 'offline',
    nested: deps.settings.nested,
    root: isRoot,
    delegable: delegableAgents(agent, deps.agents.agents()).length > 0,
    ...(post.onAsk === undefined ? {} : { onAsk: post.onAsk }),
  });
  const tools = toolsNamed(deps, view.names);
  const switchedOff = view.names
    .filter((name) => !tools.some((tool) => tool.name === name))
    .map((name) => ({ name, reason: 'task_tool.enabled is false.' }));
  const memory = openingOf(deps, post, tools);
  const dropped = [...view.dropped, ...switchedOff];
  const unmet = unmetRequests(agent, dropped);
  return {
    tools,
    dropped,
    unmet,
    prompt: { ...promptInput(deps, post, tools, memory), unmet: formatUnmetRequests(unmet) },
    preloaded: preloadedSkills(deps, agent),
    memory,
  };
}

/** Its notes are for whoever may read them. */
function openingOf(
  { memory: source, redact }: PlanDeps,
  { agent, cwd, moment }: Placement,
  tools: readonly AnyTool[],
): MemoryOpening | null {
  if (!tools.some(({ name }) => name === 'MemoryRead')) return null;
  return memoryOpening({ source, redact, agent, cwd, moment });
}

/** Skill and RunTemplate are available only when there is one to call. */
function availableTools(deps: PlanDeps, rights: Rights): readonly AnyTool[] {
  const without = new Set<string>();
  if (callableSkills(deps, rights).skills.length === 0) without.add('Skill');
  if ((deps.templates ?? []).length === 0 || !deps.settings.taskTools) without.add('RunTemplate');
  return without.size === 0 ? deps.tools : deps.tools.filter(({ name }) => !without.has(name));
}

function promptInput(
  deps: PlanDeps,
  post: Placement,
  tools: readonly AnyTool[],
  opening: MemoryOpening | null,
): PromptInput {
  const { agent, rights, cwd, isRoot, firstPrompt } = post;
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
    skills: tools.some((tool) => tool.name === 'Skill') ? callableSkills(deps, rights).lines : [],
    preloaded: preloadedSkills(deps, agent).texts,
    environment: {
      cwd,
      platform: deps.platform,
      date: formatLocalDay(deps.clock.now()),
    },
    ...(opening === null ? {} : { memory: opening.text }),
    context: contextFor(deps, post),
  };
}

/** What a task with these tools would begin with, as things are now. */
export function promptNow(deps: PlanDeps, post: Placement, tools: readonly AnyTool[]): PromptInput {
  return promptInput(deps, post, tools, openingOf(deps, post, tools));
}

/** The tools of these names, in this order, as far as they exist and are switched on. */
export function toolsNamed(
  { settings, tools }: Pick<PlanDeps, 'settings' | 'tools'>,
  wanted: readonly string[],
): readonly AnyTool[] {
  const existing = settings.taskTools ? wanted : wanted.filter((name) => !TASK_TOOLS.has(name));
  return existing.flatMap((name) => tools.find((tool) => tool.name === name) ?? []);
}

/** What `task_tool.enabled = false` takes out of every request. */
const TASK_TOOLS: ReadonlySet<string> = new Set([
  'Task',
  'TaskOutput',
  'TaskStop',
  'TaskSend',
  'TaskList',
  'TaskReplay',
  'RunTemplate',
]);

/** Tools whose reasons a refusal repeats. */
const SHOWN_TOOLS = 8;

/**
 * Why an agent can't be started here, and what to do; null: it can. One that asks for tools by name and
 * gets none could only make things up; one that asks for none works without.
 */
export function whyUnusable(agent: AgentDefinition, { tools, dropped }: AgentSetup): string | null {
  const { name, origin, unusable } = agent;
  if (unusable !== undefined) {
    return `\`${name}\` can't be started: ${sentence(unusable)} Mend ${origin.path}, or name another agent.`;
  }
  const { mode, names } = agent.tools;
  const asksForSome = mode === 'allow' && names.length > 0;
  if (!asksForSome || tools.some((tool) => asksFor(agent, tool.name))) return null;
  const reasons = dropped.slice(0, SHOWN_TOOLS).map((each) => `${each.name}: ${each.reason}`);
  const more = dropped.length > SHOWN_TOOLS ? ` And ${dropped.length - SHOWN_TOOLS} more.` : '';
  return `\`${name}\` can't be started: none of the tools that it asks for can be had here. ${reasons.join(' ')}${more} Name another agent, or do the work yourself.`;
}

/** `Task` is also given to who does not ask for it. */
function asksFor({ tools, delegatesTo = [] }: AgentDefinition, name: string): boolean {
  return name !== 'Task' || tools.names.includes('Task') || delegatesTo.length > 0;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function contextFor({ context, settings }: PlanDeps, { agent, cwd, isRoot }: Placement) {
  if (agent.contextFiles === false) return null;
  const whole = context?.of(cwd) ?? null;
  const isReusable = !isRoot && (agent.cache ?? settings.reusesResults);
  return whole !== null && isReusable ? withoutGit(whole) : whole;
}
