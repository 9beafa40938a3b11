import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { printError } from '../../sys/print.ts';

/** Prints one line for a person on stderr, safe whatever it quotes. */
export function printNotice(line: string): void {
  printError(`muster: ${line}\n`);
}

/**
 * Handles output that cannot be written, from now on. A reader that went away (`| head -1`) is no error;
 * anything else, such as a full disk, is one clear line and exit code 1.
 */
export function watchOutput(): void {
  let isReported = false;
  process.stdout.on('error', (error) => {
    if (isReported || systemErrorCode(error) === 'EPIPE') return;
    isReported = true;
    printNotice(`the output can't be written: ${errorMessage(error)}`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  // If stderr is lost, there is nobody to report it to.
  process.stderr.on('error', () => {});
}
