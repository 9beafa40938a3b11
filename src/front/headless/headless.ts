import type { EventListener, Muster, ResultEnvelope, Run } from '../../api/index.ts';
import { isCancelled } from '../../base/errors.ts';
import { formatDuration } from '../../base/text.ts';
import { readEnvironment } from '../../sys/env.ts';
import { printError } from '../../sys/print.ts';
import { endOnSignals } from './end-on-signals.ts';
import { exitCode } from './exit-code.ts';
import { LiveLines } from './live-lines.ts';
import { LongWork } from './long-work.ts';
import { createOutput } from './output.ts';
import { RefusedCommands, withRefusedCommands } from './refused-commands.ts';
import { claimsNote } from '../../protocol/claims-note.ts';
import { tellQuestions } from './tell-questions.ts';
import { TreeUse } from './tree-use.ts';
import type { OutputFormat } from '../../protocol/output-format.ts';

export interface HeadlessOptions {
  readonly format: OutputFormat;
  readonly verbose: boolean;
  /** Where logs are kept, if that was said on the command line: for the commands that it tells of. */
  readonly dataDir: string | null;
  /** Called when the run has begun: what can't begin is told in one line of its own. */
  readonly onStarted?: () => void;
}

/**
 * Runs what `begin` begins to its end without a person: the answer on stdout, who works on what on stderr.
 * The signal is that of the process to end. Resolves to the exit code.
 */
export async function runHeadless(
  muster: Muster,
  begin: (onEvent: EventListener, signal: AbortSignal) => Promise<Run>,
  { format, verbose, dataDir, onStarted }: HeadlessOptions,
): Promise<number> {
  const { stderr } = process;
  const output = createOutput(format);
  const watched = stderr.isTTY === true || verbose;
  const detail = verbose ? 'calls' : watched ? 'tasks' : 'waits';
  const block = canDraw(format) ? await openBlock() : null;
  const print = (line: string) => printError(`${line}\n`, 'prose');
  const live = new LiveLines((line) => (block === null ? print(line) : block.line(line)), {
    detail,
    roots: 'hidden',
  });
  const longWork = watched ? null : new LongWork(live);
  const used = new TreeUse();
  const commands = new RefusedCommands();
  const signals = endOnSignals(muster);
  try {
    const run = await begin((event, state) => {
      output.event(event);
      live.show(event, state);
      longWork?.see(event, state);
      block?.see(event, state);
      used.see(state);
      commands.see(event);
    }, signals.signal);
    onStarted?.();
    const envelope = await run.result;
    block?.end();
    output.result(envelope);
    if (envelope.error !== null && format === 'text') {
      const { code, message } = envelope.error;
      printError(`muster: ${envelope.data.status}: ${code}: ${message}\n`);
    }
    const note = claimsNote(envelope.data.receipt.claims);
    if (note !== '' && format === 'text') printError(`muster: ${note.slice(1, -1)}\n`);
    if (envelope.data.status === 'parked') tellQuestions(run, dataDir);
    const refused = commands.problem();
    if (refused !== null) printError(`muster: ${refused}\n`);
    if (watched && format === 'text') printError(`${lastLine(envelope, used)}\n`);
    return signals.code() ?? withRefusedCommands(exitCode(envelope.data.status), refused);
  } catch (thrown) {
    const code = signals.code();
    if (code === null || !isCancelled(thrown)) throw thrown;
    return code;
  } finally {
    block?.end();
    signals.forget();
  }
}

/** Nothing of it is loaded where nobody looks. */
async function openBlock() {
  const { LiveBlock } = await import('./live-block.ts');
  return new LiveBlock(process.stderr);
}

/** Events on the same terminal would stand in the middle of it. */
function canDraw(format: OutputFormat): boolean {
  const { stderr, stdout } = process;
  const isAlone = format !== 'stream-json' || stdout.isTTY !== true;
  return stderr.isTTY === true && isAlone && readEnvironment()['TERM'] !== 'dumb';
}

function lastLine({ data, stats }: ResultEnvelope, used: TreeUse): string {
  const paid = data.usage.input + data.usage.cache_write + data.usage.output;
  const cost = data.cost_usd === null ? '' : `, $${data.cost_usd.toFixed(4)}`;
  const tree = used.text();
  const below = tree === null ? '' : `; ${tree}`;
  return `${data.model_used}, ${data.turns} turns, ${paid} tokens${cost}, ${formatDuration(stats.time_ms)}, task ${data.task_id}${below}`;
}
