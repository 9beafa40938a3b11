import type { AgentDefinition } from '../protocol/agent.ts';
import type { Rights } from '../protocol/permission.ts';
import { CODE_TOOL, PATCH_TOOL } from '../protocol/file-tools.ts';
import type { OnAsk } from '../protocol/question.ts';
import type { ToolKind } from '../protocol/tool.ts';
import {
  CODE_SEARCH,
  CORE_TOOLS,
  MEMORY_TOOLS,
  PROGRAM_TOOLS,
  REMOTE_STEP,
  REMOTE_TOOLS,
  TOOL_NAMES,
  CONFIGURED_TOOLS,
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
  /** The canonical name. */
  readonly name: string;
  readonly kind: ToolKind;
}

export interface ToolViewRequest {
  /** The definition of the task, or null for a main agent without one. */
  readonly definition: AgentDefinition | null;
  /** The rights of the task itself, already attenuated. */
  readonly rights: Rights;
  /** Every tool that exists in this process, including those of trusted MCP servers. */
  readonly available: readonly AvailableTool[];
  /** The configured MCP servers. Default: none. */
  readonly servers?: readonly ConfiguredServer[];
  /** True if every agent gets Task, not only agents whose definition lists it. */
  readonly nested: boolean;
  /** True if the task is a main agent, which talks to the user. */
  readonly root: boolean;
  /** True if there is an agent that the task may delegate to. */
  readonly delegable: boolean;
  /**
   * True if a task with Read and Grep also gets the code search without requesting it, because the search shows no more
   * than these two tools. Default: false.
   */
  readonly addsCodeSearch?: boolean;
  /**
   * True if a task with Edit and Write also gets the tool that applies patches, because its model is trained to write
   * patches. Default: false.
   */
  readonly addsPatches?: boolean;
  /** The treatment of the task's questions. Default `deny`. */
  readonly onAsk?: OnAsk;
}

/** A configured MCP server. */
export interface ConfiguredServer {
  /** The part of the names of its tools: `mcp__PART__TOOL`. */
  readonly part: string;
  /** False if the server has never answered which tools it has. */
  readonly hasKnownTools: boolean;
  /** The reason why the server cannot be used, as a sentence. Default: it can. */
  readonly problem?: string;
}

/** A tool that was requested for the task but is not available to it. */
export interface DroppedTool {
  readonly name: string;
  /** The reason why the task does not get the tool, as a sentence. */
  readonly reason: string;
}

export interface ToolView {
  /** Canonical names, in request order. */
  readonly names: readonly string[];
  readonly dropped: readonly DroppedTool[];
}

const MAIN_TOOLS: readonly string[] = [...CORE_TOOLS, 'Task', 'TaskList'];

/**
 * Selects the tools of a task when it starts. The tools do not change later: every request of the task describes them,
 * and the task can call no others. Main agents and children are treated alike.
 */
export function createToolView(request: ToolViewRequest): ToolView {
  const byName = new Map(request.available.map((tool) => [tool.name, tool]));
  const names: string[] = [];
  const dropped: DroppedTool[] = [];
  const requested = listRequestedTools(request);
  const changesText = ['Edit', 'Write'].every((name) => requested.has(name));
  const patches = request.addsPatches === true && changesText ? [PATCH_TOOL] : [];
  for (const name of sortForRequest(new Set([...requested, ...patches]))) {
    const reason = explainDrop(name, byName.get(name), request);
    if (reason === undefined) names.push(name);
    else dropped.push({ name, reason });
  }
  const search = byName.get(CODE_SEARCH);
  const addsSearch =
    request.addsCodeSearch === true &&
    ['Read', 'Grep'].every((name) => names.includes(name)) &&
    !names.includes(CODE_SEARCH);
  if (addsSearch && explainDrop(CODE_SEARCH, search, request) === undefined)
    names.push(CODE_SEARCH);
  return { names, dropped };
}

/**
 * Lists the tools that the definition asks for. Patterns such as `mcp__SERVER__*` are replaced by the tools that they
 * match, if there are any.
 */
function listRequestedTools(request: ToolViewRequest): ReadonlySet<string> {
  const { definition, available, nested } = request;
  const servers = available.map((tool) => tool.name).filter((name) => name.startsWith(MCP));
  const code = available.some(({ name }) => name === CODE_TOOL) ? [CODE_TOOL] : [];
  // The tools that a program has brought along.
  const own = available
    .map((tool) => tool.name)
    .filter((name) => !name.startsWith(MCP) && !TOOL_NAMES.includes(name));
  if (definition === null) {
    const hasTemplates = available.some(({ name }) => name === 'RunTemplate');
    const templates = hasTemplates ? ['RunTemplate'] : [];
    const plans = canShowPlans(request) ? ['ExitPlanMode'] : [];
    return new Set([...MAIN_TOOLS, ...code, ...templates, ...plans, ...own, ...servers]);
  }
  // A definition that names the agents that it may delegate to asks for Task.
  if (definition.remote !== undefined) return listRemoteTools(definition);
  const namesAgents = (definition.delegatesTo ?? []).length > 0;
  const noteTools = definition.memory === undefined ? [] : MEMORY_TOOLS;
  if (definition.tools.mode !== 'allow') {
    const delegation = nested || namesAgents ? ['Task'] : [];
    return new Set([...CORE_TOOLS, ...code, ...delegation, ...noteTools, ...own, ...servers]);
  }
  const listed = definition.tools.names.flatMap((name) => {
    const covered = servers.filter((tool) => nameCovers(name, tool));
    return covered.length > 0 ? covered : [name];
  });
  const delegates = namesAgents || (nested && listed.length > 0);
  return new Set([...listed, ...(delegates ? ['Task'] : []), ...noteTools]);
}

