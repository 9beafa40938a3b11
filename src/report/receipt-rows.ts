import { collapseWhitespace, truncate } from '../base/text.ts';
import type { Receipt, ShellRun } from '../protocol/result.ts';
import { formatFlag } from '../receipts/answer-flags.ts';

export { formatFlag as flagText, formatFlags as flagsText } from '../receipts/answer-flags.ts';

/** One row of a receipt with its items, each on a line of its own. Items quote text of the task. */
export interface ReceiptRow {
  readonly name: string;
  readonly items: readonly string[];
}

/** Characters of a hash, enough to tell two contents of one file apart. */
const SHOWN_HASH = 8;
/** Code points of a command that are shown. */
const SHOWN_COMMAND = 80;
const IDS_IN_LINE = 5;

/**
 * Lists the rows of a receipt, for people. A row without items says that nothing of its kind happened.
 */
export function receiptRows(receipt: Receipt): readonly ReceiptRow[] {
  const { filesRead, filesChanged, commands, shells, faults, claims, reused } = receipt;
  return [
    { name: 'read', items: filesRead.map(({ path, hash }) => `${hashText(hash)}  ${path}`) },
    {
      name: 'changed',
      items: filesChanged.map(({ path, before, after, movedFrom }) => {
        const from = movedFrom === undefined ? '' : ` (moved from ${movedFrom})`;
        return `${hashText(before)} → ${hashText(after)}  ${path}${from}`;
      }),
    },
    {
      name: 'commands',
      items: commands.map(({ command, exitCode }) => `${exitText(exitCode)}  ${cut(command)}`),
    },
    { name: 'shells', items: shells.map(shellText) },
    { name: 'children', items: inLines(receipt.children) },
    { name: 'refused', items: receipt.refusals },
    { name: 'faults', items: faults.map(({ fault, count }) => `${fault} × ${count}`) },
    { name: 'models', items: receipt.models },
    { name: 'claims', items: claims.map(formatFlag) },
    ...(reused === undefined ? [] : [{ name: 'reused', items: [reusedText(reused)] }]),
    { name: 'ended', items: [receipt.endedBecause] },
  ];
}

function reusedText({ task, at }: NonNullable<Receipt['reused']>): string {
  return `from ${task}, which ended ${new Date(at).toISOString()}`;
}

/** Puts ids into lines that fit a screen 80 columns wide. */
function inLines(ids: readonly string[]): readonly string[] {
  const lines = Math.ceil(ids.length / IDS_IN_LINE);
  return Array.from({ length: lines }, (_, at) =>
    ids.slice(at * IDS_IN_LINE, (at + 1) * IDS_IN_LINE).join(', '),
  );
}

function hashText(hash: string | null): string {
  return hash === null ? 'nothing'.padEnd(SHOWN_HASH) : hash.slice(0, SHOWN_HASH);
}

function exitText(exitCode: number | null): string {
  return (exitCode === null ? 'signal' : `exit ${exitCode}`).padEnd(SHOWN_HASH);
}

function shellText({ id, command, end, exitCode }: ShellRun): string {
  const code = exitCode === null ? '' : `, exit code ${exitCode}`;
  return `${id} (${cut(command)}): ${end ?? 'running'}${code}`;
}

function cut(command: string): string {
  const line = collapseWhitespace(command);
  const shown = truncate(line, SHOWN_COMMAND);
  return shown === line ? line : `${shown}…`;
}
