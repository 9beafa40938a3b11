import { collapseWhitespace, plural, truncate } from '../base/text.ts';
import type { Receipt, ShellRun } from '../protocol/result.ts';
import type { FileChange, LeftProcesses } from '../protocol/tool.ts';
import { formatFlag } from '../receipts/answer-flags.ts';
import { describeUnlisted } from '../receipts/receipt.ts';

export { formatFlag as flagText, formatFlags as flagsText } from '../receipts/answer-flags.ts';

/**
 * One row of a receipt with its items. Each item is shown on a separate line. Items quote text of the task, so they
 * must be escaped.
 */
export interface ReceiptRow {
  readonly name: string;
  readonly items: readonly string[];
}

/** The number of characters of a hash that are shown. They are sufficient to distinguish two contents of one file. */
const SHOWN_HASH_LENGTH = 8;
/** The maximum number of code points of a command that are shown. */
const MAX_COMMAND_LENGTH = 80;
const IDS_PER_LINE = 5;

/** Lists the rows of a receipt for people. A row without items means that nothing of this kind happened. */
export function listReceiptRows(receipt: Receipt): readonly ReceiptRow[] {
  const { filesRead, filesChanged, commands, shells, faults, claims, reused } = receipt;
  return [
    { name: 'read', items: filesRead.map(({ path, hash }) => `${formatHash(hash)}  ${path}`) },
    {
      name: 'changed',
      items: [
        ...filesChanged.map((change) => {
          const { path, before, after } = change;
          return `${formatHash(before)} → ${formatHash(after)}  ${path}${formatMarks(change)}`;
        }),
        ...(receipt.unlistedChanges ?? []).map((each) => describeUnlisted(each, each.path)),
      ],
    },
    {
      name: 'commands',
      items: commands.map(
        ({ command, exitCode, left }) =>
          `${formatExit(exitCode)}  ${shorten(command)}${formatLeft(left)}`,
      ),
    },
    { name: 'shells', items: shells.map(formatShell) },
    { name: 'children', items: groupInLines(receipt.children) },
    { name: 'refused', items: receipt.refusals },
    ...(receipt.findings === undefined
      ? []
      : [{ name: 'findings', items: receipt.findings.map(({ id, title }) => `${id}  ${title}`) }]),
    { name: 'faults', items: faults.map(({ fault, count }) => `${fault} × ${count}`) },
    { name: 'models', items: receipt.models },
    { name: 'claims', items: claims.map(formatFlag) },
    ...(reused === undefined ? [] : [{ name: 'reused', items: [formatReuse(reused)] }]),
    { name: 'ended', items: [receipt.endedBecause] },
  ];
}

function formatReuse({ task, at }: NonNullable<Receipt['reused']>): string {
  return `from ${task}, which ended ${new Date(at).toISOString()}`;
}

/** Groups ids in lines that fit on a screen of 80 columns. */
function groupInLines(ids: readonly string[]): readonly string[] {
  const lines = Math.ceil(ids.length / IDS_PER_LINE);
  return Array.from({ length: lines }, (_, at) =>
    ids.slice(at * IDS_PER_LINE, (at + 1) * IDS_PER_LINE).join(', '),
  );
}

function formatMarks({ movedFrom, mode, newMode, byCommand, shared }: FileChange): string {
  const marks = [
    ...(movedFrom === undefined ? [] : [`moved from ${movedFrom}`]),
    ...(newMode === undefined ? [] : [`permissions ${formatMode(mode)} → ${formatMode(newMode)}`]),
    ...(byCommand === true ? ['by command'] : []),
    ...(shared === true ? ['or by another command at the same time'] : []),
  ];
  return marks.length === 0 ? '' : ` (${marks.join(', ')})`;
}

function formatMode(mode: number | undefined): string {
  return mode === undefined ? '?' : mode.toString(8);
}

function formatLeft(left: LeftProcesses | undefined): string {
  return left === undefined ? '' : `  (left ${plural(left.count, 'process', 'processes')})`;
}

/** Shows the start of a hash, or the kind of a content that has none. */
function formatHash(hash: string | null): string {
  if (hash === null) return 'nothing'.padEnd(SHOWN_HASH_LENGTH);
  const [kind = ''] = hash.split(':', 1);
  return kind.slice(0, SHOWN_HASH_LENGTH).padEnd(SHOWN_HASH_LENGTH);
}

function formatExit(exitCode: number | null): string {
  return (exitCode === null ? 'signal' : `exit ${exitCode}`).padEnd(SHOWN_HASH_LENGTH);
}

function formatShell({ id, command, end, exitCode, remote, left }: ShellRun): string {
  if (remote === true && end === 'exited') {
    return `${id} (${shorten(command)}): ${exitCode === 0 ? 'completed' : 'failed'}`;
  }
  const code = exitCode === null ? '' : `, exit code ${exitCode}`;
  return `${id} (${shorten(command)}): ${end ?? 'running'}${code}${formatLeft(left)}`;
}

function shorten(command: string): string {
  const line = collapseWhitespace(command);
  const shown = truncate(line, MAX_COMMAND_LENGTH);
  return shown === line ? line : `${shown}…`;
}
