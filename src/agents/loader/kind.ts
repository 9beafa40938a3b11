import type { AgentDefinition, AgentProblem, AgentScope } from '../../protocol/agent.ts';
import type { UserDirectories } from './user-directories.ts';

/** A file as a format gets it: read whole, known to be text. */
export interface AgentFile {
  /** Absolute, or `builtin:NAME`. */
  readonly path: string;
  readonly scope: AgentScope;
  readonly text: string;
  /**
   * The text of another file that this one names, by its absolute path: only what is trusted as this
   * file is. Absent: none can be had.
   */
  readonly beside?: (path: string) => TextBeside;
}

export type TextBeside =
  | { readonly ok: true; readonly text: string }
  /** `reason`: sentences. */
  | { readonly ok: false; readonly reason: string };

/**
 * What a file gave. `problems` are about what could not be loaded; what is worth telling about an
 * agent that did load stands in its own `problems`.
 */
export interface LoadedAgents {
  readonly items: readonly AgentDefinition[];
  readonly problems: readonly AgentProblem[];
}

/** Where a vendor's files lie: directories, searched with all below them, or single files. */
export interface FormatPlaces {
  /** Below each directory from the working directory up to the repository's root; the first goes first. */
  readonly project: readonly string[];
  /** The user's own, absolute. */
  readonly user: (user: UserDirectories) => readonly string[];
}

/** One vendor's way of writing agents. */
export interface AgentFormat {
  readonly vendor: string;
  readonly places: FormatPlaces;
  /** Whether a file of this name may hold agents of this format. */
  accepts(fileName: string): boolean;
  /** Never throws for what the file holds. */
  read(file: AgentFile): Promise<LoadedAgents>;
  /**
   * Absolute paths of the files whose text a file takes for its agents, each to be trusted like itself.
   * Never throws for what the file holds.
   */
  filesBeside(path: string, text: string): Promise<readonly string[]>;
}

/** How the files of a format are read: what nobody needs who has none of them. */
export interface AgentReader {
  read(file: AgentFile): Promise<LoadedAgents>;
  /** Default: none. */
  filesBeside?(path: string, text: string): readonly string[];
}
