import type { EventListener, Muster, Run } from '../../api/index.ts';
import { isCancelled } from '../../base/errors.ts';
import { printError } from '../../sys/print.ts';
import { endOnSignals } from './end-on-signals.ts';
import { exitCode } from './exit-code.ts';
import { ItemProgress } from './item-progress.ts';
import { LiveLines } from './live-lines.ts';
import { RefusedCommands, withRefusedCommands } from './refused-commands.ts';
import { tellQuestions } from './tell-questions.ts';

export interface RunItemsOptions {
  /** Also what each task calls. */
  readonly verbose: boolean;
  /** Where logs are kept, if that was said on the command line: for the commands that it tells of. */
  readonly dataDir: string | null;
}

/**
 * Runs a template to its end without a person; how far it is goes to stderr. What came of it is in the logs.
 * Null for the id: a signal ended it before it had begun.
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
      progress.see(event, state);
      commands.see(event);
    }, signals.signal);
    const envelope = await run.result;
    progress.end();
    const { error, data } = envelope;
    const goOn = `muster run --continue ${run.id}`;
    if (error !== null) printError(`muster: ${data.status}: ${error.code}: ${error.message}\n`);
    if (data.status === 'parked') tellQuestions(run, dataDir);
    else if (data.status === 'stopped' || data.status === 'killed' || data.status === 'partial') {
      printError(`muster: to go on with it: ${goOn}\n`);
    } else if (data.status === 'failed') {
      printError(`muster: to do again what failed: ${goOn} --retry-failed\n`);
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
    signals.forget();
  }
}
