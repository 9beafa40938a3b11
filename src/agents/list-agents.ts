import { createHash } from 'node:crypto';
import type { AgentDefinition, AgentOrigin, AgentProblem } from '../protocol/agent.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import { agentId, findIdClashes } from './agent-id.ts';
import {
  listDefinitions,
  type DiscoveryResult,
  type ListingState,
} from './loader/discovery-result.ts';
import { normalizeLineEnds } from './parsing/split-front-matter.ts';
import type { SkippedPath } from './loader/walk.ts';

/** An agent as `agents list --json` prints it. */
interface AgentListing
  extends
    ListingState,
    AgentOrigin,
    Pick<AgentDefinition, 'name' | 'aliases' | 'description' | 'tools' | 'limitedTools'>,
    Pick<AgentDefinition, 'disallowedTools' | 'permissionMode' | 'memory'> {
  /** The name by which people and models call the agent, unless a warning says that the name means another agent. */
  readonly id: string;
  readonly model: string | null;
  /** The mode that the agent gets if the main agent delegates to it. */
  readonly effectiveMode: PermissionMode;
  readonly maxTurns: number | null;
  /** The SHA-256 hash of the prompt in hexadecimal. The prompt is trimmed, and its line ends are `\n`. */
  readonly promptSha256: string;
  readonly warnings: readonly AgentProblem[];
}

export interface AgentListings {
  /** All agents, the shadowed ones last. */
  readonly agents: readonly AgentListing[];
  readonly skipped: readonly SkippedPath[];
  readonly problems: readonly AgentProblem[];
}

export interface AgentListingOptions {
  /** Returns the mode that an agent gets when the main agent delegates to it. */
  readonly effectiveMode: (agent: AgentDefinition) => PermissionMode;
}

export function listAgents(
  found: DiscoveryResult<AgentDefinition>,
  options: AgentListingOptions,
): AgentListings {
  const clashes = findIdClashes(found.items);
  const describeItem = (agent: AgentDefinition) =>
    describeAgent(addProblem(agent, clashes.get(agent)), options);
  return {
    agents: listDefinitions(found, ({ origin }) => origin.path, describeItem),
    skipped: found.skipped,
    problems: found.problems,
  };
}

function addProblem(agent: AgentDefinition, problem: AgentProblem | undefined): AgentDefinition {
  return problem === undefined ? agent : { ...agent, problems: [...agent.problems, problem] };
}

function describeAgent(
  agent: AgentDefinition,
  options: AgentListingOptions,
): Omit<AgentListing, keyof ListingState> {
  return {
    path: agent.origin.path,
    name: agent.name,
    id: agentId(agent),
    aliases: agent.aliases,
    description: agent.description,
    tools: { mode: agent.tools.mode, names: toListedNames(agent.tools.names) },
    ...(agent.limitedTools === undefined ? {} : { limitedTools: agent.limitedTools }),
    disallowedTools: toListedNames(agent.disallowedTools),
    model: agent.remote?.protocol ?? agent.model ?? null,
    permissionMode: agent.permissionMode,
    effectiveMode: options.effectiveMode(agent),
    maxTurns: agent.limits.maxTurns ?? null,
    ...(agent.memory === undefined ? {} : { memory: agent.memory }),
    promptSha256: promptSha256(agent.prompt),
    warnings: agent.problems,
    scope: agent.origin.scope,
    vendor: agent.origin.vendor,
  };
}

/**
 * The names of some tools in listings. They are the names in Claude Code's format, in which most agents are written.
 */
const LISTED_NAMES: ReadonlyMap<string, string> = new Map([
  ['MultiEdit', 'Edit'],
  ['AskUser', 'AskUserQuestion'],
  ['TaskOutput', 'BashOutput'],
  ['TaskStop', 'KillShell'],
]);

function toListedNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => LISTED_NAMES.get(name) ?? name))];
}

function promptSha256(prompt: string): string {
  const text = normalizeLineEnds(prompt).trim();
  return createHash('sha256').update(text).digest('hex');
}
