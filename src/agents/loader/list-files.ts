import { realpathSync } from 'node:fs';
import { systemErrorCode } from '../../base/errors.ts';
import type { AgentFormat } from './kind.ts';
import type { Looks } from './path-cache.ts';
import type { Place } from '../place.ts';
import type { Surroundings } from './search-context.ts';
import { walkFiles, type FoundFile, type SkippedPath, type WalkOptions } from './walk.ts';

/** Directory entries that one discovery looks at. */
export const MAX_ENTRIES = 10_000;

export interface PlaceFiles {
  /** Real path that no link may lead out of. */
  readonly boundary: string;
  readonly files: readonly FoundFile[];
  readonly skipped: readonly SkippedPath[];
}

/** Where to look, and which of the files there count. */
export interface FilePlace extends Pick<Place, 'path' | 'boundary'> {
  readonly format: Pick<AgentFormat, 'accepts'> & Pick<WalkOptions, 'ownsDirectory'>;
}

/** What the places of one search have in common. */
export interface FileSearch {
  /** Directory entries that may still be looked at; counted down. */
  readonly budget: { entries: number };
  readonly looks: Looks;
}

export function newFileSearch({ looks }: Surroundings): FileSearch {
  return { budget: { entries: MAX_ENTRIES }, looks };
}

/** The files in a place whose names are those that count; none is opened. Undefined: no such place. */
export function filesIn(place: FilePlace, { budget, looks }: FileSearch): PlaceFiles | undefined {
  if (!looks.mayExist(place.path)) return undefined;
  const boundary = realDirectory(place.boundary);
  if (boundary === undefined) return undefined;
  const { accepts, ownsDirectory = false } = place.format;
  return { boundary, ...walkFiles(place.path, { accepts, ownsDirectory, boundary, budget }) };
}

/** What is in each of the places that are there, in their order. */
export function allFilesIn<P, F extends PlaceFiles>(
  places: readonly P[],
  around: Surroundings,
  filesOf: (place: P, search: FileSearch) => F | undefined,
): readonly (F & { readonly place: P })[] {
  const search = newFileSearch(around);
  return places.flatMap((place) => {
    const found = filesOf(place, search);
    return found === undefined ? [] : [{ ...found, place }];
  });
}

/** A file of a project, of those that a search looks for. */
export interface ProjectPlaceFile {
  readonly path: string;
  readonly boundary: string;
}

export interface ProjectPlaceFiles {
  readonly files: readonly ProjectPlaceFile[];
  readonly skipped: readonly SkippedPath[];
}

/** The files of those places that are the project's, in search order, and what cannot be one. */
export function projectFilesIn<P extends { readonly scope: string }>(
  places: readonly P[],
  around: Surroundings,
  filesOf: (place: P, search: FileSearch) => PlaceFiles | undefined,
): ProjectPlaceFiles {
  const ofProject = places.filter(({ scope }) => scope === 'project');
  const found = allFilesIn(ofProject, around, filesOf);
  return {
    files: found.flatMap(({ boundary, files }) => files.map(({ path }) => ({ path, boundary }))),
    skipped: found.flatMap(({ skipped }) => skipped),
  };
}

/** Undefined where it does not exist: then nothing in it does. */
function realDirectory(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}
