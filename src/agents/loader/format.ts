import { join } from 'node:path';
import type { AgentDefinition, AgentProblem, AgentScope } from '../../protocol/agent.ts';
import type { InstalledPlugin, UserDirectories } from './search-context.ts';
import type { FoundFile, SkippedPath } from './walk.ts';

/** A text file that may contain definitions. */
export interface DefinitionFile {
  /** The absolute path, or `builtin:NAME`. */
  readonly path: string;
  readonly scope: AgentScope;
  readonly text: string;
  /** The real path of the file's directory. Default: the directory in `path`. */
  readonly directory?: string;
  /** The name that the location of the file gives its definition. Default: the name of the file. */
  readonly locatedName?: string;
  /**
   * Returns the text of another file that this file refers to, by its absolute path. The other file needs the same
   * trust as this file. Default: no other file can be read.
   */
  readonly readReferenced?: (path: string) => ReferencedText;
}

/** The text of a file that a definition refers to, or the reason, in sentences, why it cannot be read. */
export type ReferencedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The definitions in one file. `problems` lists the parts of the file that could not be loaded. Warnings about a loaded
 * definition are in the `problems` of the definition itself.
 */
export interface FileDefinitions<T = AgentDefinition> {
  readonly items: readonly T[];
  readonly problems: readonly AgentProblem[];
}

/**
 * The locations in which a vendor keeps one kind of definition. A location is a single file, or a directory that is
 * searched with all its subdirectories.
 */
export interface Locations {
  /**
   * The relative paths that are searched in each directory from the working directory to the root of the repository.
   * Earlier paths have precedence.
   */
  readonly project: readonly string[];
  /** Returns the absolute paths of the user's own locations. Earlier paths have precedence. */
  readonly user: (user: UserDirectories) => readonly string[];
  /**
   * Returns the directory with the user's extensions, each of which has a subdirectory for this kind. Default: there
   * are no extensions.
   */
  readonly extensions?: (user: UserDirectories) => string;
}

/**
 * Returns the locations of a vendor that has a directory in projects and a directory in the user's home.
 *
 * @param home returns the user's directory of the vendor. Default: the directory of the same name in the home directory
 */
export function vendorLocations(
  directory: string,
  folder: string,
  home: (user: UserDirectories) => string = (user) => join(user.home, directory),
): Locations {
  return { project: [`${directory}/${folder}`], user: (user) => [join(home(user), folder)] };
}

/** Returns the locations of a product whose user directory is in `~/.config`. */
export function configLocations(product: string, folder: string): Locations {
  return {
    project: [`.${product}/${folder}`],
    user: ({ config }) => [join(config, product, folder)],
  };
}

/** Reads the files of one format. */
export interface FormatReader<T = AgentDefinition> {
  /** Reads the definitions of a file. Never throws because of the content of the file. */
  read(file: DefinitionFile): Promise<FileDefinitions<T>>;
  /** Returns the absolute paths of the files that this file refers to. Default: none. */
  referencedFiles?(path: string, text: string): readonly string[];
}

/** A vendor's format for one kind of definition. */
export interface DefinitionFormat<T = AgentDefinition> {
  readonly vendor: string;
  readonly locations: Locations;
  /** Returns whether a file with this name may contain definitions in this format. */
  accepts(fileName: string): boolean;
  /** Never throws because of the content of the file. */
  read(file: DefinitionFile): Promise<FileDefinitions<T>>;
  /**
   * Returns the absolute paths of the files whose text the definitions in this file use. Each of these files must be
   * trusted, too. Never throws because of the content of the file.
   */
  referencedFiles(path: string, text: string): Promise<readonly string[]>;
}

export interface FormatOptions<T> extends Pick<
  DefinitionFormat<T>,
  'vendor' | 'locations' | 'accepts'
> {
  /**
   * Loads the reader. It is called only when the first file is read, because most projects have files in only a few
   * formats.
   */
  readonly loadReader: () => Promise<FormatReader<T>> | FormatReader<T>;
}

export function defineFormat<T = AgentDefinition>({
  loadReader,
  ...format
}: FormatOptions<T>): DefinitionFormat<T> {
  let reader: FormatReader<T> | undefined;
  // The reader is cached, because importing a module again costs as much as reading a small file.
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

/** A directory that is searched with all its subdirectories, or a single file. It need not exist. */
export interface SearchPath<T> {
  readonly format: DefinitionFormat<T>;
  readonly scope: 'project' | 'user' | 'plugin';
  readonly path: string;
  /** The directory that files must be in. A link that leads out of it is not followed. */
  readonly boundary: string;
}

/** A kind of definition: its formats, the order in which they are searched, and the rules for this kind. */
export interface DefinitionKind<T extends { readonly name: string }> {
  readonly name: 'agent' | 'skill' | 'template' | 'command';
  /** The name of the directory for this kind in a plugin or an extension. */
  readonly folder: string;
  /** The formats in groups. For each group, the project's directories are searched first, and then the user's. */
  readonly searchOrder: readonly (readonly DefinitionFormat<T>[])[];
  /**
   * The order of the project's directories within a group. With `format`, all directories (the nearest first) are
   * searched for one format before the next format. With `directory`, the nearest directory is searched for all formats
   * before the next directory.
   */
  readonly projectOrder: 'format' | 'directory';
  /** The maximum number of bytes that are read in one search. */
  readonly maxTotalBytes: number;
  /**
   * Whether everything else in the directory of a definition's file belongs to the definition, so that its
   * subdirectories are not searched.
   */
  readonly ownsFolder: boolean;
  /** Returns the format for the files of a plugin. Default: plugins have no such files. */
  readonly pluginFormat?: (plugin: InstalledPlugin) => DefinitionFormat<T>;
  /** Checks a found file. Returns the file, possibly with additional data, or the reason why it is skipped. */
  readonly checkFile?: (file: FoundFile, searchPath: SearchPath<T>) => FoundFile | SkippedPath;
  /** Returns the path of the file that a definition comes from. */
  readonly pathOf: (item: T) => string;
  /** Returns the definitions that ship with Muster. */
  readonly loadBuiltins: () => Promise<readonly T[]>;
  /** Merges definitions with the same name if their vendor merges them, too. Then the first one is chosen. */
  readonly merge?: (items: readonly T[]) => readonly T[];
  /**
   * Returns whether any other definition with the same name has precedence over a definition, regardless of the search
   * order.
   */
  readonly givesWay?: (item: T) => boolean;
  readonly scan: ScanRules<T>;
}

/** The rules for a scan that finds definitions of a kind anywhere in a directory. */
interface ScanRules<T> {
  /**
   * Identifies the format of a file by its path (relative to `directory`) and its text. The text is empty if the file
   * could not be read.
   */
  readonly identify: (path: string, text: string, directory: string) => Promise<Identified<T>>;
  /** Whether definitions with the same name shadow each other. */
  readonly shadows: boolean;
}

/** The result of identifying a file in a scan. */
export type Identified<T> =
  | { readonly kind: 'format'; readonly format: DefinitionFormat<T> }
  | { readonly kind: 'skipped'; readonly code: string; readonly reason: string }
  /** The file is not a definition, and is not listed as skipped. */
  | { readonly kind: 'ignored' };
