import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { changeAsMuster } from '../../sys/files/own-writes.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import { isTemporaryOf, temporaryName } from '../../sys/files/temporary-files.ts';
import { syncDirectory, writeTemporary } from '../../sys/files/write-file.ts';
import { isSameState, type PathState } from '../difference.ts';
import { listParents } from '../merge/find-obstacle.ts';
import type { ForeignChanges, LandingSide } from './git-change.ts';
import type { LandingJournal, JournalContents, JournalWrite } from './journal.ts';
import { adaptMode, holdParent, inspectSourceEntry, readSourceEntry } from './source-tree.ts';

/**
 * Brings the source to one side of a landing. Paths that already are there stay as they are, so this works from each state
 * that a killed process can leave. All new contents are written to temporary files before the first path changes, so that
 * a full disk stops the operation at once.
 *
 * @returns the paths that somebody else has changed and that were left as they are
 * @throws MusterError, with `refuse` also CONFLICT
 */
export async function bringSourceTo(
  side: LandingSide,
  { journal, contents }: { readonly journal: LandingJournal; readonly contents: JournalContents },
  foreignChanges: ForeignChanges,
): Promise<readonly string[]> {
  const { source } = journal;
  const directoryModes = new Map(journal.directoryModes);
  const left: string[] = [];
  const steps: Step[] = [];
  for (const [index, write] of journal.writes.entries()) {
    const step = planStep(side, { journal, index, write }, contents);
    const found = compareWithStep(source, step);
    if (found === 'start') steps.push(step);
    if (found === 'other') {
      if (foreignChanges === 'refuse') throw changedMeanwhile(source, write.path);
      left.push(write.path);
    }
  }
  try {
    removeTemporaries(journal);
    const stages = new Map<Step, string>();
    for (const step of steps) {
      // oxlint-disable-next-line no-await-in-loop -- one file after the other, so that few are open
      if (step.target !== null) stages.set(step, await stage(journal, step));
    }
    const attempt = (step: Step, change: () => void): void => {
      try {
        change();
      } catch (thrown) {
        if (foreignChanges === 'refuse' || !isInTheWay(thrown)) throw thrown;
        left.push(step.path);
      }
    };
    for (const step of steps.toReversed()) {
      // A path below another one comes after it.
      if (step.target === null) attempt(step, () => removeEntry(source, step));
    }
    pruneDirectories(side, journal);
    for (const [step, directory] of stages) {
      attempt(step, () => {
        for (const each of listParents(step.path)) {
          makeDirectory(source, each, directoryModes.get(each));
        }
        moveIntoPlace(source, step, directory);
      });
    }
    if (side === 'before') removeIfEmpty(source, journal.createdDirectories);
  } finally {
    removeTemporaries(journal);
  }
  await syncParents(source, steps);
  return left.toSorted();
}

/** Tells whether a step failed because of something that somebody else has put at its path or at one above it. */
function isInTheWay(thrown: unknown): boolean {
  if (!(thrown instanceof MusterError)) return false;
  return thrown.code === 'CONFLICT' || IN_THE_WAY.has(systemErrorCode(thrown.cause) ?? '');
}

const IN_THE_WAY = new Set(['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ELOOP']);

/** The change of one path. */
interface Step {
  readonly path: string;
  readonly start: PathState;
  readonly target: PathState;
  /** The permission bits of the target, or null. */
  readonly mode: number | null;
  /** The name of its temporary file, which follows from the journal, so that any process can remove it. */
  readonly temporary: string;
}

function planStep(
  side: LandingSide,
  { journal, index, write }: { journal: LandingJournal; index: number; write: JournalWrite },
  contents: JournalContents,
): Step {
  const [start, target] =
    side === 'after' ? [write.before, write.after] : [write.after, write.before];
  return {
    path: write.path,
    start: contents.read(start),
    target: contents.read(target),
    mode: target?.kind === 'file' ? target.mode : null,
    temporary: temporaryName(`${journal.id}${index.toString(36)}`),
  };
}

/** Compares an entry with both states of a step. */
function compareWithStep(
  source: string,
  { path, start, target }: Step,
): 'start' | 'target' | 'other' {
  const { kind, state } = readSourceEntry(source, path);
  if (kind === 'special') return 'other';
  if (isSameState(state, target)) return 'target';
  return isSameState(state, start) ? 'start' : 'other';
}

function requireStart(source: string, step: Step): void {
  if (compareWithStep(source, step) !== 'start') throw changedMeanwhile(source, step.path);
}

function changedMeanwhile(source: string, path: string): MusterError {
  const message = `${join(source, path)} was changed by somebody else just now`;
  return new MusterError('CONFLICT', message, { retryable: true });
}

