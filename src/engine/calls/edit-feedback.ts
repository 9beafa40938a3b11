import { lstatSync, type BigIntStats } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { errorMessage, MusterError } from '../../base/errors.ts';
import { plural } from '../../base/text.ts';
import type {
  CheckerObservation,
  ContentChange,
  FileChangeCheck,
  FileEvent,
} from '../../protocol/languages.ts';
import type {
  ChangePort,
  CommandChanges,
  FileChange,
  ToolContext,
  ToolOutput,
} from '../../protocol/tool.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import { writeFileInRoots } from '../../sys/files/write-file.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { createLanguageCall } from './plan-call.ts';

/** The maximum number of files of one call that are formatted. */
const MAX_FORMATTED_FILES = 16;

/** Formats the files that a call has changed, and adds the problems that it has caused to its result. */
export interface EditFeedback {
  /** Returns the context for the tool, from which the contents of files before the call are learned. */
  readonly context: ToolContext;
  /** Begins, before the tool runs. Must be called while the files are locked. */
  begin(): Promise<void>;
  /** Formats the changed files. Must be called while the files are locked. */
  format(output: ToolOutput): Promise<ToolOutput>;
  /** Returns the output with the new problems in the changed files, and with the changes that checkers have made. */
  addProblems(output: ToolOutput): Promise<ToolOutput>;
}

/**
 * Creates the feedback for one call that changes files.
 *
 * @param paths the files that the call may change; absolute, without links
 */
export function createEditFeedback(
  { languages, home }: Pick<EngineDeps, 'languages' | 'home'>,
  run: Pick<TaskRun, 'spec' | 'permissions'>,
  { context, paths }: { readonly context: ToolContext; readonly paths: readonly string[] },
): EditFeedback | null {
  if (languages === undefined) return null;
  const { signal } = context;
  const former = new Map<string, Buffer>();
  let check: FileChangeCheck | null = null;
  const byCheckers: CommandChanges[] = [];
  const { changes } = context;
  const observeChecker = () => observeChanges(changes, (found) => void byCheckers.push(found));
  return {
    context: {
      ...context,
      keepFormer: async (bytes) => {
        former.set(hashContent(bytes), bytes);
        await context.keepFormer?.(bytes);
      },
    },
    async begin() {
      const call = createLanguageCall({ home }, run, signal);
      check = await (await languages()).beginChange(paths, { ...call, observeChecker });
    },
    format: async (output) =>
      check === null ? output : await keepOutput(output, formatChanges(output, check, context)),
    addProblems: async (output) => {
      if (check === null) return output;
      const checked = await keepOutput(output, addNewProblems(output, check, { former, signal }));
      return addChanges(checked, byCheckers);
    },
  };
}

/** Observes the changes of a checker like those of a command. */
async function observeChanges(
  changes: ChangePort | undefined,
  record: (found: CommandChanges) => void,
): Promise<CheckerObservation> {
  const observation = await changes?.begin({ inBackground: false });
  return {
    end: async () => {
      if (observation !== undefined) record(await observation.end());
    },
  };
}

/** Adds changes that checkers have made to the record of the call, behind its own changes. */
function addChanges(output: ToolOutput, found: readonly CommandChanges[]): ToolOutput {
  const changed = found.flatMap((each) => each.changed);
  const unlisted = found.flatMap((each) => each.unlisted);
  if (changed.length === 0 && unlisted.length === 0) return output;
  const { facts = {} } = output;
  return {
    ...output,
    facts: {
      ...facts,
      changed: [...(facts.changed ?? []), ...changed],
      ...(unlisted.length === 0 ? {} : { unlisted: [...(facts.unlisted ?? []), ...unlisted] }),
    },
  };
}

/** Returns the new output. If it could not be made, returns the old one with the reason: the files have been changed. */
async function keepOutput(output: ToolOutput, work: Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await work;
  } catch (thrown) {
    const reason = JSON.stringify(errorMessage(thrown));
    return { ...output, text: `${output.text}\nThe change could not be checked: ${reason}.` };
  }
}

async function formatChanges(
  output: ToolOutput,
  check: FileChangeCheck,
  context: ToolContext,
): Promise<ToolOutput> {
  const { changed = [] } = output.facts ?? {};
  const written = changed.filter(({ after }) => after !== null).slice(0, MAX_FORMATTED_FILES);
  const notes: string[] = [];
  const formatted = new Map<string, FileChange>();
  for (const change of written) {
    if (context.signal.aborted) break;
    const result = await formatFile(change, check, context);
    if (result === null) continue;
    notes.push(result.note);
    if (result.change !== null) formatted.set(change.path, result.change);
  }
  if (notes.length === 0) return output;
  return {
    ...output,
    text: [output.text, ...notes].join('\n'),
    facts: {
      ...output.facts,
      changed: changed.map((change) => formatted.get(change.path) ?? change),
    },
  };
}

