import { join } from 'node:path';
import type { AgentDefinition, AgentProblem, AgentScope } from '../../protocol/agent.ts';
import type { UserDirectories } from './user-directories.ts';

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
