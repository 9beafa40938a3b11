import { dropMissing } from '../base/drop-missing.ts';
import { selectOwnFindings } from '../protocol/board.ts';
import { describeAcceptance } from '../protocol/acceptance.ts';
import { listCommandShells, type ShellState } from '../protocol/state/owned-work.ts';
import type { ChildReceipt, Receipt, ShellRun } from '../protocol/result.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import type { CommandRun, FileChange, UnlistedChanges } from '../protocol/tool.ts';
import { lazy } from '../base/lazy.ts';
import { isInside } from '../base/path-inside.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { plural, truncate } from '../base/text.ts';
import { classifyCommand, hasCommands, findLastRuns, type CheckKind } from './command-kinds.ts';

/** The maximum number of commands of a child and its descendants that the log of its parent contains. */
const MAX_COMMANDS = 100;
/** The maximum number of UTF-16 units of one command. A longer command is only counted. */
const MAX_COMMAND_LENGTH = 1_000;

/** Builds the receipt of a task from its state alone. */
export function buildReceipt(state: TaskState): Receipt {
  return {
    filesRead: [...state.filesRead.values()],
    filesChanged: [...state.filesChanged.values()],
    ...(state.unlistedChanges.size === 0
      ? {}
      : { unlistedChanges: [...state.unlistedChanges.values()] }),
    commands: state.commands,
    shells: [...state.shells].map(([id, shell]) => toShellRun(state, id, shell)),
    children: [...state.children.keys()],
    childReceipts: Object.fromEntries(
      [...state.children].flatMap(([id, { receipt }]) => (receipt === null ? [] : [[id, receipt]])),
    ),
    refusals: state.refusals,
    ...buildFindings(state),
    models: state.models,
    faults: [...state.faults].map(([fault, count]) => ({ fault, count })),
    ...(state.reused === null ? {} : { reused: { task: state.reused.of, at: state.reused.at } }),
    ...dropMissing({ acceptance: state.acceptance.checks.at(-1)?.outcome }),
    endedBecause: state.end?.because ?? 'it has not ended',
    claims: state.activation.claims,
  };
}

function buildFindings({ findings, spec }: TaskState): Pick<Receipt, 'findings'> {
  const own = selectOwnFindings(findings, spec.id);
  if (own.length === 0) return {};
  return { findings: own.map(({ finding, title }) => ({ id: finding, title })) };
}

/**
 * Describes a shell. A shell whose process died together with the process of its task is `lost`, even before a resume
 * has recorded that. Work of a server goes on.
 */
function toShellRun({ status }: TaskState, id: string, shell: ShellState): ShellRun {
  const { command, end, remote } = shell;
  const unrecorded = status === 'interrupted' && remote === null ? 'lost' : null;
  const left = end?.left === undefined ? {} : { left: end.left };
  const run = {
    id,
    command,
    end: end?.how ?? unrecorded,
    exitCode: end?.exitCode ?? null,
    ...left,
  };
  return remote === null ? run : { ...run, remote: true };
}

/**
 * Builds the part of a child's receipt that the log of its parent contains: the commands and tools of the child and
 * its descendants, of bounded size.
 */
export function buildChildReceipt(child: TaskState): ChildReceipt {
  const { commands, toolCounts, children } = child;
  const shells = listCommandShells(child);
  const below = [...children.values()].map(({ receipt }) => receipt);
  const all: readonly CommandRun[] = [
    ...below.flatMap((receipt) => receipt?.commands ?? []),
    ...shells.map(({ command, end }) => ({
      command,
      exitCode: end?.exitCode ?? null,
    })),
    ...commands,
  ];
  const listed = all
    .filter(({ command }) => command.length <= MAX_COMMAND_LENGTH)
    .slice(-MAX_COMMANDS);
  const unknown = Math.max(0, (toolCounts.get('Bash') ?? 0) - commands.length - shells.length);
  const lower = below.reduce((sum, receipt) => sum + (receipt?.commandsLeftOut ?? 1), 0);
  return {
    commands: listed,
    commandsLeftOut: all.length - listed.length + unknown + child.unknownCalls.size + lower,
    tools: [
      ...new Set([...toolCounts.keys(), ...below.flatMap((receipt) => receipt?.tools ?? [])]),
    ],
  };
}

/**
 * The detail of a receipt line. `full`: names and numbers. `counts`: only numbers, for lists of hundreds of tasks.
 */
type ReceiptDetail = 'full' | 'counts';

