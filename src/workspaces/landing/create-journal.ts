import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { isSameState, type PathDifference, type PathState } from '../difference.ts';
import { listParents, listRemoved, listWritten } from '../merge/find-obstacle.ts';
import {
  writeJournal,
  type LandingJournal,
  type JournalWrite,
  type StoredState,
} from './journal.ts';
import type { LandingPlan } from './plan-landing.ts';
import { adaptMode, inspectSourceEntry, readSourceEntry, type SourceEntry } from './source-tree.ts';

/** The properties of a landing that do not follow from its plan. */
export type JournalOptions = Pick<
  LandingJournal,
  'kind' | 'undoes' | 'repeats' | 'removableDirectories' | 'git'
>;

/**
 * Checks that the source still is as the plan says, and writes the journal of the landing. Throws MusterError; CONFLICT if
 * the source has changed since, PERMISSION_DENIED for a read-only file.
 */
export async function createJournal(
  directory: string,
  plan: LandingPlan,
  options: JournalOptions,
): Promise<LandingJournal> {
  const contents: Buffer[] = [];
  let offset = 0;
  const store = (state: PathState, mode: number | null): StoredState => {
    if (state?.kind !== 'file') return state;
    const { executable, bytes } = state;
    contents.push(bytes);
    offset += bytes.length;
    return { kind: 'file', executable, mode, offset: offset - bytes.length, length: bytes.length };
  };
  const { source, modes } = plan;
  const found = new Map<string, number | null>();
  const states = listPathStates(plan.changes);
  for (const { path, before } of states) {
    const entry = readSourceEntry(source, path);
    requirePlanned(join(source, path), entry, before);
    found.set(path, entry.mode);
  }
  const writes = states.map(({ path, from = null, before, after }): JournalWrite => {
    const earlier = found.get(from ?? path) ?? modes?.files.get(path) ?? null;
    return {
      path,
      from,
      before: store(before, found.get(path) ?? null),
      after: store(
        after,
        after?.kind === 'file' && earlier !== null ? adaptMode(earlier, after.executable) : null,
      ),
    };
  });
  const parents = new Set(writes.flatMap(({ path }) => listParents(path)));
  const directories = [...parents].toSorted().map((path) => ({
    path,
    mode: readDirectoryMode(source, path),
  }));
  const written = listWritten(plan.changes);
  const needed = new Set([...written].flatMap(listParents));
  const journal: LandingJournal = {
    version: 1,
    id: newId(),
    source,
    startedAt: new Date().toISOString(),
    writes,
    createdDirectories: directories
      .filter(({ path, mode }) => mode === null && needed.has(path))
      .map(({ path }) => path),
    directoryModes: [
      ...new Map([
        ...(modes?.directories ?? []),
        ...directories.flatMap(({ path, mode }) => (mode === null ? [] : [[path, mode] as const])),
      ]),
    ],
    ...options,
  };
  await writeJournal(directory, journal, contents);
  return journal;
}

/** Lists each path that the changes touch, with what is there before and after. */
function listPathStates(changes: readonly PathDifference[]): readonly PathDifference[] {
  const movedAway = new Map(
    changes.flatMap(({ from, before }) => (from === undefined ? [] : [[from, before] as const])),
  );
  const direct = changes.map((change) =>
    Object.assign({}, change, {
      before: movedAway.get(change.path) ?? (change.from === undefined ? change.before : null),
    }),
  );
  const removed = listRemoved(changes);
  const moved = [...movedAway]
    .filter(([path]) => removed.has(path))
    .map(([path, before]) => ({ path, before, after: null }));
  return [...direct, ...moved].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function requirePlanned(path: string, { kind, state, mode }: SourceEntry, before: PathState): void {
  if (kind === 'special' || !isSameState(state, before)) {
    const message = `${path} was changed by somebody else just now; nothing was written. Try again.`;
    throw new MusterError('CONFLICT', message, { retryable: true });
  }
  if (kind === 'file' && ((mode ?? 0) & 0o222) === 0) {
    const message = `${path} is read-only: nobody may write it. Nothing was written.`;
    throw new MusterError('PERMISSION_DENIED', message);
  }
}

function readDirectoryMode(source: string, path: string): number | null {
  const { kind, mode } = inspectSourceEntry(source, path);
  return kind === 'directory' ? mode : null;
}
