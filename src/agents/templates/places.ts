import { join } from 'node:path';
import type { TemplateDefinition } from '../../protocol/template.ts';
import {
  filesIn,
  projectFilesIn,
  type FilePlace,
  type FileSearch,
  type PlaceFiles,
  type ProjectPlaceFiles,
} from '../loader/list-files.ts';
import type { Surroundings } from '../loader/search-context.ts';
import { ownerOf } from '../loader/user-directories.ts';

/** A directory to look in. It need not exist. */
export interface TemplatePlace {
  readonly scope: Exclude<TemplateDefinition['scope'], 'builtin'>;
  readonly path: string;
  /** No file outside this directory is read, wherever a link leads. */
  readonly boundary: string;
}

/** The project's, the nearest directory first, then the user's. */
export function templatePlaces({
  user,
  chain,
  root: boundary,
}: Surroundings): readonly TemplatePlace[] {
  const own = join(user.config, 'muster', 'templates');
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
export function templateFilesIn(place: TemplatePlace, search: FileSearch): PlaceFiles | undefined {
  return filesIn({ ...place, format: FORMAT }, search);
}

/** All template files of the project, in search order, and what cannot be one. */
export function projectTemplateFiles(around: Surroundings): ProjectPlaceFiles {
  return projectFilesIn(templatePlaces(around), around, templateFilesIn);
}
