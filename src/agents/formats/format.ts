import type { AgentDefinition, AgentProblem, AgentScope } from '../../protocol/agent.ts';

/** A file as a format gets it: read whole, known to be text. */
export interface AgentFile {
  /** Absolute, or `builtin:NAME`. */
  readonly path: string;
  readonly scope: AgentScope;
  readonly text: string;
}

/**
 * What a file gave. `problems` are about what could not be loaded; what is worth telling about an
 * agent that did load stands in its own `problems`.
 */
export interface LoadedAgents {
  readonly items: readonly AgentDefinition[];
  readonly problems: readonly AgentProblem[];
}

/** One vendor's way of writing agents. */
export interface AgentFormat {
  readonly vendor: string;
  /** Whether a file of this name may hold agents of this format. */
  accepts(fileName: string): boolean;
  /** Never throws for what the file holds. */
  read(file: AgentFile): Promise<LoadedAgents>;
}
