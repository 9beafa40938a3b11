import { printText } from '../../sys/print.ts';
import type { Screen } from './pi/screen.ts';

/** Of the process's own time, which stands still while it is stopped. */
const STOPPED_WITHIN_MS = 100;

/**
 * Gives the terminal to the shell, until `fg`: the process is stopped, and all its tasks with it. Where no shell
 * with job control is above it nobody can stop it, and the picture comes back at once.
 */
export function suspend(screen: Pick<Screen, 'stopNow' | 'start' | 'redraw'>): void {
  screen.stopNow();
  printText('Muster and all its tasks are suspended: fg goes on.\n');
  const goOn = (): void => {
    clearTimeout(timer);
    process.off('SIGCONT', goOn);
    screen.start();
    screen.redraw();
  };
  process.once('SIGCONT', goOn);
  const timer = setTimeout(goOn, STOPPED_WITHIN_MS);
  // The whole job, as a terminal does it: a program that has started this one (npm) waits as well.
  process.kill(0, 'SIGTSTP');
}
