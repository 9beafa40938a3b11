import type { Session } from '../../api/index.ts';
import { printError } from '../../sys/print.ts';
import { ItemProgress } from './item-progress.ts';
import { LiveLines } from './live-lines.ts';
import { runToEnd, type BeginRun } from './run-to-end.ts';

export interface RunItemsOptions {
  /** Whether the calls of each task are shown. */
  readonly verbose: boolean;
  /** The data directory, if it was given on the command line: it is part of the commands that are shown. */
  readonly dataDir: string | null;
}

/**
 * Runs a template to its end without a person, and shows its progress on stderr. The results are in the logs. Resolves
 * to the exit code and the id of the run, which is null if a signal ended the run before it started.
 */
export function runItems(
  muster: Session,
  begin: BeginRun,
  { verbose, dataDir }: RunItemsOptions,
): ReturnType<typeof runToEnd> {
  const progress = new ItemProgress(process.stderr);
  const detail = verbose ? 'calls' : 'waits';
  const live = new LiveLines((line) => progress.line(line), { detail, roots: 'hidden' });
  return runToEnd(muster, begin, {
    dataDir,
    onEvent: (event, state) => {
      live.show(event, state);
      progress.add(event, state);
    },
    onResult: ({ error, data: { status } }, { id }) => {
      if (error !== null) printError(`muster: ${status}: ${error.code}: ${error.message}\n`);
      const resume = `muster run --continue ${id}`;
      if (status === 'stopped' || status === 'killed' || status === 'partial') {
        printError(`muster: to continue it: ${resume}\n`);
      } else if (status === 'failed') {
        printError(`muster: to run the failed items again: ${resume} --retry-failed\n`);
      }
    },
    endProgress: () => progress.end(),
  });
}
