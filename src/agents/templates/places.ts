import { join } from 'node:path';
import type { TemplateDefinition } from '../../protocol/template.ts';
import type { Environment } from '../../sys/env.ts';
import { projectDirectories } from '../../sys/project-directories.ts';
import { filesIn, MAX_ENTRIES, type FilePlace, type PlaceFiles } from '../place-files.ts';
import type { SkippedPath } from '../walk.ts';
import { ownerOf, userDirectories } from '../user-directories.ts';

/** A directory to look in. It need not exist. */
export interface TemplatePlace {
  readonly scope: Exclude<TemplateDefinition['scope'], 'builtin'>;
  readonly path: string;
  /** No file outside this directory is read, wherever a link leads. */
  readonly boundary: string;
}

/** The project's, the nearest directory first, then the user's. `cwd` is absolute. Looks for `.git`. */
export function templatePlaces(cwd: string, environment: Environment): readonly TemplatePlace[] {
  const user = userDirectories(environment);
  const own = join(user.config, 'muster', 'templates');
  const chain = projectDirectories(cwd);
  const boundary = chain.at(-1) ?? cwd;
  const inProject = chain
    .map((directory) => join(directory, '.muster', 'templates'))
    .filter((path) => path !== own)
    .map((path): TemplatePlace => ({ scope: 'project', path, boundary }));
  return [...inProject, { path: own, ...ownerOf(own, user, boundary) }];
}

const FORMAT: FilePlace['format'] = {
  accepts: (fileName) => /\.md$/i.test(fileName) && !/^readme\.md$/i.test(fileName),
};

/** The files in a place; none is opened. Undefined: no such place. */
export function templateFilesIn(
  place: TemplatePlace,
  budget: { entries: number },
): PlaceFiles | undefined {
  return filesIn({ ...place, format: FORMAT }, budget);
}

/** All template files of the project that `cwd` lies in, in search order, and what cannot be one. */
export function projectTemplateFiles(
  cwd: string,
  environment: Environment,
): {
  readonly files: readonly { readonly path: string; readonly boundary: string }[];
  readonly skipped: readonly SkippedPath[];
} {
  const budget = { entries: MAX_ENTRIES };
  const found = templatePlaces(cwd, environment)
    .filter(({ scope }) => scope === 'project')
    .flatMap((place) => templateFilesIn(place, budget) ?? []);
  return {
    files: found.flatMap(({ boundary, files }) => files.map(({ path }) => ({ path, boundary }))),
    skipped: found.flatMap(({ skipped }) => skipped),
  };
}
