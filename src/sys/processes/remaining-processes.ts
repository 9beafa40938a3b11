import { setTimeout as sleep } from 'node:timers/promises';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { plural } from '../../base/text.ts';
import type { ProcessGroup } from './process-group.ts';
import { describeProcesses, type RunningProcess } from './process-table.ts';

/** The time in which processes may end by themselves before they count as remaining. */
const EXIT_GRACE_MS = 300;
const POLL_INTERVAL_MS = 50;
/** The maximum number of command lines that the note names. */
const MAX_NAMED = 4;
const MAX_NAME_LENGTH = 80;

/** The processes of a command that still ran when its shell had ended. */
interface FoundProcesses {
  /** The number of all these processes. */
  readonly remaining: number;
  /** The details of the first processes. */
  readonly processes: readonly RunningProcess[];
}

/** Processes that a command left running in the background. */
export interface RemainingProcesses {
  readonly count: number;
  /** The command lines of the first processes. */
  readonly commands: readonly string[];
}

export const NO_PROCESSES: RemainingProcesses = { count: 0, commands: [] };

/**
 * Finds the processes of a group that do not end by themselves within EXIT_GRACE_MS. Stops waiting as soon as
 * `isEnding` returns true, which means that they are being stopped.
 */
export async function findRemainingProcesses(
  group: Pick<ProcessGroup, 'members'>,
  isEnding: () => boolean,
): Promise<FoundProcesses> {
  const giveUpAt = performance.now() + EXIT_GRACE_MS;
  let pids = group.members() ?? [];
  while (pids.length > 0 && performance.now() < giveUpAt && !isEnding()) {
    await sleep(POLL_INTERVAL_MS);
    pids = group.members() ?? [];
  }
  const processes = describeProcesses(pids);
  return { remaining: processes.length, processes };
}

/**
 * Selects the processes that belong to the user's command. A subshell that only waits for its children is not counted,
 * because its children are counted.
 *
 * @param shell the command line of the shell, by which its subshells are recognized
 */
export function summarizeRemainingProcesses(
  { remaining, processes }: FoundProcesses,
  shell: readonly string[],
): RemainingProcesses {
  const shellLine = oneLine(shell.join(' '));
  const parents = new Set(processes.map(({ parent }) => parent));
  const isShell = ({ command }: RunningProcess): boolean =>
    command !== '' && shellLine.startsWith(oneLine(command));
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

/** Returns the processes that a command left running in a form that is short enough for a log. */
export function shortenRemainingProcesses({
  count,
  commands,
}: RemainingProcesses): RemainingProcesses {
  return { count, commands: commands.slice(0, MAX_NAMED).map(shorten) };
}

/** Describes the processes that still ran when the shell had ended, as a clause. Returns null if there were none. */
export function describeRemainingProcesses({ count, commands }: RemainingProcesses): string | null {
  if (count === 0) return null;
  const were = plural(count, 'process was', 'processes were');
  const shownCommands = commands.filter((command) => command !== '').slice(0, MAX_NAMED);
  const names = shownCommands.map((command) => JSON.stringify(shorten(command)));
  if (names.length > 0 && names.length < count) names.push('…');
  const list = names.length === 0 ? '' : `: ${names.join(', ')}`;
  return `${were} still running in the background and stopped with the command${list}`;
}

function shorten(command: string): string {
  return command.length <= MAX_NAME_LENGTH ? command : `${command.slice(0, MAX_NAME_LENGTH)}…`;
}
