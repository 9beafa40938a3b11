import type { StoredWorkspaces } from './contract.ts';
import { hasWorkspaces } from './has-workspaces.ts';
import type { StoredParts } from './stored-workspaces.ts';

/** The workspaces of a data directory, for which code is loaded when it is needed. */
export interface WorkspacesToOpen {
  /** Opens them. An abort of the signal ends what the methods do. */
  open(signal: AbortSignal): Promise<StoredWorkspaces>;
  /** Prunes them as `StoredWorkspaces.prune` does, if there are any. */
  prune(endedBefore: number): Promise<{ readonly kept: readonly string[] }>;
}

/** Gives access to the workspaces of a data directory. Loads nothing yet. */
export function openWorkspacesLater(parts: Omit<StoredParts, 'signal'>): WorkspacesToOpen {
  const open = async (signal: AbortSignal): Promise<StoredWorkspaces> => {
    const { openStoredWorkspaces } = await import('./stored-workspaces.ts');
    return openStoredWorkspaces({ ...parts, signal });
  };
  return {
    open,
    async prune(endedBefore) {
      if (!hasWorkspaces(parts.dataDir)) return { kept: [] };
      return await (await open(new AbortController().signal)).prune(endedBefore);
    },
  };
}
