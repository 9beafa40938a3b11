import type { ShellState } from '../protocol/state/owned-work.ts';
import type { ChildReceipt, Receipt, ShellRun } from '../protocol/result.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { CommandRun } from '../protocol/tool.ts';

/** The most commands of a child, and of all below it, that its parent's log keeps. */
const MAX_COMMANDS = 100;
/** UTF-16 units of one command; a longer one is counted and not kept. */
const MAX_COMMAND_LENGTH = 1_000;

/** The receipt of a task, folded from its log alone. */
export function receiptOf(state: TaskState): Receipt {
  return {
    filesRead: [...state.filesRead.values()],
    filesChanged: [...state.filesChanged.values()],
    commands: state.commands,
    shells: [...state.shells].map(([id, shell]) => shellRun(state, id, shell)),
    children: [...state.children.keys()],
    childReceipts: Object.fromEntries(
      [...state.children].flatMap(([id, { receipt }]) => (receipt === null ? [] : [[id, receipt]])),
    ),
    refusals: state.refusals,
    models: state.models,
    faults: [...state.faults].map(([fault, count]) => ({ fault, count })),
    ...(state.reused === null ? {} : { reused: { task: state.reused.of, at: state.reused.at } }),
    endedBecause: state.end?.because ?? 'it has not ended',
    claims: state.activation.claims,
  };
}

/** A shell whose process died with that of its task is lost, also before a resume has written that down. */
function shellRun({ status }: TaskState, id: string, { command, end }: ShellState): ShellRun {
  const unseen = status === 'interrupted' ? 'lost' : null;
  return { id, command, end: end?.how ?? unseen, exitCode: end?.exitCode ?? null };
}

/** The part of a child's receipt that its parent's log keeps: what it and all below it ran, of bounded size. */
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
  const kept = all
    .filter(({ command }) => command.length <= MAX_COMMAND_LENGTH)
    .slice(-MAX_COMMANDS);
  const unknown = Math.max(0, (toolCounts.get('Bash') ?? 0) - commands.length - shells.size);
  const lower = below.reduce((sum, receipt) => sum + (receipt?.commandsLeftOut ?? 1), 0);
  return {
    commands: kept,
    commandsLeftOut: all.length - kept.length + unknown + child.unknownCalls.size + lower,
    tools: [
      ...new Set([...toolCounts.keys(), ...below.flatMap((receipt) => receipt?.tools ?? [])]),
    ],
  };
}
