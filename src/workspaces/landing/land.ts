import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { MusterError, errorMessage } from '../../base/errors.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { syncDirectory } from '../../sys/files/write-file.ts';
import type { PathDifference } from '../difference.ts';
import { bringSourceTo } from './carry-out.ts';
import { createJournal, type JournalOptions } from './create-journal.ts';
import type {
  ForeignChanges,
  GitChange,
  GitPort,
  LandingSide,
  UndoableChange,
} from './git-change.ts';
import {
  finishedDirectory,
  listLandedChanges,
  listLandingNumbers,
  numberedDirectory,
  openJournalContents,
  readJournal,
  unfinishedDirectory,
  type LandingJournal,
} from './journal.ts';
import { planLanding, type LandingConflicts, type LandingPlan } from './plan-landing.ts';
import { findUnfinishedLanding } from './unfinished.ts';

/**
 * Runs `work` while no other process has the lock of this path. A lock of a process that has died is free. Rejects with
 * CONFLICT if another process has the lock.
 */
export type LandingLock = <T>(path: string, work: () => Promise<T>) => Promise<T>;

/** The surroundings of a landing. */
export interface LandingContext {
  /** The directory of the workspace: absolute, existing. The directory above it holds all workspaces. */
  readonly directory: string;
  readonly lock: LandingLock;
  /** The repository of the source. Default: none, so that a landing with a part for git fails. */
  readonly git?: GitPort;
}

/** The parts that somebody else has changed meanwhile, and that were left as they are. */
interface LeftParts {
  readonly left: readonly string[];
  /** The names of refs of git, and descriptions of entries of its index. */
  readonly leftInGit: readonly string[];
}

/** A landing that has changed the source. After an undo, only parts of git can be left; otherwise only after a recovery. */
export interface FinishedLanding extends LeftParts {
  readonly kind: 'landed';
  /** The number of the landing among those of its workspace, from 1. */
  readonly number: number;
  /** The changed paths, sorted. A renamed file counts with both paths. */
  readonly paths: readonly string[];
}

/** A landing after which the source is as before. */
export interface AbortedLanding extends LeftParts {
  readonly kind: 'aborted';
  /** The directory of the journal, which still has the earlier contents of the paths in `left`; null if there are none. */
  readonly keptAt: string | null;
}

/** The properties of a landing that do not follow from its plan. */
interface LandOptions {
  /** The changes to the repository. Default: none. */
  readonly git?: GitChange | null;
  /** The number of the undone landing whose changes the plan has. Null or missing: they are in the workspace. */
  readonly repeats?: number | null;
}

/**
 * Carries out a plan: all of it, or nothing. A journal is written first, so that a landing that was killed can be
 * continued or aborted (`recoverLanding`). A failure on the way takes back what was done.
 *
 * Throws MusterError: CONFLICT if the source has changed since the plan was made, or if another landing in the same source
 * is not finished; LIMIT_EXCEEDED if the disk is full; PERMISSION_DENIED if something may not be written.
 */
export async function land(
  plan: LandingPlan,
  context: LandingContext,
  { git = null, repeats = null }: LandOptions = {},
): Promise<FinishedLanding> {
  const options: JournalOptions = { kind: 'apply', undoes: null, removableDirectories: null, git };
  return await withLandingLock(plan.source, context, () =>
    carryOut(plan, context, repeats === null ? options : { ...options, repeats }),
  );
}

/**
 * Undoes the newest landing of a workspace that was not undone yet. This is a landing of its own: later changes of the
 * user are merged, and conflicts are possible. Throws MusterError like `land`; NOT_FOUND if there is nothing to undo.
 */
