import type { EventListener, Muster, Run } from '../../api/index.ts';
import { isCancelled } from '../../base/errors.ts';
import { printError } from '../../sys/print.ts';
import { endOnSignals } from './end-on-signals.ts';
import { exitCode } from './exit-code.ts';
import { ItemProgress } from './item-progress.ts';
import { LiveLines } from './live-lines.ts';
import { RefusedCommands, withRefusedCommands } from './refused-commands.ts';
import { printParkedQuestions } from './question-lines.ts';

export interface RunItemsOptions {
  /** Whether the calls of each task are shown. */
  readonly verbose: boolean;
  /** The data directory, if it was given on the command line: it is part of the commands that are shown. */
  readonly dataDir: string | null;
}

/**
 * Runs a template to its end without a person, and shows its progress on stderr. The results are in the logs.
 * The id is null if a signal ended the run before it started.
 */
export async function runItems(
  muster: Muster,
  begin: (onEvent: EventListener, signal: AbortSignal) => Promise<Run>,
  { verbose, dataDir }: RunItemsOptions,
): Promise<{ readonly id: string | null; readonly code: number }> {
  const progress = new ItemProgress(process.stderr);
  const live = new LiveLines((line) => progress.line(line), {
    detail: verbose ? 'calls' : 'waits',
    roots: 'hidden',
  });
  const commands = new RefusedCommands();
  const signals = endOnSignals(muster);
  try {
    const run = await begin((event, state) => {
      live.show(event, state);
      progress.add(event, state);
      commands.add(event);
    }, signals.signal);
    const envelope = await run.result;
    progress.end();
    const { error, data } = envelope;
    const resume = `muster run --continue ${run.id}`;
    if (error !== null) printError(`muster: ${data.status}: ${error.code}: ${error.message}\n`);
    if (data.status === 'parked') printParkedQuestions(run, dataDir);
    else if (data.status === 'stopped' || data.status === 'killed' || data.status === 'partial') {
      printError(`muster: to continue it: ${resume}\n`);
    } else if (data.status === 'failed') {
      printError(`muster: to run the failed items again: ${resume} --retry-failed\n`);
    }
    const refused = commands.problem();
    if (refused !== null) printError(`muster: ${refused}\n`);
    const code = withRefusedCommands(exitCode(envelope.data.status), refused);
    return { id: run.id, code: signals.code() ?? code };
  } catch (thrown) {
    const code = signals.code();
    if (code === null || !isCancelled(thrown)) throw thrown;
    return { id: null, code };
  } finally {
    progress.end();
    signals.stop();
  }
}
