import type { EventListener, Muster, ResultEnvelope, Run } from '../../api/index.ts';
import { isCancelled } from '../../base/errors.ts';
import { formatDuration, plural } from '../../base/text.ts';
import { readEnvironment } from '../../sys/env.ts';
import { printError, printAnswer, printJson } from '../../sys/print.ts';
import { flagsText } from '../../report/receipt-rows.ts';
import { endOnSignals } from './end-on-signals.ts';
import { exitCode } from './exit-code.ts';
import { LiveLines, LongWork } from './live-lines.ts';
import { printParkedQuestions } from './question-lines.ts';
import { RefusedCommands, withRefusedCommands } from './refused-commands.ts';
import { paidTokens } from '../../protocol/model.ts';
import { resultLine } from '../../protocol/stream-line.ts';
import type { OutputFormat } from '../../protocol/output-format.ts';
import { costText, countText } from '../../report/cost-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import {
  addUsageTotals,
  NO_USAGE_TOTAL,
  sumLedger,
  type Ledger,
  type UsageTotal,
} from '../../protocol/state/ledger.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

export interface HeadlessOptions {
  readonly format: OutputFormat;
  readonly verbose: boolean;
  /** The data directory, if it was given on the command line: it is part of the commands that are shown. */
  readonly dataDir: string | null;
  /** Called when the run has started; a run that cannot start is reported as an error. */
  readonly onStarted?: () => void;
}

/**
 * Runs a task to its end without a person: the answer goes to stdout, the progress to stderr. The signal given
 * to `begin` is aborted when the process shall end. Resolves to the exit code.
 */
export async function runHeadless(
  muster: Muster,
  begin: (onEvent: EventListener, signal: AbortSignal) => Promise<Run>,
  { format, verbose, dataDir, onStarted }: HeadlessOptions,
): Promise<number> {
  const { stderr } = process;
  const output = createOutput(format);
  const isWatched = stderr.isTTY === true || verbose;
  const detail = verbose ? 'calls' : isWatched ? 'tasks' : 'waits';
  const block = canDraw(format) ? await openBlock() : null;
  const print = (line: string) => printError(`${line}\n`, 'prose');
  const live = new LiveLines((line) => (block === null ? print(line) : block.line(line)), {
    detail,
    roots: 'hidden',
  });
  const longWork = isWatched ? null : new LongWork(live);
  const use = new TreeUse();
  const commands = new RefusedCommands();
  const signals = endOnSignals(muster);
  try {
    const run = await begin((event, state) => {
      output.event(event);
      live.show(event, state);
      longWork?.add(event, state);
      block?.add(event, state);
      use.add(state);
      commands.add(event);
    }, signals.signal);
    onStarted?.();
    const envelope = await run.result;
    block?.end();
    output.result(envelope);
    if (envelope.error !== null && format === 'text') {
      const { code, message } = envelope.error;
      printError(`muster: ${envelope.data.status}: ${code}: ${message}\n`);
    }
    const flags = flagsText(envelope.data.receipt.claims);
    if (flags !== '' && format === 'text') printError(`muster: ${flags}\n`);
    if (envelope.data.status === 'parked') printParkedQuestions(run, dataDir);
    const refused = commands.problem();
    if (refused !== null) printError(`muster: ${refused}\n`);
    if (isWatched && format === 'text') printError(`${lastLine(envelope, use)}\n`);
    return signals.code() ?? withRefusedCommands(exitCode(envelope.data.status), refused);
  } catch (thrown) {
    const code = signals.code();
    if (code === null || !isCancelled(thrown)) throw thrown;
    return code;
  } finally {
    block?.end();
    signals.stop();
  }
}

/** The module is not loaded for a run that nobody watches. */
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

function lastLine({ data, stats }: ResultEnvelope, use: TreeUse): string {
  const paid = data.usage.input + data.usage.cache_write + data.usage.output;
  const cost = data.cost_usd === null ? '' : `, $${data.cost_usd.toFixed(4)}`;
  const tree = use.text();
  const below = tree === null ? '' : `; ${tree}`;
  return `${data.model_used}, ${data.turns} turns, ${paid} tokens${cost}, ${formatDuration(stats.time_ms)}, task ${data.task_id}${below}`;
}

/** Writes the events and the result of a run to stdout in one format. */
interface Output {
  event(event: TaskEvent): void;
  result(envelope: ResultEnvelope): void;
}

function createOutput(format: OutputFormat): Output {
  switch (format) {
    case 'text':
      return { event: () => {}, result: ({ data }) => printAnswer(withLineEnd(data.result)) };
    case 'json':
      return { event: () => {}, result: (envelope) => printJson(envelope) };
    case 'stream-json':
      return {
        event: (event) => printJson(event),
        result: (envelope) => printJson(resultLine(envelope)),
      };
    default:
      return format satisfies never;
  }
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Adds up what the tasks of a run have used. */
class TreeUse {
  private readonly ledgers = new Map<string, Ledger>();

  add({ spec, ledger }: TaskState): void {
    this.ledgers.set(spec.id, ledger);
  }

  /** Describes the usage of the main task and its subagents; null if it had none. */
  text(): string | null {
    if (this.ledgers.size < 2) return null;
    const use = this.total({ isEstimated: false });
    const estimated = this.total({ isEstimated: true });
    const paid = countText(paidTokens(use.usage));
    const about =
      estimated.answers === 0
        ? ''
        : ` and about ${countText(paidTokens(estimated.usage))} tokens, ${costText(estimated)}, of ${plural(estimated.answers, 'answer')} that ended without usage`;
    const below = plural(this.ledgers.size - 1, 'subagent');
    return `with ${below} ${paid} tokens, ${costText(use)}${about}`;
  }

  private total(of: { readonly isEstimated: boolean }): UsageTotal {
    return [...this.ledgers.values()].reduce<UsageTotal>(
      (sum, ledger) => addUsageTotals(sum, sumLedger(ledger, of)),
      NO_USAGE_TOTAL,
    );
  }
}
