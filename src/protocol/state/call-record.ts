import type { TaskEvent } from '../events/event.ts';
import type { CommandRun, FileChange, FileSeen } from '../tool.ts';

/** What the calls of a task have really done, as their outcomes tell. */
export interface CallRecord {
  readonly filesRead: Map<string, FileSeen>;
  /** By the task and by all below it. */
  readonly filesChanged: Map<string, FileChange>;
  /**
   * The hash of each file as this task last read or wrote it; null: it deleted the file, or moved one
   * there, or put something into one, that it had not read.
   */
  readonly knownFiles: Map<string, string | null>;
  readonly commands: CommandRun[];
  /** Variables that it has set for its commands, by name, each with the event that says so. */
  readonly variables: Map<string, { readonly value: string; readonly seq: number }>;
  /** Names of the skills whose instructions it has got. */
  readonly skills: Set<string>;
}

export function addCallDetails(
  state: CallRecord,
  { facts, seq }: Extract<TaskEvent, { type: 'call.ended' }>,
): void {
  for (const seen of facts.read ?? []) {
    state.filesRead.set(seen.path, seen);
    state.knownFiles.set(seen.path, seen.hash);
  }
  for (const change of facts.changed ?? []) {
    state.knownFiles.set(change.path, isKnown(state, change) ? change.after : null);
  }
  addFileChanges(state, facts.changed ?? []);
  state.commands.push(...(facts.commands ?? []));
  if (facts.skill !== undefined) state.skills.add(facts.skill);
  for (const [name, value] of Object.entries(facts.variables ?? {})) {
    if (value === null) state.variables.delete(name);
    else state.variables.set(name, { value, seq });
  }
}

function isKnown({ knownFiles }: CallRecord, { movedFrom, after, unread }: FileChange): boolean {
  if (unread === true) return false;
  return movedFrom === undefined || knownFiles.get(movedFrom) === after;
}

/** A file changed twice is one change: from its first `before` to its last `after`. */
export function addFileChanges(state: CallRecord, changes: readonly FileChange[]): void {
  for (const change of changes) {
    const first = state.filesChanged.get(change.path);
    const before = first === undefined ? change.before : first.before;
    state.filesChanged.set(change.path, { ...change, before });
  }
}
