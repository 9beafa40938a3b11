/** A file whose text is part of prompts. */
export interface ContextFile {
  /** The name in the prompt: the path from the directory, or from `~`. */
  readonly name: string;
  /** The owner of the file. */
  readonly scope: 'project' | 'user';
  /** The name of the file that imports it. Absent if it is read by its own name. */
  readonly importedBy?: string;
  /** The text as it is sent, except that control tags are not escaped yet. */
  readonly text: string;
  /** True if the text is only the beginning of the file, because there was no room for the rest. */
  readonly isCut: boolean;
}

/** The context that tasks in a directory get in addition to its path. */
export interface ProjectContext {
  /** An id that changes whenever any part of the context changes. */
  readonly id: string;
  /** The files of outer directories first. If files contradict each other, the later one takes precedence. */
  readonly files: readonly ContextFile[];
  /** Names of the files for which there was no room. */
  readonly leftOut: readonly string[];
  /** The state of the repository, in lines; null if there is no repository, or it could not be read in time. */
  readonly git: string | null;
}

/** The source from which engines get the context of a project. */
export interface ContextSource {
  /** Checks from time to time whether files have changed. Called before tasks are created. Never rejects. */
  refresh(): Promise<void>;
  /** Returns the present context of a directory (absolute, real); null if there is none. Called for each task. */
  getContext(cwd: string): ProjectContext | null;
}
