import type { AgentDefinition, AgentProblem } from '../../protocol/agent.ts';
import { firstByName } from '../first-by-name.ts';
import type { LoadedAgents } from './kind.ts';
import type { SkippedPath } from './walk.ts';

/** An agent whose name another one has that was found before it. */
interface ShadowedAgent {
  readonly agent: AgentDefinition;
  /** The path of the one that counts. */
  readonly by: string;
}

export interface DiscoveredAgents {
  /** In search order; no two of the same name, case ignored. */
  readonly agents: readonly AgentDefinition[];
  readonly shadowed: readonly ShadowedAgent[];
  /**
   * Files that gave no agent, and why: documents, links out of the tree. The code of a project's file
   * that nobody has trusted is `untrusted`, and `changed` where its former content was.
   */
  readonly skipped: readonly SkippedPath[];
  /** Files that were meant as agents and could not be loaded. They are in `skipped`, too. */
  readonly problems: readonly AgentProblem[];
}

/** What a search has found so far. */
export interface Found {
  readonly agents: AgentDefinition[];
  readonly skipped: SkippedPath[];
  readonly problems: AgentProblem[];
}

/** Codes of what was never meant to be used: it is told as skipped alone. */
const MEANT_AS_NONE: ReadonlySet<string> = new Set(['not-an-agent', 'disabled']);

/** Takes what a file gave. */
export function collect(path: string, { items, problems }: LoadedAgents, into: Found): void {
  into.agents.push(...items);
  const [first] = problems;
  const skipped = problems.filter(
    (problem) => problem.code === 'disabled' || (items.length === 0 && problem === first),
  );
  into.skipped.push(...skipped.map(({ code, message }) => ({ path, code, reason: message })));
  into.problems.push(...problems.filter(({ code }) => !MEANT_AS_NONE.has(code)));
}

/** First wins by name, case ignored; what only changes another product's agent gives way. */
export function shadow({
  agents: found,
  skipped,
  problems,
}: Readonly<Omit<Found, 'agents'>> & {
  readonly agents: readonly AgentDefinition[];
}): DiscoveredAgents {
  const inOrder = [
    ...found.filter(({ changesOnly }) => changesOnly !== true),
    ...found.filter(({ changesOnly }) => changesOnly === true),
  ];
  const { first, later } = firstByName(inOrder);
  const shadowed = later.map(({ one, first: winner }) => ({ agent: one, by: winner.origin.path }));
  return { agents: first, shadowed, skipped, problems };
}
