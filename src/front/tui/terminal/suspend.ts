import { standStill } from '../../../base/clock.ts';
import { printText } from '../../../sys/print.ts';
import type { Screen } from './screen.ts';

/** A process that can be stopped is stopped by then. */
const STOPPED_WITHIN_MS = 100;

/**
 * Gives the terminal to the shell, until `fg`: the process is stopped, and all its tasks with it. Where no shell
 * with job control is above it nobody can stop it, and the picture comes back at once.
 */
export function suspend(screen: Pick<Screen, 'suspend' | 'resume'>): void {
  screen.suspend();
  printText('Muster and all its tasks are suspended: fg goes on.\n');
  const goOn = (): void => {
    clearTimeout(timer);
    process.off('SIGCONT', goOn);
    // A signal that ends the process may have come along (`kill %1`), and is to be heard first.
    setImmediate(() => screen.resume());
  };
  process.once('SIGCONT', goOn);
  const timer = setTimeout(goOn, STOPPED_WITHIN_MS);
  // The whole job, as a terminal does it: a program that has started this one (npm) waits as well.
  // No time limit runs out meanwhile: who comes back finds the calls and tasks at work that were so before.
  standStill(() => process.kill(0, 'SIGTSTP'));
}