export async function undoLanding(
  context: LandingContext,
): Promise<FinishedLanding | LandingConflicts> {
  const last = findLandingToUndo(context.directory);
  const { journal, number } = last;
  return await withLandingLock(journal.source, context, async () => {
    using contents = openJournalContents(numberedDirectory(context.directory, number));
    const differences = listLandedChanges(journal, contents).map(exchangeStates);
    const plan = planLanding(differences, journal.source);
    if (plan.kind === 'conflicts') return plan;
    const files = journal.writes.flatMap(({ path, before }) =>
      before?.kind === 'file' && before.mode !== null ? [[path, before.mode] as const] : [],
    );
    const modes = { files: new Map(files), directories: new Map(journal.directoryModes) };
    const undoable = await findUndoable(journal, context);
    const finished = await carryOut({ ...plan, modes }, context, {
      kind: 'undo',
      undoes: number,
      removableDirectories: journal.createdDirectories,
      git: undoable.change === null ? null : exchangeSides(undoable.change),
    });
    return { ...finished, leftInGit: undoable.left };
  });
}

async function findUndoable(
  { git: change, source }: LandingJournal,
  { git }: LandingContext,
): Promise<UndoableChange> {
  if (change === null) return { change, left: [] };
  if (git === undefined) throw missingGit();
  return await git.findUndoable(source, change);
}

/**
 * Ends a landing whose process has died: `continue` reaches the state after it, `abort` the state before it. Returns
 * what somebody else has changed meanwhile, which is left as it is. Throws MusterError; NOT_FOUND if no landing
 * of the workspace is unfinished.
 */
export async function recoverLanding(
  action: 'continue' | 'abort',
  context: LandingContext,
): Promise<FinishedLanding | AbortedLanding> {
  const { directory, lock } = context;
  return await lock(lockPath(directory), async () => {
    const journal = readJournal(unfinishedDirectory(directory));
    if (journal === null) {
      const message = `${directory}: no landing is unfinished, so there is nothing to ${action}`;
      throw new MusterError('NOT_FOUND', message);
    }
    if (action === 'continue') {
      const parts = await bringTo('after', { journal, context }, 'leave');
      return { ...(await finish(directory, journal)), ...parts };
    }
    const parts = await bringTo('before', { journal, context }, 'leave');
    const keptAt = await discard(directory, journal, parts.left);
    return { kind: 'aborted', ...parts, keptAt };
  });
}

function lockPath(directory: string): string {
  return join(dirname(directory), 'landing.lock');
}

/** Holds the lock of all landings, and refuses if another landing in this source is not finished. */
async function withLandingLock<T>(
  source: string,
  { directory, lock }: LandingContext,
  work: () => Promise<T>,
): Promise<T> {
  const requireNone = (): void => {
    // Throws if the journal of this workspace is damaged. That of another one does not matter here.
    readJournal(unfinishedDirectory(directory));
    const other = findUnfinishedLanding(dirname(directory), source);
    if (other === null) return;
    const what = other.kind === 'apply' ? 'landing' : 'undoing of a landing';
    const message = `the ${what} of task ${other.task} in ${other.source} is not finished (started ${other.startedAt}): wait if it is at work. If its process has died, continue or abort it.`;
    throw new MusterError('CONFLICT', message, { retryable: true });
  };
  requireNone();
  return await lock(lockPath(directory), async () => {
    requireNone();
    return await work();
  });
}

/** Writes the journal and brings the source to the state after the landing, or back to the one before it. */
async function carryOut(
  plan: LandingPlan,
  context: LandingContext,
  options: JournalOptions,
): Promise<FinishedLanding> {
  const { directory } = context;
  if (options.git !== null && context.git === undefined) throw missingGit();
  const journal = await createJournal(directory, plan, options);
  try {
    await bringTo('after', { journal, context }, 'refuse');
  } catch (thrown) {
    throw await takeBack(journal, context, thrown);
  }
  return await finish(directory, journal);
}

interface OpenLanding {
  readonly journal: LandingJournal;
  readonly context: LandingContext;
}

/** Brings the files and then the repository to the state after a landing, or both back in the other order. */
async function bringTo(
  side: LandingSide,
  { journal, context: { directory, git } }: OpenLanding,
  foreignChanges: ForeignChanges,
): Promise<LeftParts> {
  const changeGit = async (): Promise<readonly string[]> => {
    if (journal.git === null) return [];
    if (git === undefined) throw missingGit();
    return await git.bringTo(side, journal.source, journal.git, foreignChanges);
  };
  using contents = openJournalContents(unfinishedDirectory(directory));
  const changeFiles = () => bringSourceTo(side, { journal, contents }, foreignChanges);
  if (side === 'after') return { left: await changeFiles(), leftInGit: await changeGit() };
  return { leftInGit: await changeGit(), left: await changeFiles() };
}