/** Writes the target of a step to a temporary file. Returns the directory of that file, relative to the source. */
async function stage({ source }: LandingJournal, step: Step): Promise<string> {
  const { path, target, mode, temporary } = step;
  const exists = (directory: string) => inspectSourceEntry(source, directory).kind === 'directory';
  const directory = listParents(path).findLast(exists) ?? '';
  try {
    using held = holdDirectory(source, join(source, directory));
    if (target?.kind === 'link') fs.symlinkSync(target.target, held.at(temporary));
    if (target?.kind !== 'file') return directory;
    const replaced = readFileStats(source, path);
    const options = mode === null ? {} : { mode };
    const expected = replaced ?? 'nothing';
    await writeTemporary(held, temporary, { content: target.bytes, expected, ...options });
    if (mode === null && target.executable) {
      const now = fs.lstatSync(held.at(temporary)).mode & 0o777;
      fs.chmodSync(held.at(temporary), adaptMode(now, true));
    }
    return directory;
  } catch (thrown) {
    throw toFileError(join(source, path), thrown);
  }
}

function readFileStats(source: string, path: string): fs.BigIntStats | undefined {
  if (inspectSourceEntry(source, path).kind !== 'file') return undefined;
  using parent = holdParent(source, path);
  return fs.lstatSync(parent.at(basename(path)), { bigint: true, throwIfNoEntry: false });
}

function removeEntry(source: string, step: Step): void {
  requireStart(source, step);
  const real = join(source, step.path);
  try {
    using parent = holdParent(source, step.path);
    changeAsMuster([real], () => fs.unlinkSync(parent.at(basename(step.path))));
  } catch (thrown) {
    throw toFileError(real, thrown);
  }
}

/** Removes the directories that the removals have emptied, if the landing may remove them. */
function pruneDirectories(side: LandingSide, journal: LandingJournal): void {
  const filled = journal.writes.filter((write) => write[side] !== null).map(({ path }) => path);
  const needed = new Set(filled.flatMap(listParents));
  const replaced = new Set(filled);
  const allowed = side === 'before' ? journal.createdDirectories : journal.removableDirectories;
  const emptied = journal.writes
    .filter((write) => write[side] === null)
    .flatMap(({ path }) => listParents(path))
    .filter((path) => !needed.has(path))
    .filter((path) => replaced.has(path) || allowed === null || allowed.includes(path));
  removeIfEmpty(journal.source, [...new Set(emptied)].toSorted());
}

/** The reasons why a directory may stay: it is not empty, gone, or not ours to remove. */
const MAY_STAY = new Set([
  'ENOTEMPTY',
  'EEXIST',
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EBUSY',
  'EACCES',
  'EPERM',
]);

function removeIfEmpty(source: string, directories: readonly string[]): void {
  for (const path of directories.toReversed()) {
    try {
      using parent = holdParent(source, path);
      changeAsMuster([join(source, path)], () => fs.rmdirSync(parent.at(basename(path))));
    } catch (thrown) {
      if (!MAY_STAY.has(systemErrorCode(thrown) ?? ''))
        throw toFileError(join(source, path), thrown);
    }
  }
}

function moveIntoPlace(source: string, step: Step, directory: string): void {
  const { path, temporary } = step;
  requireStart(source, step);
  const real = join(source, path);
  try {
    using from = holdDirectory(source, join(source, directory));
    using parent = holdParent(source, path);
    changeAsMuster([real], () => fs.renameSync(from.at(temporary), parent.at(basename(path))));
  } catch (thrown) {
    throw toFileError(real, thrown);
  }
}

function makeDirectory(source: string, path: string, mode: number | undefined): void {
  if (inspectSourceEntry(source, path).kind !== 'nothing') return;
  const real = join(source, path);
  try {
    using parent = holdParent(source, path);
    changeAsMuster([real], () => fs.mkdirSync(parent.at(basename(path)), mode));
    // The umask may have taken bits away.
    if (mode !== undefined) fs.chmodSync(parent.at(basename(path)), mode);
  } catch (thrown) {
    throw toFileError(real, thrown);
  }
}

/** Removes the temporary files of a landing, also those of a killed process. */
function removeTemporaries({ id, source, writes }: LandingJournal): void {
  const directories = new Set(['', ...writes.flatMap(({ path }) => listParents(path))]);
  for (const directory of directories) {
    if (inspectSourceEntry(source, directory).kind !== 'directory') continue;
    using held = holdDirectory(source, join(source, directory));
    for (const name of fs.readdirSync(held.at('.'))) {
      if (isTemporaryOf(id, name)) fs.rmSync(held.at(name), { force: true });
    }
  }
}

async function syncParents(source: string, steps: readonly Step[]): Promise<void> {
  for (const directory of new Set(steps.map(({ path }) => dirname(path)))) {
    if (inspectSourceEntry(source, directory).kind !== 'directory') continue;
    using held = holdDirectory(source, join(source, directory));
    // oxlint-disable-next-line no-await-in-loop -- one directory after the other, so that few are open
    await syncDirectory(held.at('.'));
  }
}
