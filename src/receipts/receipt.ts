import type { ShellState } from '../protocol/state/owned-work.ts';
import type { ChildReceipt, Receipt, ShellRun } from '../protocol/result.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { CommandRun } from '../protocol/tool.ts';
import { isInside } from '../base/path-inside.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { plural, truncate } from '../base/text.ts';
import { classifyCommand, hasCommands, lastRuns, type CheckKind } from './command-kinds.ts';

/** The maximum number of commands of a child, and of all below it, that its parent's log keeps. */
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

/** How much a receipt line says: names and numbers, or numbers alone where hundreds of tasks must have room. */
type ReceiptDetail = 'full' | 'counts';

const SHOWN_FILES = 8;
const SHOWN_COMMANDS = 6;
const SHOWN_REFUSALS = 3;
const SHOWN_TOOLS = 8;
/** Code points of one file name, command, refusal or tool name. */
const SHOWN_LENGTH = 100;
const PLAIN_PATH = /^[\p{L}\p{N}_@./+~()[\]#%=-]{1,100}$/u;

/**
 * States what a task really did, from its log alone, as the parts of one line: its tool calls, the files that it and
 * all below it changed, its commands with their exit codes, tests, build, commits and refusals. Each of these is
 * named, also where there was nothing. Names and commands are the task's own words, so they are quoted and cut.
 */
export function receiptParts(state: TaskState, detail: ReceiptDetail): readonly string[] {
  const { children, unknownCalls } = state;
  return [
    callsPart(state, detail),
    filesPart(state, detail),
    commandsPart(state, detail),
    ...(hasCommands(state) || detail === 'full'
      ? [checkPart(state, 'test', detail), checkPart(state, 'build', detail), commitsPart(state)]
      : []),
    refusalsPart(state, detail),
    ...(children.size === 0 ? [] : [childrenPart(state)]),
    ...(unknownCalls.size === 0
      ? []
      : [`${plural(unknownCalls.size, 'call')} with an unknown outcome`]),
  ];
}

/** A command as receipts show it: `"npm test" exit 1`. */
export function runText({ command, exitCode }: CommandRun): string {
  return `${quoteText(command)} ${exitCode === null ? 'ended by a signal' : `exit ${exitCode}`}`;
}

/** Quotes a text of a task on one line, so that nothing in it can end the quotes; says so where it is cut. */
export function quoteText(text: string): string {
  const start = truncate(text, SHOWN_LENGTH);
  const line = sanitizeLine(start);
  const shown = truncate(line, SHOWN_LENGTH);
  if (start === text && shown === line) return JSON.stringify(shown);
  return `${JSON.stringify(`${shown}…`)} (cut, ${text.length} characters)`;
}

function callsPart({ toolCounts }: TaskState, detail: ReceiptDetail): string {
  const total = [...toolCounts.values()].reduce((sum, count) => sum + count, 0);
  const calls = plural(total, 'tool call');
  if (total === 0 || detail === 'counts') return calls;
  const tools = [...toolCounts].map(([tool, count]) => `${pathText(tool)} ${count}`);
  return `${calls} (${firstOf(tools, SHOWN_TOOLS)})`;
}

function filesPart({ filesChanged, spec }: TaskState, detail: ReceiptDetail): string {
  if (filesChanged.size === 0) return 'no files changed';
  if (detail === 'counts') return `${plural(filesChanged.size, 'file')} changed`;
  const files = [...filesChanged.values()].map(({ path, before, after }) => {
    const isNested = path !== spec.cwd && isInside(spec.cwd, path);
    const shown = pathText(isNested ? path.slice(spec.cwd.length).replace(/^\//, '') : path);
    if (after === null) return `${shown} (deleted)`;
    return before === null ? `${shown} (new)` : shown;
  });
  return `changed: ${firstOf(files, SHOWN_FILES)}`;
}

function commandsPart({ commands, shells }: TaskState, detail: ReceiptDetail): string {
  const total = commands.length + shells.size;
  if (total === 0) return 'no commands';
  const counted = `${plural(total, 'command')}${nonzeroText(commands)}`;
  if (detail === 'counts') return counted;
  const inShells = [...shells.values()].map(({ command, end }) =>
    end?.how === 'exited'
      ? `${runText({ command, exitCode: end.exitCode })} in the background`
      : `${quoteText(command)} in the background: ${end?.how ?? 'running'}`,
  );
  const shown = [...commands.slice(-SHOWN_COMMANDS).map(runText), ...inShells].slice(
    -SHOWN_COMMANDS,
  );
  return `${total > shown.length ? counted : 'commands'}: ${lastOf(shown, total)}`;
}

function nonzeroText(commands: readonly CommandRun[]): string {
  const count = commands.filter(({ exitCode }) => exitCode !== 0).length;
  return count === 0 ? '' : ` (${count} did not exit with 0)`;
}

function checkPart(state: TaskState, kind: CheckKind, detail: ReceiptDetail): string {
  const noun = kind === 'test' ? 'tests' : 'build';
  if (!hasCommands(state)) return `${noun} not run`;
  const { own, others } = lastRuns(state, kind);
  const counts = (['passed', 'failed', 'unclear'] as const).flatMap((outcome) => {
    const count = others.filter((run) => run.outcome === outcome).length;
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const elsewhere = `in subagents or the background: ${counts.join(', ')}`;
  if (own === null) {
    // A script of any name may have run them: only that none was recognized is certain.
    const none = kind === 'test' ? 'no test run recognized' : 'no build recognized';
    return counts.length === 0 ? none : `${noun} ${elsewhere}`;
  }
  const outcome = own.outcome === 'unclear' ? 'run with an unclear result' : own.outcome;
  const shown = detail === 'counts' ? '' : ` (${runText(own)})`;
  return `${noun} ${outcome}${shown}${counts.length === 0 ? '' : `, ${elsewhere}`}`;
}

function commitsPart({ commands, children }: TaskState): string {
  const below = [...children.values()].flatMap(({ receipt }) => receipt?.commands ?? []);
  const outcomes = [...commands, ...below].map((run) => classifyCommand(run).get('commit'));
  const count = outcomes.filter((outcome) => outcome === 'passed').length;
  const unclear = outcomes.filter((outcome) => outcome === 'unclear').length;
  const sure = count === 0 ? 'no commits' : plural(count, 'commit');
  return unclear === 0 ? sure : `${sure}, ${unclear} with an unclear result`;
}

function refusalsPart({ refusals }: TaskState, detail: ReceiptDetail): string {
  const { length } = refusals;
  if (length === 0) return 'no refusals';
  if (detail === 'counts') return plural(length, 'refusal');
  const shown = refusals.slice(-SHOWN_REFUSALS).map(quoteText);
  return `${plural(length, 'refusal')}: ${lastOf(shown, length)}`;
}

function childrenPart({ children }: TaskState): string {
  const receipts = [...children.values()].map(({ receipt }) => receipt);
  const known = receipts.filter((receipt) => receipt !== null);
  const commands = known.flatMap((receipt) => receipt.commands);
  const omitted = known.reduce((sum, { commandsLeftOut }) => sum + commandsLeftOut, 0);
  const unknown = receipts.length - known.length;
  return [
    plural(children.size, 'subagent'),
    ` with ${plural(commands.length, 'command')}${nonzeroText(commands)}`,
    omitted === 0 ? '' : ` and ${omitted} that the log does not have`,
    unknown === 0 ? '' : `, ${unknown} without a receipt`,
  ].join('');
}

function pathText(path: string): string {
  return PLAIN_PATH.test(path) ? path : quoteText(path);
}

function firstOf(items: readonly string[], shown: number): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function lastOf(shown: readonly string[], total: number): string {
  const earlier = total - shown.length;
  return shown.join(', ') + (earlier > 0 ? ` and ${earlier} earlier` : '');
}
