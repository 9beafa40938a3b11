import { join } from 'node:path';
import { catchMusterError, MusterError } from '../../base/errors.ts';
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

/** A landing that is not finished and whose journal cannot be read. It blocks only its own workspace. */
export interface DamagedLanding {
  readonly task: string;
  readonly problem: string;
}

/**
 * Lists the landings that are not finished, except those whose journal is damaged.
 *
 * @param workspaces the directory of all workspaces
 */
export function listUnfinishedLandings(workspaces: string): readonly UnfinishedLanding[] {
  return readUnfinished(workspaces).flatMap(({ task, directory, journal }) => {
    if (journal instanceof MusterError) return [];
    const { kind, source, startedAt } = journal;
    return [{ task, directory, kind, source, startedAt }];
  });
}

/** Lists the landings that are not finished and whose journal cannot be read. */
export function listDamagedLandings(workspaces: string): readonly DamagedLanding[] {
  return readUnfinished(workspaces).flatMap(({ task, journal }) =>
    journal instanceof MusterError ? [{ task, problem: journal.message }] : [],
  );
}

interface FoundJournal {
  readonly task: string;
  readonly directory: string;
  /** The journal, or the reason why it cannot be read. */
  readonly journal: LandingJournal | MusterError;
}

function readUnfinished(workspaces: string): readonly FoundJournal[] {
  return directoryNames(workspaces)
    .filter(isId)
    .flatMap((task) => {
      const directory = join(workspaces, task);
      const journal = catchMusterError(() => readJournal(unfinishedDirectory(directory)));
      return journal === null ? [] : [{ task, directory, journal }];
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
