import { join } from 'node:path';
import type { AgentDefinition, AgentProblem, AgentScope } from '../../protocol/agent.ts';
import type { UserDirectories } from './search-context.ts';
import type { FoundFile, SkippedPath } from './walk.ts';

/** A file that may hold definitions, read in full and known to be text. */
export interface DefinitionFile {
  /** Absolute, or `builtin:NAME`. */
  readonly path: string;
  readonly scope: AgentScope;
  readonly text: string;
  /** The real path of its folder. Default: the folder in `path`. */
  readonly directory?: string;
  /**
   * Returns the text of another file that this one refers to, by its absolute path. That file must be
   * trusted as this one is. Default: no other file can be read.
   */
  readonly readReferenced?: (path: string) => ReferencedText;
}

/** The text of a file that a definition refers to, or the reason, in sentences, why it cannot be read. */
export type ReferencedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The definitions that one file holds. `problems` lists what could not be loaded; a warning about a definition
 * that did load is in the `problems` of that definition.
 */
export interface FileDefinitions<T = AgentDefinition> {
  readonly items: readonly T[];
  readonly problems: readonly AgentProblem[];
}

/** The directories, searched with everything below them, and single files in which a vendor keeps one kind of definition. */
export interface Locations {
  /**
   * Relative paths that are looked up in each directory from the working directory to the root of the
   * repository. An earlier one has precedence.
   */
  readonly project: readonly string[];
  /** Returns the absolute paths of the user's own. An earlier one has precedence. */
  readonly user: (user: UserDirectories) => readonly string[];
  /** Returns the directory that holds the user's extensions, each with a folder for this kind. Default: there are none. */
  readonly extensions?: (user: UserDirectories) => string;
}

/**
 * Returns the locations of a vendor that has a directory in a project and one in the user's home.
 * @param home returns the user's directory of the vendor. Default: the directory of the same name in the home directory
 */
export function vendorLocations(
  directory: string,
  folder: string,
  home: (user: UserDirectories) => string = (user) => join(user.home, directory),
): Locations {
  return { project: [`${directory}/${folder}`], user: (user) => [join(home(user), folder)] };
}

/** Returns the locations of a product whose user directory is a folder in `~/.config`. */
export function configLocations(product: string, folder: string): Locations {
  return {
    project: [`.${product}/${folder}`],
    user: ({ config }) => [join(config, product, folder)],
  };
}

/** Reads the files of one format. */
export interface FormatReader<T = AgentDefinition> {
  /** Never throws because of the content of the file. */
  read(file: DefinitionFile): Promise<FileDefinitions<T>>;
  /** Returns the absolute paths of the files that this one refers to. Default: none. */
  referencedFiles?(path: string, text: string): readonly string[];
}

/** A vendor's way of writing one kind of definition. */
export interface DefinitionFormat<T = AgentDefinition> {
  readonly vendor: string;
  readonly locations: Locations;
  /** Whether a file of this name may hold definitions in this format. */
  accepts(fileName: string): boolean;
  /** Never throws because of the content of the file. */
  read(file: DefinitionFile): Promise<FileDefinitions<T>>;
  /**
   * Returns the absolute paths of the files whose text is used by the definitions in this file. Each of them
   * must be trusted as well. Never throws because of the content of the file.
   */
  referencedFiles(path: string, text: string): Promise<readonly string[]>;
}

export interface FormatOptions<T> extends Pick<
  DefinitionFormat<T>,
  'vendor' | 'locations' | 'accepts'
> {
  /** Loads the reader. It is called when the first file is read: most projects have no file in most formats. */
  readonly loadReader: () => Promise<FormatReader<T>> | FormatReader<T>;
}

export function defineFormat<T = AgentDefinition>({
  loadReader,
  ...format
}: FormatOptions<T>): DefinitionFormat<T> {
  let reader: FormatReader<T> | undefined;
  // Importing a module again costs as much as reading a small file, so the reader is kept.
  const load = async (): Promise<FormatReader<T>> => (reader ??= await loadReader());
  return {
    ...format,
    read: async (file) => (reader ?? (await load())).read(file),
    referencedFiles: async (path, text) => (await load()).referencedFiles?.(path, text) ?? [],
  };
}

export function isMarkdown(path: string): boolean {
  return path.toLowerCase().endsWith('.md');
}

export function isJson(path: string): boolean {
  return path.toLowerCase().endsWith('.json');
}

export function isToml(path: string): boolean {
  return path.toLowerCase().endsWith('.toml');
}

export function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

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
  /** The maximum number of bytes that are read in one search. */
  readonly maxTotalBytes: number;
  /** Whether everything else in the folder of such a file belongs to it, so that the search ends there. */
  readonly ownsFolder: boolean;
  /** Returns the format for the files of a plugin. Default: plugins have no such files. */
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
  readonly givesWay?: (item: T) => boolean;
  readonly scan: ScanRules<T>;
}

/** The rules for a scan of a directory for definitions of a kind, wherever they lie in it. */
interface ScanRules<T> {
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
