import type { ChildReceipt } from '../../protocol/result.ts';
import type { CommandRun } from '../../protocol/tool.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Commands of a child, and of all below it, that its parent's log keeps. */
const MOST_COMMANDS = 100;
/** UTF-16 units of one; a longer one is left out. */
const LONGEST_COMMAND = 1_000;

/** What a child and all below it did, for its parent's log: of bounded size. */
export function childReceipt(child: TaskState): ChildReceipt {
  const { commands, shells, toolCounts, children } = child;
  const below = [...children.values()].map(({ receipt }) => receipt);
  const all: readonly CommandRun[] = [
    ...below.flatMap((receipt) => receipt?.commands ?? []),
    ...[...shells.values()].map(({ command, end }) => ({
      command,
      exitCode: end?.exitCode ?? null,
    })),
    ...commands,
  ];
  const kept = all.filter(({ command }) => command.length <= LONGEST_COMMAND).slice(-MOST_COMMANDS);
  const unknown = Math.max(0, (toolCounts.get('Bash') ?? 0) - commands.length - shells.size);
  const lower = below.reduce(
    (sum, receipt) => sum + (receipt === null ? 1 : receipt.commandsLeftOut),
    0,
  );
  return {
    commands: kept,
    commandsLeftOut: all.length - kept.length + unknown + child.unknownCalls.size + lower,
    tools: [
      ...new Set([...toolCounts.keys(), ...below.flatMap((receipt) => receipt?.tools ?? [])]),
    ],
  };
}