/** The maximum numbers of items that a receipt line names. */
const MAX_SHOWN_FILES = 8;
const MAX_SHOWN_UNLISTED = 3;
const MAX_SHOWN_COMMANDS = 6;
const MAX_SHOWN_REFUSALS = 3;
const MAX_SHOWN_TOOLS = 8;
/** The maximum number of code points of one file name, command, refusal or tool name. */
const MAX_TEXT_LENGTH = 100;
const PLAIN_PATH = lazy(() => /^[\p{L}\p{N}_@./+~()[\]#%=-]{1,100}$/u);

/**
 * Formats what a task really did, from its state alone, as the parts of one line: its tool calls, the files that the
 * task and its descendants changed, its commands with their exit codes, tests, build, commits and refusals. Each part
 * is present even if there was nothing. Names and commands come from the task, so they are quoted and cut.
 */
export function formatReceiptParts(state: TaskState, detail: ReceiptDetail): readonly string[] {
  const { children, unknownCalls } = state;
  return [
    formatCalls(state, detail),
    formatFiles(state, detail),
    formatCommands(state, detail),
    ...(hasCommands(state) || detail === 'full'
      ? [
          formatCheck(state, 'test', detail),
          formatCheck(state, 'build', detail),
          formatCommits(state),
        ]
      : []),
    formatRefusals(state, detail),
    ...formatFindings(state),
    ...state.acceptance.checks.slice(-1).map(({ outcome }) => describeAcceptance(outcome)),
    ...(children.size === 0 ? [] : [formatChildren(state)]),
    ...(unknownCalls.size === 0
      ? []
      : [`${plural(unknownCalls.size, 'call')} with an unknown outcome`]),
  ];
}

/** Formats a command and its exit code: `"npm test" exit 1`. */
export function formatRun({ command, exitCode }: CommandRun): string {
  return `${quoteText(command)} ${exitCode === null ? 'ended by a signal' : `exit ${exitCode}`}`;
}

/** Quotes a text on one line, so that nothing in it can end the quotes. A text that is cut is marked as cut. */
export function quoteText(text: string): string {
  const start = truncate(text, MAX_TEXT_LENGTH);
  const line = sanitizeLine(start);
  const shown = truncate(line, MAX_TEXT_LENGTH);
  if (start === text && shown === line) return JSON.stringify(shown);
  return `${JSON.stringify(`${shown}…`)} (cut, ${text.length} characters)`;
}

function formatCalls({ toolCounts }: TaskState, detail: ReceiptDetail): string {
  const total = [...toolCounts.values()].reduce((sum, count) => sum + count, 0);
  const calls = plural(total, 'tool call');
  if (total === 0 || detail === 'counts') return calls;
  const tools = [...toolCounts].map(([tool, count]) => `${formatPath(tool)} ${count}`);
  return `${calls} (${joinFirst(tools, MAX_SHOWN_TOOLS)})`;
}

function formatFiles(state: TaskState, detail: ReceiptDetail): string {
  const { filesChanged, unlistedChanges, spec } = state;
  if (filesChanged.size === 0 && unlistedChanges.size === 0) return 'no files changed';
  if (detail === 'counts') return `${plural(filesChanged.size, 'file')} changed`;
  const files = [...filesChanged.values()].map((change) => {
    const marks = listMarks(change);
    const shown = formatPathIn(spec.cwd, change.path);
    return marks.length === 0 ? shown : `${shown} (${marks.join(', ')})`;
  });
  const unlisted = [...unlistedChanges.values()].map((each) =>
    describeUnlisted(each, formatPathIn(spec.cwd, each.path)),
  );
  const listed = files.length === 0 ? [] : [joinFirst(files, MAX_SHOWN_FILES)];
  const rest = unlisted.length === 0 ? [] : [joinFirst(unlisted, MAX_SHOWN_UNLISTED)];
  return `changed: ${[...listed, ...rest].join(', ')}`;
}

/** Lists what happened to a file, and whether a command and not a tool for files did it. */
function listMarks({ before, after, byCommand }: FileChange): readonly string[] {
  const kind = after === null ? 'deleted' : before === null ? 'new' : null;
  const isModeOnly = before === after;
  return [
    ...(kind === null ? [] : [kind]),
    ...(kind === null && isModeOnly ? ['permissions'] : []),
    ...(byCommand === true ? ['by command'] : []),
  ];
}

/** Describes changes by commands that are not listed. `shown`: their path as it is shown. */
export function describeUnlisted(
  { reason, count = 0, detail = '' }: UnlistedChanges,
  shown: string,
): string {
  switch (reason) {
    case 'dependencies':
      return `${shown} (files not listed, by command)`;
    case 'names':
      return `${shown} (files with names that are not UTF-8, by command)`;
    case 'limit':
      return `${plural(count, 'more file')} in ${shown} (by command)`;
    case 'untracked':
      return `changes by commands in ${shown} are not recorded (${detail})`;
  }
}

function formatPathIn(cwd: string, path: string): string {
  const isNested = path !== cwd && isInside(cwd, path);
  return formatPath(isNested ? path.slice(cwd.length).replace(/^\//, '') : path);
}

function formatCommands(state: TaskState, detail: ReceiptDetail): string {
  const { commands } = state;
  const shells = listCommandShells(state);
  const total = commands.length + shells.length;
  if (total === 0) return 'no commands';
  const counted = `${plural(total, 'command')}${formatFailureCount(commands)}`;
  if (detail === 'counts') return counted;
  const inShells = shells.map(({ command, end }) =>
    end?.how === 'exited'
      ? `${formatRun({ command, exitCode: end.exitCode })} in the background`
      : `${quoteText(command)} in the background: ${end?.how ?? 'running'}`,
  );
  const shown = [...commands.slice(-MAX_SHOWN_COMMANDS).map(formatRun), ...inShells].slice(
    -MAX_SHOWN_COMMANDS,
  );
  return `${total > shown.length ? counted : 'commands'}: ${joinLast(shown, total)}`;
}

function formatFailureCount(commands: readonly CommandRun[]): string {
  const count = commands.filter(({ exitCode }) => exitCode !== 0).length;
  return count === 0 ? '' : ` (${count} did not exit with 0)`;
}

function formatCheck(state: TaskState, kind: CheckKind, detail: ReceiptDetail): string {
  const noun = kind === 'test' ? 'tests' : 'build';
  if (!hasCommands(state)) return `${noun} not run`;
  const { own, others } = findLastRuns(state, kind);
  const counts = (['passed', 'failed', 'unclear'] as const).flatMap((outcome) => {
    const count = others.filter((run) => run.outcome === outcome).length;
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const elsewhere = `in subagents or the background: ${counts.join(', ')}`;
  if (own === null) {
    // A script of any name may have run them, so the line only says that no run was recognized.
    const unrecognized = kind === 'test' ? 'no test run recognized' : 'no build recognized';
    return counts.length === 0 ? unrecognized : `${noun} ${elsewhere}`;
  }
  const outcome = own.outcome === 'unclear' ? 'run with an unclear result' : own.outcome;
  const shown = detail === 'counts' ? '' : ` (${formatRun(own)})`;
  return `${noun} ${outcome}${shown}${counts.length === 0 ? '' : `, ${elsewhere}`}`;
}

function formatCommits({ commands, children }: TaskState): string {
  const below = [...children.values()].flatMap(({ receipt }) => receipt?.commands ?? []);
  const outcomes = [...commands, ...below].map((run) => classifyCommand(run).get('commit'));
  const count = outcomes.filter((outcome) => outcome === 'passed').length;
  const unclear = outcomes.filter((outcome) => outcome === 'unclear').length;
  const sure = count === 0 ? 'no commits' : plural(count, 'commit');
  return unclear === 0 ? sure : `${sure}, ${unclear} with an unclear result`;
}

function formatRefusals({ refusals }: TaskState, detail: ReceiptDetail): string {
  const { length } = refusals;
  if (length === 0) return 'no refusals';
  if (detail === 'counts') return plural(length, 'refusal');
  const shown = refusals.slice(-MAX_SHOWN_REFUSALS).map(quoteText);
  return `${plural(length, 'refusal')}: ${joinLast(shown, length)}`;
}

function formatFindings({ findings, spec }: TaskState): readonly string[] {
  const { length } = selectOwnFindings(findings, spec.id);
  return length === 0 ? [] : [`${plural(length, 'finding')} on the board`];
}

function formatChildren({ children }: TaskState): string {
  const receipts = [...children.values()].map(({ receipt }) => receipt);
  const known = receipts.filter((receipt) => receipt !== null);
  const commands = known.flatMap((receipt) => receipt.commands);
  const omitted = known.reduce((sum, { commandsLeftOut }) => sum + commandsLeftOut, 0);
  const unknown = receipts.length - known.length;
  return [
    plural(children.size, 'subagent'),
    ` with ${plural(commands.length, 'command')}${formatFailureCount(commands)}`,
    omitted === 0 ? '' : ` and ${omitted} that the log does not have`,
    unknown === 0 ? '' : `, ${unknown} without a receipt`,
  ].join('');
}

function formatPath(path: string): string {
  return PLAIN_PATH().test(path) ? path : quoteText(path);
}

function joinFirst(items: readonly string[], shown: number): string {
  const more = items.length - shown;
  return items.slice(0, shown).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function joinLast(shown: readonly string[], total: number): string {
  const earlier = total - shown.length;
  return shown.join(', ') + (earlier > 0 ? ` and ${earlier} earlier` : '');
}
