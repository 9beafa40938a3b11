import type { TaskState } from '../protocol/state/task-state.ts';
import type { CommandRun } from '../protocol/tool.ts';
import { classifyCommand, type CommandKind, type CommandOutcome } from './command-kinds.ts';

export type CheckKind = Exclude<CommandKind, 'commit'>;

interface LastRun extends CommandRun {
  readonly outcome: CommandOutcome;
}

/** The last runs of the tests or the build. Those of subagents and background shells have no order among them. */
interface LastRuns {
  /** The last one among the task's own foreground commands; null: there was none. */
  readonly own: LastRun | null;
  readonly others: readonly LastRun[];
}

/** Whether a task, or a child of it, is known to have run a command. */
export function hasCommands({ commands, shells, children }: TaskState): boolean {
  if (commands.length > 0 || shells.size > 0) return true;
  return [...children.values()].some(
    ({ receipt }) => receipt === null || receipt.commands.length + receipt.commandsLeftOut > 0,
  );
}

/** Finds the last runs of one kind, in the task and in each of its children and background shells. */
export function lastRuns({ commands, shells, children }: TaskState, kind: CheckKind): LastRuns {
  const groups = [
    ...[...shells.values()].map(({ command, end }) => [
      { command, exitCode: end?.exitCode ?? null },
    ]),
    ...[...children.values()].map(({ receipt }) => receipt?.commands ?? []),
  ];
  const others = groups.map((group) => lastRun(group, kind)).filter((run) => run !== null);
  return { own: lastRun(commands, kind), others };
}

/** Finds the run to name where all last runs of a kind failed; null: one may have passed, or there was none. */
export function failedRun(state: TaskState, kind: CheckKind): CommandRun | null {
  const { own, others } = lastRuns(state, kind);
  const all = own === null ? others : [own, ...others];
  return all.every(({ outcome }) => outcome === 'failed') ? (all[0] ?? null) : null;
}

function lastRun(commands: readonly CommandRun[], kind: CheckKind): LastRun | null {
  for (const run of commands.toReversed()) {
    const outcome = classifyCommand(run).get(kind);
    if (outcome !== undefined) return { ...run, outcome };
  }
  return null;
}