function missingGit(): Error {
  return new Error('a landing with a part for git needs a port to git');
}

/** Takes back a landing that has failed. Returns the error that says so. */
async function takeBack(
  journal: LandingJournal,
  context: LandingContext,
  thrown: unknown,
): Promise<unknown> {
  const cause = thrown instanceof MusterError ? thrown : toFileError(journal.source, thrown);
  try {
    const { left, leftInGit } = await bringTo('before', { journal, context }, 'leave');
    const keptAt = await discard(context.directory, journal, left);
    const all = [...left, ...leftInGit].join(', ');
    const contents = keptAt === null ? '' : ` (earlier contents: ${keptAt})`;
    const kept = all === '' ? '' : `, except what somebody else has changed: ${all}${contents}`;
    const message = `${cause.message}. Everything is as before${kept}.`;
    return new MusterError(cause.code, message, { cause, retryable: cause.retryable });
  } catch (second) {
    const message = `${cause.message}. Taking back what was done failed too (${errorMessage(second)}): the landing is unfinished. Remove the cause, then abort or continue it.`;
    return new MusterError(cause.code, message, { cause });
  }
}

async function finish(directory: string, journal: LandingJournal): Promise<FinishedLanding> {
  const finished = finishedDirectory(directory);
  const number = Math.max(0, ...listLandingNumbers(directory)) + 1;
  try {
    fs.mkdirSync(finished, { recursive: true, mode: 0o700 });
    fs.renameSync(unfinishedDirectory(directory), numberedDirectory(directory, number));
    await syncDirectory(finished);
    await syncDirectory(directory);
  } catch (thrown) {
    throw toFileError(finished, thrown);
  }
  const paths = journal.writes.map(({ path }) => path);
  return { kind: 'landed', number, paths, left: [], leftInGit: [] };
}

/** Ends an aborted landing. If paths were left, keeps the journal with their contents, and returns its directory. */
async function discard(
  directory: string,
  { id }: LandingJournal,
  left: readonly string[],
): Promise<string | null> {
  const unfinished = unfinishedDirectory(directory);
  const keptAt = left.length === 0 ? null : join(finishedDirectory(directory), `aborted-${id}`);
  const target = keptAt ?? `${unfinished}.new`;
  try {
    if (keptAt !== null) fs.mkdirSync(dirname(keptAt), { recursive: true, mode: 0o700 });
    fs.rmSync(target, { recursive: true, force: true });
    fs.renameSync(unfinished, target);
    await syncDirectory(directory);
    if (keptAt === null) fs.rmSync(target, { recursive: true, force: true });
  } catch (thrown) {
    throw toFileError(unfinished, thrown);
  }
  return keptAt;
}

function findLandingToUndo(directory: string): { journal: LandingJournal; number: number } {
  const undone = new Set<number>();
  for (const number of listLandingNumbers(directory).toReversed()) {
    const journal = readJournal(numberedDirectory(directory, number));
    if (journal?.kind === 'undo' && journal.undoes !== null) undone.add(journal.undoes);
    if (journal?.kind === 'apply' && !undone.has(number)) return { journal, number };
  }
  throw new MusterError('NOT_FOUND', `${directory}: there is no landing that can be undone`);
}

function exchangeStates({ path, from, before, after }: PathDifference): PathDifference {
  const states = { before: after, after: before };
  return from === undefined ? { path, ...states } : { path: from, from: path, ...states };
}

function exchangeSides({ index, ref }: GitChange): GitChange {
  return {
    index: index.map(({ path, before, after }) => ({ path, before: after, after: before })),
    ref: ref === null ? null : { name: ref.name, before: ref.after, after: ref.before },
  };
}
