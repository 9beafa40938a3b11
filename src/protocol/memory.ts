/** The owners of notes: the user in all projects, everybody in a project, or the user in that project. */
export const MEMORY_SCOPES = ['user', 'project', 'local'] as const;
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/** The location of a directory of notes. */
export interface MemoryLocation {
  readonly scope: MemoryScope;
  /** The agent that owns it, in the form of its directory name; null if all agents with the tools share it. */
  readonly owner: string | null;
  /** Absolute, without links; it may be missing. */
  readonly directory: string;
  /** A directory above it, without links. None of the names below it is a link. */
  readonly base: string;
  /** The directory of all notes of one scope: between the two, or `directory` itself. */
  readonly top: string;
}

/** The notes that a task may use. */
export interface MemoryPort {
  /**
   * Returns the directory for a call; `scope` is the argument of the model. Throws MusterError for an invalid
   * scope, and for one that the task has no right to.
   */
  place(tool: string, scope: string | undefined): MemoryLocation;
  /** Runs `work` while nobody else, in this process or another one, changes the directory, which exists. */
  locked<T>(directory: string, work: () => Promise<T>): Promise<T>;
}
