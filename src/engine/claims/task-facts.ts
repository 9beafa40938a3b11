import type { ChildReceipt } from '../../protocol/result.ts';
import type { TaskState } from '../../protocol/state.ts';
import type { CommandRun } from '../../protocol/tool.ts';
import type { ClaimFacts, ClaimRun } from './facts.ts';

/** What the log of a task has of its work, to hold its answer against. */
export function taskFacts(state: TaskState): ClaimFacts {
  const { spec, toolCounts, shells, commands } = state;
  const below = [...state.children.values()].map(({ receipt }) => receipt);
  const inShells = [...shells.values()].map(({ command, end }): readonly ClaimRun[] => [
    { command, exitCode: end?.exitCode ?? 'unknown' },
  ]);
  const own = commands.map(({ command, exitCode }) => ({
    command,
    exitCode: exitCode ?? ('killed' as const),
  }));
  return {
    prompt: askedLast(state),
    cwd: spec.cwd,
    read: [...state.filesRead.keys()],
    changed: [...state.filesChanged.keys()],
    runs: [own, ...inShells, ...below.map((receipt) => (receipt?.commands ?? []).map(ofChild))],
    tools: new Set([...toolCounts.keys(), ...below.flatMap((receipt) => receipt?.tools ?? [])]),
    hasGaps:
      state.unknownCalls.size > 0 ||
      state.handed.size > 0 ||
      (toolCounts.get('Bash') ?? 0) > commands.length + shells.size ||
      below.some((receipt) => receipt === null || receipt.commandsLeftOut > 0),
  };
}

/** The receipt of a child doesn't tell a command that was killed from one that it left running. */
function ofChild({ command, exitCode }: CommandRun): ClaimRun {
  return { command, exitCode: exitCode ?? 'unknown' };
}

/** What the task was asked for: at a resume that, and what it was made for. */
function askedLast({ spec, conversation }: TaskState): string {
  for (const message of conversation.messages.toReversed()) {
    if (message.role !== 'user') continue;
    const said = message.content.filter(({ text }) => !text.startsWith('<notice>'));
    if (said.length === 0) continue;
    const asked = said.map(({ text }) => text).join('\n');
    return asked.includes(spec.prompt) ? asked : `${asked}\n${spec.prompt}`;
  }
  return spec.prompt;
}

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
