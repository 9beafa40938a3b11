import { collapseWhitespace, truncate } from '../base/text.ts';
import type { Receipt, ShellRun } from '../protocol/result.ts';
import { formatFlag } from '../receipts/answer-flags.ts';

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
      items: filesChanged.map(({ path, before, after, movedFrom }) => {
        const from = movedFrom === undefined ? '' : ` (moved from ${movedFrom})`;
        return `${formatHash(before)} → ${formatHash(after)}  ${path}${from}`;
      }),
    },
    {
      name: 'commands',
      items: commands.map(
        ({ command, exitCode }) => `${formatExit(exitCode)}  ${shorten(command)}`,
      ),
    },
    { name: 'shells', items: shells.map(formatShell) },
    { name: 'children', items: groupInLines(receipt.children) },
    { name: 'refused', items: receipt.refusals },
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

function formatHash(hash: string | null): string {
  return hash === null ? 'nothing'.padEnd(SHOWN_HASH_LENGTH) : hash.slice(0, SHOWN_HASH_LENGTH);
}

function formatExit(exitCode: number | null): string {
  return (exitCode === null ? 'signal' : `exit ${exitCode}`).padEnd(SHOWN_HASH_LENGTH);
}

function formatShell({ id, command, end, exitCode, remote }: ShellRun): string {
  if (remote === true && end === 'exited') {
    return `${id} (${shorten(command)}): ${exitCode === 0 ? 'completed' : 'failed'}`;
  }
  const code = exitCode === null ? '' : `, exit code ${exitCode}`;
  return `${id} (${shorten(command)}): ${end ?? 'running'}${code}`;
}

function shorten(command: string): string {
  const line = collapseWhitespace(command);
  const shown = truncate(line, MAX_COMMAND_LENGTH);
  return shown === line ? line : `${shown}…`;
}
