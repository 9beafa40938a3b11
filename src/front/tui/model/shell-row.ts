import type { ShellEnd } from '../../../protocol/result.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';

/** A background shell of a task, as the UI shows it. */
export interface ShellRow {
  readonly id: string;
  /** The task that has started the shell. */
  readonly task: string;
  readonly command: string;
  /** True if the shell is work of a server and not a command. */
  readonly isRemote: boolean;
  /** The path of the file with the output. */
  readonly output: string;
  /** The time of the start, by the monotonic clock of this process. */
  readonly startedAt: number;
  /** The end, with the time by the same clock; null if none is known. */
  readonly end: {
    readonly how: ShellEnd;
    readonly exitCode: number | null;
    readonly at: number;
  } | null;
}

/** The maximum number of shells in the list. If there are more, the oldest ended ones are removed. */
const MAX_SHELLS = 400;

/**
 * Replaces the shells of a task by those of its state. `clockShift` is the clock shift of this process, because another
 * process may have written the log.
 */
export function placeShells(
  shells: Map<string, ShellRow>,
  { spec, lifetime, shells: known }: Pick<TaskState, 'lifetime' | 'shells' | 'spec'>,
  clockShift: number,
): void {
  const behindMs = lifetime.newest.clockShift - clockShift;
  for (const [id, { command, end, output, startedAt, remote }] of known) {
    shells.set(id, {
      id,
      task: spec.id,
      command,
      isRemote: remote !== null,
      output,
      startedAt: startedAt + behindMs,
      end: end === null ? null : { ...end, at: end.at + behindMs },
    });
  }
  if (shells.size <= MAX_SHELLS) return;
  for (const [id, { end }] of shells) {
    if (shells.size <= MAX_SHELLS) return;
    if (end !== null) shells.delete(id);
  }
}
