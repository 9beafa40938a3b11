import { rejectOnAbort } from '../base/async.ts';
import type { FileEvent } from '../protocol/languages.ts';
import type { WorkspaceChanges } from '../sys/files/changes/workspace-changes.ts';

/** Is called for each change of a file that was found, whoever made it. */
export interface ChangeListener {
  found(event: FileEvent): void;
  /** Called if files have changed that are not known one by one. */
  unknown(): void;
}

/** Finds the changes of a project's files for those who have read them. */
export class ProjectChanges {
  private readonly load: (() => Promise<WorkspaceChanges>) | undefined;
  private readonly listeners: ChangeListener[] = [];
  private opened: Promise<WorkspaceChanges> | null = null;
  private stopListening = (): void => {};

  /** `load`: loads the part that finds the changes. Default: no changes are found. */
  constructor(load?: () => Promise<WorkspaceChanges>) {
    this.load = load;
  }

  /** Adds a listener. It hears of the changes after the first call of `find`. */
  listen(listener: ChangeListener): void {
    this.listeners.push(listener);
  }

  /** Finds the changes up to now. Resolves to false if not all of them are known. Rejects only when the signal aborts. */
  async find(roots: readonly string[], signal: AbortSignal): Promise<boolean> {
    if (this.load === undefined) return false;
    try {
      this.opened ??= this.open(this.load);
      const changes = await this.opened;
      return await rejectOnAbort(changes.prepare(roots), signal);
    } catch {
      // Whoever asks treats unknown changes with care, so the reason does not matter.
      signal.throwIfAborted();
      return false;
    }
  }

  close(): void {
    this.stopListening();
  }

  private async open(load: () => Promise<WorkspaceChanges>): Promise<WorkspaceChanges> {
    const changes = await load();
    this.stopListening = changes.listen({
      found: (path, kind) => {
        for (const listener of this.listeners) listener.found({ path, kind });
      },
      unlisted: () => {
        for (const listener of this.listeners) listener.unknown();
      },
    });
    return changes;
  }
}
