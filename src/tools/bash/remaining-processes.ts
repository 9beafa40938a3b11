import { setTimeout as sleep } from 'node:timers/promises';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { plural } from '../../base/text.ts';
import { describeProcesses, type RunningProcess } from '../../sys/processes/process-table.ts';
import type { ProcessGroup } from '../../sys/processes/process-group.ts';

/** How long processes that are ending by themselves may take before they count as remaining. */
const GRACE_MS = 300;
const POLL_MS = 50;
/** The most command lines that the note names. */
const MAX_NAMED = 4;
const NAME_CHARS = 80;

/** Processes of a command that were found when its shell had ended. */
interface FoundProcesses {
  readonly remaining: number;
  /** Details of the first of them. */
  readonly processes: readonly RunningProcess[];
}

/** Processes that a command left running in the background. */
export interface RemainingProcesses {
  readonly count: number;
  /** The command lines of the first of them. */
  readonly commands: readonly string[];
}

export const NO_PROCESSES: RemainingProcesses = { count: 0, commands: [] };

/**
 * Finds the processes of a group that do not end by themselves soon. Stops waiting once `isEnding` says that they are
 * being stopped.
 */
export async function findRemainingProcesses(
  group: Pick<ProcessGroup, 'members'>,
  isEnding: () => boolean,
): Promise<FoundProcesses> {
  const giveUpAt = performance.now() + GRACE_MS;
  let pids = group.members() ?? [];
  while (pids.length > 0 && performance.now() < giveUpAt && !isEnding()) {
    await sleep(POLL_MS);
    pids = group.members() ?? [];
  }
  const processes = describeProcesses(pids);
  return { remaining: processes.length, processes };
}

/**
 * Picks the processes that belong to the user's command. A subshell that only waits for its children is not counted,
 * because its children are; it is recognized by `shell`, the arguments of the shell.
 */
export function summarizeRemainingProcesses(
  { remaining, processes }: FoundProcesses,
  shell: readonly string[],
): RemainingProcesses {
  const own = oneLine(shell.join(' '));
  const parents = new Set(processes.map(({ parent }) => parent));
  const isShell = ({ command }: RunningProcess): boolean =>
    command !== '' && own.startsWith(oneLine(command));
  const named = processes.filter((each) => !(isShell(each) && parents.has(each.pid)));
  return {
    count: remaining - (processes.length - named.length),
    commands: named.map((each) => (isShell(each) ? 'a subshell' : oneLine(each.command))),
  };
}

/** Escapes control characters, and characters that hide or reverse text. */
function oneLine(text: string): string {
  // The last character may have been cut.
  const complete = text.replace(/\uFFFD+$/, '');
  return sanitizeForTerminal(complete.replaceAll(/\s+/g, ' ').trim(), 'exact');
}

/** The note on processes that still ran when the shell had ended; null when there were none. */
export function describeRemainingProcesses({ count, commands }: RemainingProcesses): string | null {
  if (count === 0) return null;
  const were = plural(count, 'process was', 'processes were');
  const known = commands.filter((command) => command !== '').slice(0, MAX_NAMED);
  const names = known.map((command) => JSON.stringify(cut(command)));
  if (names.length > 0 && names.length < count) names.push('…');
  const which = names.length === 0 ? '' : `: ${names.join(', ')}`;
  return `[${were} still running in the background and stopped with the command${which}]`;
}

function cut(command: string): string {
  return command.length <= NAME_CHARS ? command : `${command.slice(0, NAME_CHARS)}…`;
}
