import { localDay } from '../../base/local-time.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { OnAsk } from '../../protocol/question.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { toolView, type DroppedTool } from '../../policy/tool-view.ts';
import { delegableAgents, offeredAgents } from './delegable-agents.ts';
import type { AgentSource, EngineDeps, SkillSource } from '../task/deps.ts';
import { isMainAgent } from '../task/main-agent.ts';
import { readPromptNotes, type PromptNotes } from '../memory/prompt-notes.ts';
import { removeGit } from './project-context.ts';
import type { PromptInput } from './prompt.ts';
import { unmetLines, type UnmetRequest } from '../../protocol/unmet-request.ts';
import { findUnmetRequests } from './unmet-requests.ts';
import { findCallableSkills, loadPreloadedSkills, type PreloadedSkills } from './skills.ts';

/** What of the engine's ports it takes to say what a task would be. */
export interface SetupDeps extends Pick<
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
  readonly preloaded: PreloadedSkills;
  /** What its type's notes put into it; null: none are kept. */
  readonly memory: PromptNotes | null;
}

/** Pure, but for the day that the clock says, and the notes of a type that keeps some. */
export function prepareAgent(deps: SetupDeps, placement: Placement): AgentSetup {
  const { agent, rights, isRoot, provider } = placement;
  const view = toolView({
    definition: isMainAgent(agent) ? null : agent,
    rights,
    available: availableTools(deps, rights),
    addsCodeSearch: provider === 'offline',
    nested: deps.settings.nested,
    root: isRoot,
    delegable: delegableAgents(agent, deps.agents.agents()).length > 0,
    ...(placement.onAsk === undefined ? {} : { onAsk: placement.onAsk }),
  });
  const tools = selectTools(deps, view.names);
  const switchedOff = view.names
    .filter((name) => !tools.some((tool) => tool.name === name))
    .map((name) => ({ name, reason: 'task_tool.enabled is false.' }));
  const memory = promptNotes(deps, placement, tools);
  const dropped = [...view.dropped, ...switchedOff];
  const unmet = findUnmetRequests(agent, dropped);
  return {
    tools,
    dropped,
    unmet,
    prompt: { ...promptInput(deps, placement, tools, memory), unmet: unmetLines(unmet) },
    preloaded: loadPreloadedSkills(deps, agent),
    memory,
  };
}

/** Its notes are for whoever may read them. */
function promptNotes(
  { memory: source, redact }: SetupDeps,
  { agent, cwd, moment }: Placement,
  tools: readonly AnyTool[],
): PromptNotes | null {
  if (!tools.some(({ name }) => name === 'MemoryRead')) return null;
  return readPromptNotes({ source, redact, agent, cwd, moment });
}

/** Skill and RunTemplate are available only when there is one to call. */
function availableTools(deps: SetupDeps, rights: Rights): readonly AnyTool[] {
  const without = new Set<string>();
  if (findCallableSkills(deps, rights).skills.length === 0) without.add('Skill');
  if ((deps.templates ?? []).length === 0 || !deps.settings.taskTools) without.add('RunTemplate');
  return without.size === 0 ? deps.tools : deps.tools.filter(({ name }) => !without.has(name));
}

function promptInput(
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
    environment: {
      cwd,
      platform: deps.platform,
      date: localDay(deps.clock.now()),
    },
    ...(notes === null ? {} : { memory: notes.text }),
    context: contextFor(deps, placement),
  };
}

/** What a task with these tools would begin with, as things are now. */
export function currentPromptInput(
  deps: SetupDeps,
  placement: Placement,
  tools: readonly AnyTool[],
): PromptInput {
  return promptInput(deps, placement, tools, promptNotes(deps, placement, tools));
}

/** The tools of these names, in this order, as far as they exist and are switched on. */
export function selectTools(
  { settings, tools }: Pick<SetupDeps, 'settings' | 'tools'>,
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
export function findUnusableReason(
  agent: AgentDefinition,
  { tools, dropped }: AgentSetup,
): string | null {
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

function contextFor({ context, settings }: SetupDeps, { agent, cwd, isRoot }: Placement) {
  if (agent.contextFiles === false) return null;
  const whole = context?.of(cwd) ?? null;
  const isReusable = !isRoot && (agent.cache ?? settings.reusesResults);
  return whole !== null && isReusable ? removeGit(whole) : whole;
}
