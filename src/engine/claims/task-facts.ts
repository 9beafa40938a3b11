import type { CommandRun } from '../../protocol/tool.ts';
import type { ClaimFacts, ClaimRun } from './facts.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

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
