/** A context file: a file whose text is part of prompts. */
export interface ContextFile {
  /** The name of the file in the prompt: its path relative to the working directory, or from `~`. */
  readonly name: string;
  /** The owner of the file. */
  readonly scope: 'project' | 'user';
  /** The name of the file that imports this file. Absent if no file imports it. */
  readonly importedBy?: string;
  /** The text for the prompt, in which control tags are not escaped yet. */
  readonly text: string;
  /** True if the text is only the beginning of the file, because there was no room for the rest. */
  readonly isCut: boolean;
}

/** The context that tasks in a directory get in addition to the path of the directory. */
export interface ProjectContext {
  /** An id that changes whenever any part of the context changes. */
  readonly id: string;
  /** The context files, those of outer directories first. If files contradict each other, the later file takes precedence. */
  readonly files: readonly ContextFile[];
  /** The names of the files that were left out because there was no room. */
  readonly leftOut: readonly string[];
  /** The state of the repository, as lines; null if there is no repository, or if its state could not be read in time. */
  readonly git: string | null;
}

/** The port through which the engine gets the context of a project. */
export interface ContextSource {
  /** Reads changed files again, if the last check was long enough ago. Called before a task is created. Never rejects. */
  refresh(): Promise<void>;
  /** Returns the context of a directory (absolute, real path); null: there is no context. Called for each task. */
  getContext(cwd: string): ProjectContext | null;
}
