import type { AgentDefinition } from '../protocol/agent.ts';
import type { Rights } from '../protocol/permission.ts';
import type { OnAsk } from '../protocol/question.ts';
import type { ToolKind } from '../protocol/tool.ts';
import {
  CORE_TOOLS,
  MEMORY_TOOLS,
  OFFLINE_SEARCH,
  TOOL_NAMES,
  UNBUILT_TOOLS,
} from '../protocol/tool-names.ts';
import { explainClosedTool } from './call-limits.ts';
import { hasToolEffect, isCommandTool } from './tool-effects.ts';
import { citeRule } from './rules/rules.ts';
import {
  denialCovers,
  isToolDisallowed,
  coversWholeTool,
  nameCovers,
  ruleCovers,
} from './rules/tool-cover.ts';

export interface AvailableTool {
  /** Canonical. */
  readonly name: string;
  readonly kind: ToolKind;
}

export interface ToolViewRequest {
  /** Null: the main agent's own set. */
  readonly definition: AgentDefinition | null;
  /** The task's own rights, already attenuated. */
  readonly rights: Rights;
  /** Every tool that exists in this process, those of trusted MCP servers too. */
  readonly available: readonly AvailableTool[];
  /** Whether every agent gets Task, and not only those that list it. */
  readonly nested: boolean;
  /** Whether the task is a main agent, which talks to the user. */
  readonly root: boolean;
  /** Whether there is an agent that it may delegate to. */
  readonly delegable: boolean;
  /** What happens to its questions. Default `deny`. */
  readonly onAsk?: OnAsk;
}

/** A tool that was meant for the task and that it doesn't get. */
export interface DroppedTool {
  readonly name: string;
  /** One sentence. */
  readonly reason: string;
}

export interface ToolView {
  /** Canonical names, in request order. */
  readonly names: readonly string[];
  readonly dropped: readonly DroppedTool[];
}

const MAIN_TOOLS: readonly string[] = [...CORE_TOOLS, 'Task', 'TaskList'];

/**
 * The tools of a task, frozen when it starts: what stands in its requests and all that it may call. The
 * same for the main agent and for every child.
 */
export function createToolView(request: ToolViewRequest): ToolView {
  const byName = new Map(request.available.map((tool) => [tool.name, tool]));
  const names: string[] = [];
  const dropped: DroppedTool[] = [];
  for (const name of inRequestOrder(wantedTools(request))) {
    const reason = dropReason(name, byName.get(name), request);
    if (reason === undefined) names.push(name);
    else dropped.push({ name, reason });
  }
  // Nobody lists it: it shows no more than Read and Grep do, to an engine that needs no other.
  const [search, isFit] = [
    byName.get(OFFLINE_SEARCH),
    names.includes('Read') && names.includes('Grep'),
  ];
  if (search !== undefined && isFit && !names.includes(OFFLINE_SEARCH)) {
    if (dropReason(OFFLINE_SEARCH, search, request) === undefined) names.push(OFFLINE_SEARCH);
  }
  return { names, dropped };
}

/** What the definition asks for, patterns such as `mcp__SERVER__*` resolved where they can be. */
function wantedTools(request: ToolViewRequest): ReadonlySet<string> {
  const { definition, available, nested } = request;
  const servers = available.map((tool) => tool.name).filter((name) => name.startsWith('mcp__'));
  if (definition === null) {
    const forPlans = showsPlans(request) ? ['ExitPlanMode'] : [];
    const forTemplates = available.some(({ name }) => name === 'RunTemplate')
      ? ['RunTemplate']
      : [];
    return new Set([...MAIN_TOOLS, ...forTemplates, ...forPlans, ...servers]);
  }
  // To name agents that it may delegate to is to ask for Task.
  const namesAgents = (definition.delegatesTo ?? []).length > 0;
  const ownNotes = definition.memory === undefined ? [] : MEMORY_TOOLS;
  if (definition.tools.mode !== 'allow') {
    const delegation = nested || namesAgents ? ['Task'] : [];
    return new Set([...CORE_TOOLS, ...delegation, ...ownNotes, ...servers]);
  }
  const listed = definition.tools.names.flatMap((name) => {
    const covered = servers.filter((tool) => nameCovers(name, tool));
    return covered.length > 0 ? covered : [name];
  });
  const delegates = namesAgents || (nested && listed.length > 0);
  return new Set([...listed, ...(delegates ? ['Task'] : []), ...ownNotes]);
}

