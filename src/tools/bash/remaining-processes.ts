import { setTimeout as sleep } from 'node:timers/promises';
import { terminalText } from '../../base/terminal-text.ts';
import { plural } from '../../base/text.ts';
import { describeProcesses, type RunningProcess } from '../../sys/process-table.ts';
import type { ProcessGroup } from '../../sys/processes.ts';

/** How long what is ending by itself may take for it, before it counts as left. */
const GRACE_MS = 300;
const LOOK_MS = 50;
/** Command lines in the note. */
const MOST_NAMED = 4;
const NAME_CHARS = 80;

/** Processes of a command that were there when its shell had ended. */
interface FoundProcesses {
  readonly left: number;
  /** The first of them. */
  readonly processes: readonly RunningProcess[];
}

export interface LeftRunning {
  readonly count: number;
  /** Command lines, of the first of them. */
  readonly commands: readonly string[];
}

export const NONE_LEFT: LeftRunning = { count: 0, commands: [] };

/** The processes of a group that do not end by themselves soon. `isEnding`: they are being ended, and nobody asks. */
export async function stillRunning(
  group: Pick<ProcessGroup, 'members'>,
  isEnding: () => boolean,
): Promise<FoundProcesses> {
  const giveUpAt = performance.now() + GRACE_MS;
  let pids = group.members() ?? [];
  while (pids.length > 0 && performance.now() < giveUpAt && !isEnding()) {
    await sleep(LOOK_MS);
    pids = group.members() ?? [];
  }
  const processes = describeProcesses(pids);
  return { left: processes.length, processes };
}

/**
 * What the user's command has left, by the processes found. A subshell that only waits for its own children is
 * part of the shell (`shell`: its arguments), and its children stand for it. Pure.
 */
export function leftRunning(
  { left, processes }: FoundProcesses,
  shell: readonly string[],
): LeftRunning {
  const own = oneLine(shell.join(' '));
  const parents = new Set(processes.map(({ parent }) => parent));
  const isShell = ({ command }: RunningProcess): boolean =>
    command !== '' && own.startsWith(oneLine(command));
  const named = processes.filter((each) => !(isShell(each) && parents.has(each.pid)));
  return {
    count: left - (processes.length - named.length),
    commands: named.map((each) => (isShell(each) ? 'a subshell' : oneLine(each.command))),
  };
}

/** Control characters, and what hides or turns text around, become harmless. */
function oneLine(text: string): string {
  // A character may have been cut in two.
  const whole = text.replace(/\uFFFD+$/, '');
  return terminalText(whole.replaceAll(/\s+/g, ' ').trim(), 'exact');
}

/** What of a command was still there when its shell had ended; null for nothing. */
export function leftRunningNote({ count, commands }: LeftRunning): string | null {
  if (count === 0) return null;
  const were = plural(count, 'process was', 'processes were');
  const known = commands.filter((command) => command !== '').slice(0, MOST_NAMED);
  const names = known.map((command) => JSON.stringify(cut(command)));
  if (names.length > 0 && names.length < count) names.push('…');
  const which = names.length === 0 ? '' : `: ${names.join(', ')}`;
  return `[${were} still running in the background and stopped with the command${which}]`;
}

function cut(command: string): string {
  return command.length <= NAME_CHARS ? command : `${command.slice(0, NAME_CHARS)}…`;
}
