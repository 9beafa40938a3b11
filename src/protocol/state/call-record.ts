import type { TaskEvent } from '../events/event.ts';
import type { FoundTools } from './found-tools.ts';
import type { QuotedItem } from '../quoted-item.ts';
import type { CallDetails, CommandRun, FileChange, FileSeen, UnlistedChanges } from '../tool.ts';

/** The actions of a task's calls, from the outcomes of the calls. */
export interface CallRecord {
  /** The files that the task has read, by path. */
  readonly filesRead: Map<string, FileSeen>;
  /** The files that the task and all tasks below it changed, by path. */
  readonly filesChanged: Map<string, FileChange>;
  /** Changes by commands of these tasks that are not listed one by one, by their path and reason. */
  readonly unlistedChanges: Map<string, UnlistedChanges>;
  /**
   * The hash of each file when this task last read or wrote it, by path; null: the task does not know the content, because
   * it deleted the file, moved an unread file to the path, or appended to an unread file.
   */
  readonly knownFiles: Map<string, string | null>;
  /**
   * The files in items that a person attached to inputs which no request contains yet, by the id of the input. They count
   * as read when a request contains the input, and never if the input is withdrawn before.
   */
  readonly quotedFiles: Map<string, readonly FileSeen[]>;
  /** The commands of the task, in the order in which they ended. */
  readonly commands: CommandRun[];
  /** The variables that the task has set for its commands, by name. `seq`: the number of the event that set the value. */
  readonly variables: Map<string, { readonly value: string; readonly seq: number }>;
  /** The names of the skills whose instructions are in the conversation. */
  readonly skills: Set<string>;
  /** The tools of MCP servers that the task has found. */
  readonly foundTools: FoundTools;
}

export function addCallDetails(
  state: CallRecord,
  { facts, seq }: Extract<TaskEvent, { type: 'call.ended' }>,
): void {
  recordReadFiles(state, facts.read ?? []);
  forgetOlderQuotes(state, [...(facts.read ?? []), ...(facts.changed ?? [])]);
  for (const change of facts.changed ?? []) {
    // The task still knows the earlier content. A different content is noticed before the task edits the file.
    if (change.byCommand === true) continue;
    state.knownFiles.set(change.path, isContentKnown(state, change) ? change.after : null);
  }
  addFileChanges(state, facts);
  state.commands.push(...(facts.commands ?? []));
  if (facts.skill !== undefined) state.skills.add(facts.skill);
  for (const [name, value] of Object.entries(facts.variables ?? {})) {
    if (value === null) state.variables.delete(name);
    else state.variables.set(name, { value, seq });
  }
}

/** Returns true if the task knows the content of a file after a change. */
function isContentKnown(
  { knownFiles }: CallRecord,
  { movedFrom, after, unread }: FileChange,
): boolean {
  if (unread === true) return false;
  return movedFrom === undefined || knownFiles.get(movedFrom) === after;
}

/** Adds changes of files. Several changes of one file are merged: the first `before` and the last `after` remain. */
export function addFileChanges(
  { filesChanged, unlistedChanges }: Pick<CallRecord, 'filesChanged' | 'unlistedChanges'>,
  { changed = [], unlisted = [] }: Pick<CallDetails, 'changed' | 'unlisted'>,
): void {
  for (const change of changed) {
    const first = filesChanged.get(change.path);
    const merged = first === undefined ? change : mergeFileChanges(first, change);
    if (merged === null || (first === undefined && isUndone(change)))
      filesChanged.delete(change.path);
    else filesChanged.set(change.path, merged);
  }
  for (const each of unlisted) {
    const key = `${each.reason} ${each.path}`;
    const count = (unlistedChanges.get(key)?.count ?? 0) + (each.count ?? 0);
    unlistedChanges.set(key, count === 0 ? each : { ...each, count });
  }
}

/** Tells whether the record of a command says that a change was undone while the command ran. */
function isUndone({ before, after, mode, newMode, byCommand }: FileChange): boolean {
  return byCommand === true && before === after && (before === null || mode === newMode);
}

/** Merges two changes of one file. Returns null if a command has undone the first one. */
function mergeFileChanges(one: FileChange, other: FileChange): FileChange | null {
  const [first, next] = isEarlier(other, one) ? [other, one] : [one, other];
  const { before, since } = first;
  if (next.byCommand !== true) return { ...next, before };
  const mode = first.mode ?? next.mode;
  const newMode = next.after === null ? undefined : (next.newMode ?? first.newMode);
  const isShared = first.shared === true || next.shared === true;
  // Another task has recorded a shared change, too, so it is not certain that nothing has changed overall.
  if (!isShared && before === next.after && (before === null || mode === newMode)) return null;
  const { byCommand: _, ...merged } = {
    ...next,
    before,
    ...(mode === undefined ? {} : { mode }),
    ...(newMode === undefined ? {} : { newMode }),
    ...(isShared ? { shared: true as const } : {}),
    ...(since === undefined ? {} : { since }),
  };
  return first.byCommand === true ? { ...merged, byCommand: true } : merged;
}

/** Tells whether a change was made before another one. Without times, the order of their records decides. */
function isEarlier({ until }: FileChange, other: FileChange): boolean {
  return until !== undefined && other.until !== undefined && until < other.until;
}

/** Records files as read. */
export function recordReadFiles(
  { filesRead, knownFiles }: Pick<CallRecord, 'filesRead' | 'knownFiles'>,
  files: readonly FileSeen[],
): void {
  for (const seen of files) {
    filesRead.set(seen.path, seen);
    knownFiles.set(seen.path, seen.hash);
  }
}

/** Remembers the files and skills in items that a person attached to an input. Files count as read when a request contains the input. */
export function addQuotedFiles(
  { quotedFiles, skills }: Pick<CallRecord, 'quotedFiles' | 'skills'>,
  input: string,
  items: readonly QuotedItem[] = [],
): void {
  const files = items.flatMap(({ read = [] }) => read);
  if (files.length > 0) quotedFiles.set(input, files);
  for (const { skill } of items) if (skill !== undefined) skills.add(skill);
}

/** Records the files that were attached to the inputs of a request as read. */
export function recordQuotedFiles(record: CallRecord, inputs: readonly string[]): void {
  for (const input of inputs) {
    recordReadFiles(record, record.quotedFiles.get(input) ?? []);
    record.quotedFiles.delete(input);
  }
}

/** Forgets the attached versions of files that a call has read or changed since they were attached. */
function forgetOlderQuotes(
  { quotedFiles }: CallRecord,
  files: readonly { readonly path: string }[],
): void {
  for (const [input, quoted] of quotedFiles) {
    const kept = quoted.filter(({ path }) => files.every((each) => each.path !== path));
    quotedFiles.set(input, kept);
  }
}
