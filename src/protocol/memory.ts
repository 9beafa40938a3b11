/** Whose notes: the user's in all projects; those of a project, shared by it; the user's own in that project. */
export const MEMORY_SCOPES = ['user', 'project', 'local'] as const;
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/** A directory of notes. */
export interface MemoryLocation {
  readonly scope: MemoryScope;
  /** The agent whose own it is, as its directory is called; null: all that have the tools share it. */
  readonly owner: string | null;
  /** Absolute, without links; it may be missing. */
  readonly directory: string;
  /** Above it, without links: none of the names from there on is a link. */
  readonly base: string;
  /** Between the two, or `directory` itself: what is of one scope, with all in it. */
  readonly top: string;
}

/** The notes that a task may reach. */
export interface MemoryPort {
  /**
   * Where a call of a tool goes; `scope` as the model wrote it. Throws MusterError for a wrong one, and
   * for one that the task has no right to.
   */
  place(tool: string, scope: string | undefined): MemoryLocation;
  /** Runs `work` while nobody else, in this process or another one, changes the directory, which exists. */
  locked<T>(directory: string, work: () => Promise<T>): Promise<T>;
}
