/** The scopes of notes: for the user in all projects, for everybody in a project, or for the user in one project. */
export const MEMORY_SCOPES = ['user', 'project', 'local'] as const;
/** The scopes of notes: for the user in all projects, for everybody in a project, or for the user in one project. */
export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/** The location of a directory of notes. */
export interface MemoryLocation {
  readonly scope: MemoryScope;
  /** The directory name of the agent that owns the notes; null if all agents with the memory tools share them. */
  readonly owner: string | null;
  /** The absolute path of the directory, with all links resolved. The directory may be missing. */
  readonly directory: string;
  /** A directory above `directory`, with all links resolved. No path between the two may be a link. */
  readonly base: string;
  /** The directory of all notes of the scope: a directory between `base` and `directory`, or `directory` itself. */
  readonly top: string;
}

/** The notes that a task may use. */
export interface MemoryPort {
  /**
   * Returns the location of the notes for a call. `scope`: the argument of the model. Throws MusterError for an invalid
   * scope, and for a scope to which the task has no right.
   */
  locate(tool: string, scope: string | undefined): MemoryLocation;
  /** Runs `work` while no other call, in any process, changes the directory. The directory must exist. */
  runLocked<T>(directory: string, work: () => Promise<T>): Promise<T>;
}
