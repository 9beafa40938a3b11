import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorMessage } from '../../base/errors.ts';
import { isInside } from '../../sys/paths.ts';
import {
  allFilesIn,
  filesIn,
  projectFilesIn,
  type FilePlace,
  type FileSearch,
  type ProjectPlaceFiles,
} from '../loader/list-files.ts';
import { MAX_AGENT_BYTES } from '../loader/read-text.ts';
import { filesStamp } from '../loader/fingerprint.ts';
import type { Surroundings } from '../loader/search-context.ts';
import type { FoundFile, SkippedPath } from '../loader/walk.ts';
import { skillPlaces, type SkillPlace } from './places.ts';

/** Bytes of one `SKILL.md`. */
export const MAX_SKILL_BYTES = MAX_AGENT_BYTES;

/** Which files are skills; all else in the folder of one belongs to it. */
export const SKILL_FORMAT: FilePlace['format'] = {
  accepts: (fileName) => fileName.toUpperCase() === 'SKILL.MD',
  ownsDirectory: true,
};

export interface FoundSkillFile extends FoundFile {
  /** Its folder, links resolved: the files in it are those of the skill. */
  readonly directory: string;
}

interface SkillFiles {
  /** Real path that no link may lead out of. */
  readonly boundary: string;
  readonly files: readonly FoundSkillFile[];
  readonly skipped: readonly SkippedPath[];
}

/** The skill files in a place; none is opened. Undefined: no such place. */
export function skillFilesIn(place: SkillPlace, search: FileSearch): SkillFiles | undefined {
  const found = filesIn({ ...place, format: SKILL_FORMAT }, search);
  if (found === undefined) return undefined;
  const files: FoundSkillFile[] = [];
  const skipped = [...found.skipped];
  for (const file of found.files) {
    const folder = folderOf(file, place);
    if (folder.ok) files.push({ ...file, directory: folder.directory });
    else skipped.push({ path: file.path, code: folder.code, reason: folder.reason });
  }
  return { boundary: found.boundary, files, skipped };
}

type Folder =
  | { readonly ok: true; readonly directory: string }
  | { readonly ok: false; readonly code: string; readonly reason: string };

/** Whoever uses a skill may read its folder: never one with more than that skill. */
function folderOf({ path }: FoundFile, { path: place, scope }: SkillPlace): Folder {
  const folder = dirname(path);
  // A plugin may name the folder of one skill.
  const isNamed = scope === 'plugin' && basename(place) !== 'skills';
  if (folder === place && !isNamed) {
    const reason = 'It lies in no folder of its own, which would name it. Move it into one.';
    return { ok: false, code: 'not-in-folder', reason };
  }
  try {
    const directory = realpathSync.native(folder);
    // Below the place by name and by truth: most are, and nothing more has to be asked.
    if (directory === folder || !isInside(directory, realpathSync.native(place))) {
      return { ok: true, directory };
    }
    const reason = `A link to ${directory}, which holds the other skills, too. Copy the skill there instead.`;
    return { ok: false, code: 'link-above', reason };
  } catch (error) {
    const reason = `Its folder cannot be found: ${errorMessage(error)}`;
    return { ok: false, code: 'unreadable', reason };
  }
}

/** The stamp (`newStamp`) of the skill files that could be used now. */
export function skillFilesStamp(around: Surroundings, others: readonly string[]): string {
  return filesStamp(allFilesIn(skillPlaces(around), around, skillFilesIn), others);
}

/** All skill files of the project, in search order, and what cannot be one. */
export function projectSkillFiles(around: Surroundings): ProjectPlaceFiles {
  return projectFilesIn(skillPlaces(around), around, skillFilesIn);
}
