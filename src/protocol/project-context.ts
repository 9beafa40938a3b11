/** A file whose text stands in prompts. */
export interface ContextFile {
  /** What the prompt calls it: from the directory, or from `~`. */
  readonly name: string;
  /** Whose it is. */
  readonly scope: 'project' | 'user';
  /** The name of the file whose import brought it in; absent: it is read by its own name. */
  readonly importedBy?: string;
  /** As it is sent, but for control tags, which are still as they stood. */
  readonly text: string;
  /** Whether it goes on in the file, for want of room. */
  readonly isCut: boolean;
}

/** What tasks in a directory are told of it, beside its path. */
export interface ProjectContext {
  /** Another one when anything of it is another. */
  readonly id: string;
  /** The outermost first: where they differ, a later one goes before. */
  readonly files: readonly ContextFile[];
  /** Names of those for which there was no room. */
  readonly leftOut: readonly string[];
  /** How the repository stood, in lines; null: there is none, or it was not told in time. */
  readonly git: string | null;
}

/** Where engines get it from. */
export interface ContextSource {
  /** Looks whether files have changed, now and then; called before tasks are made. Never rejects. */
  refresh(): Promise<void>;
  /** As it is now, of a directory (absolute, real); null: there is nothing to tell. Called for each task. */
  of(cwd: string): ProjectContext | null;
}
