import type { DefinitionFormat } from './format.ts';
import type { FoundFile, SkippedPath } from './walk.ts';

/** A plugin of Claude Code that the user has installed and enabled. */
export interface InstalledPlugin {
  readonly name: string;
  /** The absolute path of its files. */
  readonly root: string;
}

/** A directory that is searched with everything below it, or a single file. It need not exist. */
export interface SearchPath<T> {
  readonly format: DefinitionFormat<T>;
  readonly scope: 'project' | 'user' | 'plugin';
  readonly path: string;
  /** No file outside this directory is read, wherever a link leads. */
  readonly boundary: string;
}

/** A kind of definition: the formats it is written in, the order in which they are searched, and its own rules. */
export interface DefinitionKind<T extends { readonly name: string }> {
  readonly name: 'agent' | 'skill' | 'template';
  /** The name of its folder in a plugin or an extension. */
  readonly folder: string;
  /**
   * Its formats in groups. The search goes through the project's directories of a group, then through the
   * user's, and then on to the next group.
   */
  readonly searchOrder: readonly (readonly DefinitionFormat<T>[])[];
  /**
   * The order of the project's directories within a group: `format` looks for one format in each directory,
   * the nearest first, before the next format; `directory` looks for all formats in the nearest directory
   * before the next directory.
   */
  readonly projectOrder: 'format' | 'directory';
  /** The most bytes that are read in one search. */
  readonly maxTotalBytes: number;
  /** Whether everything else in the folder of such a file belongs to it, so that the search ends there. */
  readonly ownsFolder: boolean;
  /** Returns the format for the files of a plugin. Absent: plugins have no such files. */
  readonly pluginFormat?: (plugin: InstalledPlugin) => DefinitionFormat<T>;
  /** Returns the file with what the search knows about it, or the reason why it is skipped. */
  readonly checkFile?: (file: FoundFile, searchPath: SearchPath<T>) => FoundFile | SkippedPath;
  /** Returns the path of the file that a definition comes from. */
  readonly pathOf: (item: T) => string;
  /** Returns the definitions that ship with Muster. */
  readonly loadBuiltins: () => Promise<readonly T[]>;
  /** Merges definitions of the same name that their vendor merges, too, before the first of them is chosen. */
  readonly merge?: (items: readonly T[]) => readonly T[];
  /** Whether a definition gives way to any other of its name, wherever it was found. */
  readonly yields?: (item: T) => boolean;
  readonly scan: ScanRules<T>;
}

/** The rules for a scan of a directory for definitions of a kind, wherever they lie in it. */
export interface ScanRules<T> {
  /**
   * Identifies the format of a file from its path, relative to `directory`, and its text, which is empty
   * where it could not be read.
   */
  readonly identify: (path: string, text: string, directory: string) => Promise<Identified<T>>;
  /** Whether definitions of the same name shadow each other. */
  readonly shadows: boolean;
}

export type Identified<T> =
  | { readonly kind: 'format'; readonly format: DefinitionFormat<T> }
  | { readonly kind: 'skipped'; readonly code: string; readonly reason: string }
  /** A file that nobody would expect in the list. */
  | { readonly kind: 'ignored' };
