import { systemClock } from '../../base/clock.ts';
import type { Session, ResultEnvelope } from '../../api/index.ts';
import { formatDuration, plural } from '../../base/text.ts';
import { readEnvironment } from '../../sys/env.ts';
import { printError, printAnswer, printJson } from '../../sys/print.ts';
import { describeLeftChanges } from '../../report/left-changes.ts';
import { flagsText } from '../../report/receipt-rows.ts';
import { LiveLines, reportLongWork } from './live-lines.ts';
import { runToEnd, type BeginRun } from './run-to-end.ts';
import { paidTokens } from '../../protocol/model.ts';
import { resultLine } from '../../protocol/stream-line.ts';
import type { OutputFormat } from '../../protocol/output-format.ts';
import { formatCost, formatCount } from '../../report/cost-text.ts';
import {
  addUsageTotals,
  sumLedger,
  type Ledger,
  type UsageTotal,
} from '../../protocol/state/ledger.ts';

export interface HeadlessOptions {
  readonly format: OutputFormat;
  readonly verbose: boolean;
  /** The data directory, if it was given on the command line: it is part of the commands that are shown. */
  readonly dataDir: string | null;
  /** Called when the run has started. It is not called for a run that cannot start. */
  readonly onStarted?: () => void;
  /** Prints the result of the run. Default: it is printed in the format. */
  readonly printResult?: (envelope: ResultEnvelope) => void;
}

/**
 * Runs a task to its end without a person: the answer goes to stdout, the progress to stderr. Resolves
 * to the exit code.
 */
export async function runHeadless(
  muster: Session,
  begin: BeginRun,
  options: HeadlessOptions,
): Promise<number> {
  const { format, verbose, dataDir, onStarted } = options;
  const { printResult = (envelope) => printInFormat(envelope, format) } = options;
  const isWatched = process.stderr.isTTY === true || verbose;
  const detail = verbose ? 'calls' : isWatched ? 'tasks' : 'waits';
  const block = canDraw(format) ? await openBlock() : null;
  const print = (line: string) =>
    block === null ? printError(`${line}\n`, 'prose') : block.line(line);
  const live = new LiveLines(print, { detail, roots: 'hidden' });
  const longWork = isWatched ? null : reportLongWork(live);
  const ledgers = new Map<string, Ledger>();
  if (verbose) muster.watchSignals((signal) => live.showProgress(signal, systemClock.monotonic()));
  const beginAndReport: BeginRun = async (onEvent, signal) => {
    const run = await begin(onEvent, signal);
    onStarted?.();
    return run;
  };
  const { code } = await runToEnd(muster, beginAndReport, {
    dataDir,
    onEvent: (event, state) => {
      if (format === 'stream-json') printJson(event);
      live.show(event, state);
      longWork?.(event, state);
      block?.add(event, state);
      ledgers.set(state.spec.id, state.ledger);
    },
    onResult: printResult,
    onReported: (envelope) => {
      if (isWatched && format === 'text') printError(`${lastLine(envelope, ledgers)}\n`);
    },
    endProgress: () => block?.end(),
  });
  return code;
}

/** Opens the block of live lines. Its module is loaded only for a run whose progress is drawn. */
async function openBlock() {
  const { LiveBlock } = await import('./live-block.ts');
  return new LiveBlock(process.stderr);
}

/** Whether tasks can be drawn: events printed on the same terminal would disturb the drawing. */
function canDraw(format: OutputFormat): boolean {
  const { stderr, stdout } = process;
  const isAlone = format !== 'stream-json' || stdout.isTTY !== true;
  return stderr.isTTY === true && isAlone && readEnvironment()['TERM'] !== 'dumb';
}

function printInFormat(envelope: ResultEnvelope, format: OutputFormat): void {
  const { data, error } = envelope;
  if (format === 'json') printJson(envelope);
  if (format === 'stream-json') printJson(resultLine(envelope));
  if (format !== 'text') return;
  printAnswer(data.result === '' || data.result.endsWith('\n') ? data.result : `${data.result}\n`);
  if (error !== null) printError(`muster: ${data.status}: ${error.code}: ${error.message}\n`);
  const { workspace, task_id: id } = data;
  if (workspace !== undefined && workspace.left !== null) {
    const line = describeLeftChanges(id, workspace, workspace.left);
    if (line !== null) printError(`muster: ${line}\n`);
  }
  const flags = flagsText(data.receipt.claims);
  if (flags !== '') printError(`muster: ${flags}\n`);
}

/**
 * Writes the last line of a run for a person. `ledgers` are the ledgers of the main task and of its subagents, by id.
 */
function lastLine({ data, stats }: ResultEnvelope, ledgers: ReadonlyMap<string, Ledger>): string {
  const paid = data.usage.input + data.usage.cache_write + data.usage.output;
  const cost = data.cost_usd === null ? '' : `, $${data.cost_usd.toFixed(4)}`;
  const tree = ledgers.size < 2 ? '' : `; ${treeUseText([...ledgers.values()])}`;
  return `${data.model_used}, ${plural(data.turns, 'turn')}, ${paid} tokens${cost}, ${formatDuration(stats.time_ms)}, task ${data.task_id}${tree}`;
}

/** Describes what the main task and its subagents have used together. */
function treeUseText(ledgers: readonly Ledger[]): string {
  const total = (isEstimated: boolean) =>
    ledgers.map((ledger) => sumLedger(ledger, { isEstimated })).reduce(addUsageTotals);
  const [use, estimated] = [total(false), total(true)];
  const about =
    estimated.answers === 0
      ? ''
      : ` and about ${formatCount(paidTokens(estimated.usage))} tokens, ${costText(estimated)}, of ${plural(estimated.answers, 'answer')} that ended without usage`;
  const below = plural(ledgers.length - 1, 'subagent');
  return `with ${below} ${formatCount(paidTokens(use.usage))} tokens, ${costText(use)}${about}`;
}

function costText(use: UsageTotal): string {
  const cost = formatCost(use);
  return cost === 'unknown' ? 'cost unknown' : cost;
}
