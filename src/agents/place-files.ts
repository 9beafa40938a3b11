import { realpathSync } from 'node:fs';
import { systemErrorCode } from '../base/errors.ts';
import type { Environment } from '../sys/env.ts';
import type { AgentFormat } from './formats/format.ts';
import { mayExist } from './may-exist.ts';
import type { Place } from './place.ts';
import { agentPlaces } from './places.ts';
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

/** The files in a place whose names are those that count; none is opened. Undefined: no such place. */
export function filesIn(place: FilePlace, budget: { entries: number }): PlaceFiles | undefined {
  if (!mayExist(place.path)) return undefined;
  const boundary = realDirectory(place.boundary);
  if (boundary === undefined) return undefined;
  const { accepts, ownsDirectory = false } = place.format;
  return { boundary, ...walkFiles(place.path, { accepts, ownsDirectory, boundary, budget }) };
}

/** A file of a project that may hold agents. */
export interface ProjectAgentFile {
  readonly path: string;
  readonly boundary: string;
  readonly format: AgentFormat;
}

/** All agent files of the project that `cwd` lies in, in search order, and what cannot be one. */
export function projectAgentFiles(
  cwd: string,
  environment: Environment,
): { readonly files: readonly ProjectAgentFile[]; readonly skipped: readonly SkippedPath[] } {
  const budget = { entries: MAX_ENTRIES };
  const found = agentPlaces(cwd, environment)
    .filter(({ scope }) => scope === 'project')
    .map(({ format, ...place }) => ({ format, in: filesIn({ format, ...place }, budget) }));
  return {
    files: found.flatMap(({ format, in: place }) =>
      (place?.files ?? []).map(({ path }) => ({ path, boundary: place?.boundary ?? '', format })),
    ),
    skipped: found.flatMap(({ in: place }) => place?.skipped ?? []),
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
