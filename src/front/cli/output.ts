import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { printError } from '../../sys/print.ts';

/** Prints one line for a person on stderr. Control characters in it are made harmless. */
export function printNotice(line: string): void {
  printError(`muster: ${line}\n`);
}

/**
 * Handles output that cannot be written from now on. It is no error that the reader has gone (`| head -1`). Any other
 * failure, such as a full disk, is reported on one line and leads to exit code 1.
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
  // An error of stderr cannot be reported anywhere.
  process.stderr.on('error', () => {});
}