/** Muster's own tools in their fixed order, then the others by name: the same bytes for every run. */
function inRequestOrder(names: ReadonlySet<string>): readonly string[] {
  const others = [...names].filter((name) => !TOOL_NAMES.includes(name));
  return [...TOOL_NAMES.filter((name) => names.has(name)), ...others.toSorted()];
}

const UNBUILT = 'Muster does not have this tool yet.';

function dropReason(
  name: string,
  tool: AvailableTool | undefined,
  request: ToolViewRequest,
): string | undefined {
  if (tool === undefined) {
    return UNBUILT_TOOLS.has(name) ? UNBUILT : 'No such tool is available here.';
  }
  return deniedReason(name, request) ?? placeReason(name, request) ?? planReason(tool, request);
}

function deniedReason(name: string, { definition, rights }: ToolViewRequest): string | undefined {
  if (isToolDisallowed(rights, name)) {
    const ownDenials = [
      ...(definition?.disallowedTools ?? []),
      ...(definition?.tools.mode === 'deny' ? definition.tools.names : []),
    ];
    return ownDenials.some((denied) => denialCovers(denied, name))
      ? 'The definition itself denies it.'
      : 'A task above denies it.';
  }
  const rule = rights.rules.deny.find(
    (each) => coversWholeTool(each) && ruleCovers(each, name, 'narrow'),
  );
  if (rule !== undefined) return `The deny rule ${citeRule(rule)} forbids it.`;
  return explainClosedTool(name, rights, definition);
}

/** A definition can name any number of agents. */
const SHOWN_NAMES = 8;

/** What depends on where in the tree of tasks it stands. */
function placeReason(name: string, request: ToolViewRequest): string | undefined {
  const { definition, delegable, rights, root } = request;
  const delegates = name === 'Task' || name === 'RunTemplate';
  if (delegates && rights.depth >= rights.maxDepth) {
    return `At depth ${rights.depth} of at most ${rights.maxDepth} (max_depth) nothing more is delegated.`;
  }
  if (delegates && !delegable) {
    const named = definition?.delegatesTo ?? [];
    return named.length === 0
      ? 'Its definition names no agent that it may delegate to.'
      : `None of the agents that it may delegate to is here: ${named.slice(0, SHOWN_NAMES).join(', ')}.`;
  }
  if (name === 'AskUser' && !root) return 'Only the main agent asks the user.';
  if (name === 'AskUser' && rights.refusesQuestions === true) {
    return 'Its definition wants nothing asked of anybody.';
  }
  if (name === 'ExitPlanMode' && !showsPlans(request)) {
    return 'Only a main agent shows a plan, where somebody is there to approve it.';
  }
  return undefined;
}

/**
 * Whoever is there can set plan mode at any time; whoever answers later does not. One whose definition wants plan
 * mode can't be let out of it.
 */
function showsPlans({ definition, root, rights, onAsk }: ToolViewRequest): boolean {
  if (definition?.mode === 'plan') return false;
  return root && (onAsk === 'wait' || (onAsk === 'park' && rights.mode === 'plan'));
}

/** What plan mode refuses in every case is not even offered. */
function planReason(tool: AvailableTool, request: ToolViewRequest): string | undefined {
  if (request.rights.mode !== 'plan' || isCommandTool(tool.name)) return undefined;
  // A person can let it leave plan mode, and its tools are frozen.
  if (showsPlans(request)) return undefined;
  return hasToolEffect(tool.name, tool.kind) ? 'Plan mode changes nothing.' : undefined;
}