async function addNewProblems(
  output: ToolOutput,
  check: FileChangeCheck,
  { former, signal }: { former: ReadonlyMap<string, Buffer>; signal: AbortSignal },
): Promise<ToolOutput> {
  const { changed = [] } = output.facts ?? {};
  if (changed.length === 0 || signal.aborted) return output;
  const contents = await readChanges(changed, former);
  const events = changed.map(toFileEvent);
  const { problems, notes } = await check.findNewProblems({ contents, events });
  if (problems === '' && notes.length === 0) return output;
  const text = [output.text, problems, ...notes].filter((part) => part !== '').join('\n');
  return { ...output, text, hasOutsideText: true };
}

interface FormattedFile {
  /** A line for the result. */
  readonly note: string;
  /** The change with the hash after formatting; null if the file stays as it was written. */
  readonly change: FileChange | null;
}

/** Formats one file. Returns null if nothing is to be changed. */
async function formatFile(
  change: FileChange,
  check: FileChangeCheck,
  context: ToolContext,
): Promise<FormattedFile | null> {
  const { path, after } = change;
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const bytes = after === null ? undefined : await readContent(path, after);
  const text = bytes === undefined ? null : decodeText(bytes);
  if (stats === undefined || text === null) return null;
  const outcome = await check.format({ path, text });
  if (outcome === null) return null;
  const shown = displayPath(path, context.cwd);
  if ('problem' in outcome) {
    // The text of a formatter is quoted on one line.
    const note = `${shown} was not formatted by ${outcome.by}: ${JSON.stringify(outcome.problem)}.`;
    return { note, change: null };
  }
  const formatted = Buffer.from(outcome.text);
  const hash = hashContent(formatted);
  const isWritten = await write(path, formatted, { hash, stats, context });
  if (!isWritten) return null;
  if (context.files.seen(path) === after) context.files.remember(path, hash);
  const lines = plural(countChangedLines(text, outcome.text), 'line');
  return {
    note: `${shown} was formatted by ${outcome.by}: ${lines}.`,
    change: { ...change, after: hash },
  };
}

/** Writes a formatted file. Returns false if it has been changed meanwhile, and leaves it as it is. */
async function write(
  path: string,
  bytes: Buffer,
  { hash, stats, context }: { hash: string; stats: BigIntStats; context: ToolContext },
): Promise<boolean> {
  try {
    context.files.willWrite(path, hash);
    await writeFileInRoots(path, context, bytes, stats);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return false;
  }
}

/** Counts the lines of the new text that the old text does not contain, or the removed lines if there are none. */
function countChangedLines(before: string, after: string): number {
  const added = countMissing(after, before);
  return added === 0 ? Math.max(1, countMissing(before, after)) : added;
}

function countMissing(text: string, other: string): number {
  const counts = new Map<string, number>();
  for (const line of other.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1);
  return text.split('\n').filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  }).length;
}

function decodeText(bytes: Buffer): string | null {
  try {
    // The mark of the byte order is kept, so that a file with one is written with it again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Other encodings are not formatted, since formatters expect UTF-8.
    return null;
  }
}

/**
 * Reads the contents of changed files. Leaves out binary files, files whose former content is not known, and files that
 * were only moved.
 */
async function readChanges(
  changed: readonly FileChange[],
  former: ReadonlyMap<string, Buffer>,
): Promise<readonly ContentChange[]> {
  const removed = changed.filter(({ after }) => after === null);
  const created = changed.filter(({ before }) => before === null);
  // A patch moves a file by creating one and deleting one. The old problems of the moved file are not new.
  const source = removed.length === 1 && created.length === 1 ? removed[0]?.before : null;
  const changes = await Promise.all(
    changed.map(async (change): Promise<readonly ContentChange[]> => {
      const { path, after, movedFrom } = change;
      const before = change.before ?? (after === null ? null : (source ?? null));
      const old = before === null ? null : former.get(before);
      if (old === undefined || movedFrom !== undefined) return [];
      const now = after === null ? null : await readContent(path, after);
      if (now === undefined || isBinary(old) || isBinary(now)) return [];
      return [{ path, before: old?.toString() ?? null, after: now?.toString() ?? null }];
    }),
  );
  return changes.flat();
}

function toFileEvent({ path, before, after }: FileChange): FileEvent {
  return { path, kind: after === null ? 'deleted' : before === null ? 'created' : 'changed' };
}

/** Reads a file. Returns undefined if it has been changed since the call. */
async function readContent(path: string, hash: string): Promise<Buffer | undefined> {
  try {
    const bytes = await readFile(path);
    return hashContent(bytes) === hash ? bytes : undefined;
  } catch {
    // The file is gone or cannot be read any more, so there is nothing to check.
    return undefined;
  }
}

function isBinary(bytes: Buffer | null): boolean {
  return bytes?.includes(0) === true;
}
