import { join } from 'node:path';
import { isInside } from '../../base/path-inside.ts';
import { directoryNames } from '../../sys/files/path-lookup.ts';
import { isId } from '../../base/ids.ts';
import { readJournal, unfinishedDirectory, type LandingJournal } from './journal.ts';

/** A landing that is at work in another process, or whose process has died. */
export interface UnfinishedLanding extends Pick<LandingJournal, 'kind' | 'source' | 'startedAt'> {
  /** The task whose changes land. */
  readonly task: string;
  /** The directory of its workspace. */
  readonly directory: string;
}

/**
 * Lists the landings that are not finished. Throws MusterError if a journal is damaged.
 *
 * @param workspaces the directory of all workspaces
 */
export function listUnfinishedLandings(workspaces: string): readonly UnfinishedLanding[] {
  return directoryNames(workspaces)
    .filter(isId)
    .flatMap((task) => {
      const directory = join(workspaces, task);
      const journal = readJournal(unfinishedDirectory(directory));
      if (journal === null) return [];
      const { kind, source, startedAt } = journal;
      return [{ task, directory, kind, source, startedAt }];
    });
}

/** Returns a landing that is not finished and whose source overlaps with this one; null if there is none. */
export function findUnfinishedLanding(
  workspaces: string,
  source: string,
): UnfinishedLanding | null {
  const overlaps = (each: UnfinishedLanding) =>
    isInside(each.source, source) || isInside(source, each.source);
  return listUnfinishedLandings(workspaces).find(overlaps) ?? null;
}
