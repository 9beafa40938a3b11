import type { LeftProcesses } from '../../protocol/tool.ts';
import {
  describeRemainingProcesses,
  shortenRemainingProcesses,
  type RemainingProcesses,
} from '../../sys/processes/remaining-processes.ts';

/** Returns the processes that a command left running, for the log; an empty object if there were none. */
export function listLeftProcesses(remaining: RemainingProcesses): {
  readonly left?: LeftProcesses;
} {
  return remaining.count === 0 ? {} : { left: shortenRemainingProcesses(remaining) };
}

/** Formats the note about the processes that a command left running. Returns null if there were none. */
export function formatLeftProcesses(remaining: RemainingProcesses): string | null {
  const description = describeRemainingProcesses(remaining);
  return description === null ? null : `[${description}]`;
}
