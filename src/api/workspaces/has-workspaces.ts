import { join } from 'node:path';
import { directoryNames } from '../../sys/files/path-lookup.ts';

/** Tells whether a data directory has workspaces, so that the code for them is loaded only then. */
export function hasWorkspaces(dataDir: string): boolean {
  return directoryNames(join(dataDir, 'workspaces')).length > 0;
}
