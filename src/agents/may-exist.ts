import { statSync } from 'node:fs';

/** Whether there is something to look at. Most places do not exist: this tells so without the cost of an error. */
export function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // It is there and cannot be looked at; whoever opens it says why.
    return true;
  }
}