/**
 * Lists the tools of a remote agent. A program that speaks ACP has those through which Muster reads and writes files and
 * runs commands for it, as far as its definition asks for them. A server has none.
 */
function listRemoteTools({ remote, tools }: AgentDefinition): ReadonlySet<string> {
  if (remote?.protocol !== 'acp') return new Set();
  const asked = tools.mode === 'allow' ? tools.names : PROGRAM_TOOLS;
  return new Set([...REMOTE_TOOLS, ...PROGRAM_TOOLS.filter((name) => asked.includes(name))]);
}

/**
 * Sorts Muster's own tools in their fixed order and the others by name, so that the requests of all runs are identical.
 */
function sortForRequest(names: ReadonlySet<string>): readonly string[] {
  const others = [...names].filter((name) => !TOOL_NAMES.includes(name));
  return [...TOOL_NAMES.filter((name) => names.has(name)), ...others.toSorted()];
}

const MCP = 'mcp__';

function explainDrop(
  name: string,
  tool: AvailableTool | undefined,
  request: ToolViewRequest,
): string | undefined {
  if (tool === undefined) {
    if (name.startsWith(MCP)) return explainMissingServerTool(name, request.servers ?? []);
    return CONFIGURED_TOOLS.get(name) ?? 'No such tool is available here.';
  }
  return (
    explainDenial(name, request) ?? explainPosition(name, request) ?? explainPlanMode(tool, request)
  );
}

/** Explains why no tool of an MCP server matches a name such as `mcp__SERVER__TOOL` or `mcp__SERVER__*`. */
function explainMissingServerTool(name: string, servers: readonly ConfiguredServer[]): string {
  const [part = ''] = name.slice(MCP.length).split('__');
  if (part.includes('*')) {
    return servers.length === 0 ? 'No MCP server is configured.' : 'No MCP server has such a tool.';
  }
  const server = servers.find((each) => each.part === part);
  if (server === undefined) return `No MCP server ${part} is configured.`;
  if (server.problem !== undefined) return server.problem;
  return server.hasKnownTools
    ? `The MCP server ${part} has no such tool.`
    : `The MCP server ${part} could not be asked for its tools.`;
}

/** Explains why rights deny a tool, as a sentence. Returns undefined if they do not. */
export function explainDenial(
  name: string,
  { definition, rights }: Pick<ToolViewRequest, 'definition' | 'rights'>,
): string | undefined {
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

/** The maximum number of agents that a reason names. */
const MAX_AGENT_NAMES = 8;

/** Explains why the position of the task in the tree of tasks excludes a tool. Returns undefined if it does not. */
function explainPosition(name: string, request: ToolViewRequest): string | undefined {
  const { definition, delegable, rights, root } = request;
  const delegates = name === 'Task' || name === 'RunTemplate';
  if (delegates && rights.depth >= rights.maxDepth) {
    return `At depth ${rights.depth} of at most ${rights.maxDepth} (max_depth) nothing more is delegated.`;
  }
  if (delegates && !delegable) {
    const named = definition?.delegatesTo ?? [];
    return named.length === 0
      ? 'Its definition names no agent that it may delegate to.'
      : `None of the agents that it may delegate to is here: ${named.slice(0, MAX_AGENT_NAMES).join(', ')}.`;
  }
  if (REMOTE_TOOLS.includes(name) && definition?.remote?.protocol !== 'acp') {
    return 'Only an agent whose work is done by a program that speaks ACP has it.';
  }
  if (name === 'AskUser' && !root) return 'Only the main agent asks the user.';
  if (name === 'AskUser' && rights.refusesQuestions === true) {
    return 'Its definition wants nothing asked of anybody.';
  }
  if (name === 'ExitPlanMode' && !canShowPlans(request)) {
    return 'Only a main agent shows a plan, where somebody is there to approve it.';
  }
  return undefined;
}

/**
 * Tells whether the task may have to show a plan to a person. A person who is present can set plan mode at any time; a
 * person who answers later cannot. An agent whose definition asks for plan mode never leaves plan mode.
 */
function canShowPlans({ definition, root, rights, onAsk }: ToolViewRequest): boolean {
  if (definition?.mode === 'plan') return false;
  return root && (onAsk === 'wait' || (onAsk === 'park' && rights.mode === 'plan'));
}

/** Explains why plan mode excludes a tool: plan mode would refuse every call. Returns undefined if it does not. */
function explainPlanMode(tool: AvailableTool, request: ToolViewRequest): string | undefined {
  if (request.rights.mode !== 'plan' || isCommandTool(tool.name)) return undefined;
  // The refusal of each call says why.
  if (tool.name === REMOTE_STEP) return undefined;
  // A person can let the task leave plan mode, and its tools do not change then.
  if (canShowPlans(request)) return undefined;
  return hasToolEffect(tool.kind) ? 'Plan mode changes nothing.' : undefined;
}
