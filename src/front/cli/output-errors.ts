import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { printError } from '../../sys/print.ts';

/**
 * From now on output that can't be written ends in no stack trace. A reader that went away
 * (`| head -1`) is no error; anything else (a full disk) is one clear line and exit code 1.
 */
export function watchOutput(): void {
  let told = false;
  process.stdout.on('error', (error) => {
    if (told || systemErrorCode(error) === 'EPIPE') return;
    told = true;
    printError(`muster: the output can't be written: ${errorMessage(error)}\n`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  // Where nobody hears what goes wrong, there is nobody to tell.
  process.stderr.on('error', () => {});
}
