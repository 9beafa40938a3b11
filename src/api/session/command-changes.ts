import type { WorkspaceChanges } from '../../sys/files/changes/workspace-changes.ts';

/** The part of a session that finds what commands change. */
export interface CommandChangesSource {
  /** Loads the part at its first use. */
  load(): Promise<WorkspaceChanges>;
  /** Closes its watches. */
  close(): Promise<void>;
}

/** Creates the part. `dataDirectory`: Muster's own data directory, which may lie in a root. */
export function createCommandChanges(dataDirectory: string): CommandChangesSource {
  let loaded: Promise<WorkspaceChanges> | null = null;
  const open = async (): Promise<WorkspaceChanges> => {
    const { WorkspaceChanges: Changes } =
      await import('../../sys/files/changes/workspace-changes.ts');
    return new Changes({ excluded: [dataDirectory], now: Date.now });
  };
  return {
    load: () => (loaded ??= open()),
    close: async () => (await loaded)?.close(),
  };
}
