import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, extname, isAbsolute, join } from 'node:path';
import { isInside } from '../base/path-inside.ts';
import { isExecutable } from '../sys/processes/find-program.ts';
import type { LanguageRow, ServerProgramRow } from './server-table.ts';

/** The circumstances in which programs are found. */
export interface ProgramSearch {
  /** The languages with their servers. The first one with the ending of a file is used. */
  readonly languages: readonly LanguageRow[];
  /** The user's PATH. */
  readonly path: string;
  /** The roots of the session, whose programs must be trusted. Absolute, without links. */
  readonly roots: readonly string[];
  /** True if the user trusts the programs of the project, and those that run code of the project. */
  readonly trustsProject: boolean;
}

/** A directory for whose files a program is searched, and the roots of the task that works there. */
export interface ProgramPlace {
  readonly directory: string;
  readonly roots: readonly string[];
}

/** A server that was found for a language. */
export interface LanguageServerProgram {
  readonly language: LanguageRow;
  readonly row: ServerProgramRow;
  /** The path of the program. */
  readonly file: string;
}

/** Finds the language of a file by its ending. */
export function findLanguage(
  path: string,
  { languages }: Pick<ProgramSearch, 'languages'>,
): LanguageRow | undefined {
  const ending = extname(path).toLowerCase();
  return languages.find(({ endings }) => Object.hasOwn(endings, ending));
}

/** Returns the language id of a file in the protocol. */
export function languageIdOf(path: string, { endings }: LanguageRow): string {
  return endings[extname(path).toLowerCase()] ?? 'plaintext';
}

/**
 * Finds the first server of a language that is installed: in the directories for programs of the project, if the user
 * trusts it, and then in PATH.
 */
export function findLanguageServer(
  language: LanguageRow,
  place: ProgramPlace,
  search: ProgramSearch,
): LanguageServerProgram | undefined {
  for (const row of language.servers) {
    if (row.runsProjectCode === true && !search.trustsProject) continue;
    const file = findInstalledProgram(row.program, place, search);
    if (file !== undefined && hasNeededFile(row, file, place)) return { language, row, file };
  }
  return undefined;
}

/**
 * Tells whether a server is installed for a language that the root of a workspace seems to use, because it contains one
 * of the files that mark a project of this language.
 */
export function hasLanguageServer(search: ProgramSearch): boolean {
  return search.roots.some((root) =>
    search.languages.some(
      (language) =>
        language.rootMarkers.some((marker) => existsSync(join(root, marker))) &&
        findLanguageServer(language, { directory: root, roots: search.roots }, search) !==
          undefined,
    ),
  );
}

/** Finds a program of the project, or in PATH. Programs inside the roots are found only if the project is trusted. */
export function findInstalledProgram(
  program: string,
  { directory, roots }: ProgramPlace,
  { path, roots: sessionRoots, trustsProject }: ProgramSearch,
): string | undefined {
  if (isAbsolute(program)) return isExecutable(program) ? program : undefined;
  const ofProject = trustsProject
    ? listDirectoriesUp(directory, roots).map((each) => join(each, 'node_modules/.bin'))
    : [];
  const inPath = path.split(delimiter).filter((each) => isAbsolute(each));
  return [...ofProject, ...inPath]
    .map((each) => join(each, program))
    .find(
      (file) =>
        isExecutable(file) && (trustsProject || !isInRoots(file, [...sessionRoots, ...roots])),
    );
}

function isInRoots(file: string, roots: readonly string[]): boolean {
  const real = realpathSync(file);
  return roots.some((root) => isInside(root, file) || isInside(root, real));
}

function hasNeededFile(
  { needs }: ServerProgramRow,
  file: string,
  { roots }: ProgramPlace,
): boolean {
  if (needs === undefined) return true;
  const { inProject, besideProgram } = needs;
  const candidates = [
    ...(inProject === undefined ? [] : roots.map((root) => join(root, inProject))),
    join(dirname(realpathSync(file)), besideProgram),
  ];
  return candidates.some((each) => existsSync(each));
}

/** Lists a directory and those above it, up to the root that contains it. */
export function listDirectoriesUp(directory: string, roots: readonly string[]): readonly string[] {
  const directories: string[] = [];
  for (let at = directory; roots.some((root) => isInside(root, at)); at = dirname(at)) {
    directories.push(at);
    if (at === dirname(at)) break;
  }
  return directories;
}

/** Returns the directory that a server gets as its root for a file in this directory. */
export function findProjectRoot(
  { root, rootMarkers }: LanguageRow,
  directory: string,
  roots: readonly string[],
): string {
  const directories = listDirectoriesUp(directory, roots);
  const top = directories.at(-1) ?? directory;
  if (root === 'workspace') return top;
  const marked = directories.filter((each) =>
    rootMarkers.some((marker) => existsSync(join(each, marker))),
  );
  return (root === 'nearest' ? marked[0] : marked.at(-1)) ?? top;
}
