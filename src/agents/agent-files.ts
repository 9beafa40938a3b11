import type { AgentFormat } from './loader/kind.ts';
import { allFilesIn, filesIn, type ProjectPlaceFile } from './loader/list-files.ts';
import { agentPlaces } from './loader/search-paths.ts';
import { filesStamp } from './loader/fingerprint.ts';
import type { Surroundings } from './loader/search-context.ts';
import type { SkippedPath } from './loader/walk.ts';

/**
 * The stamp of the agent files that could be used now: another one than before when one of them has come, gone
 * or been written.
 */
export function agentFilesStamp(around: Surroundings, others: readonly string[]): string {
  return filesStamp(allFilesIn(agentPlaces(around), around, filesIn), others);
}

/** A file of a project that may hold agents. */
export interface ProjectAgentFile extends ProjectPlaceFile {
  readonly format: AgentFormat;
}

/** All agent files of the project, in search order, and what cannot be one. */
export function projectAgentFiles(around: Surroundings): {
  readonly files: readonly ProjectAgentFile[];
  readonly skipped: readonly SkippedPath[];
} {
  const places = agentPlaces(around).filter(({ scope }) => scope === 'project');
  const found = allFilesIn(places, around, filesIn);
  return {
    files: found.flatMap(({ boundary, files, place: { format } }) =>
      files.map(({ path }) => ({ path, boundary, format })),
    ),
    skipped: found.flatMap(({ skipped }) => skipped),
  };
}
