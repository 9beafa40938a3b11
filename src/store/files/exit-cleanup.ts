import { rmSync } from 'node:fs';

/** Temporary directories of this process. One listener serves all of them, because Node warns of more than ten. */
const directories = new Set<string>();

/** Deletes a directory at the end of the process, unless `forgetAtExit` is called before. */
export function deleteAtExit(directory: string): void {
  if (directories.size === 0) process.once('exit', deleteAll);
  directories.add(directory);
}

/** Leaves a directory alone at the end of the process. */
export function forgetAtExit(directory: string): void {
  if (directories.delete(directory) && directories.size === 0) process.off('exit', deleteAll);
}

function deleteAll(): void {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}
