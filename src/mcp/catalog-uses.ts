import type { McpConnections } from './connections.ts';
import { isUsedPerTask, type McpServerEntry } from './server-entry.ts';
import type { TaskOfCall } from './server-place.ts';
import type { McpServer } from './server-use.ts';

/** A use of a server, and those for whom it was opened. */
interface OwnedUse {
  readonly use: McpServer;
  /** The only task that has the use; null if tasks share it. */
  readonly task: string | null;
  /** The directory of the workspace whose tasks have the use; null for the directories of the session. */
  readonly tree: string | null;
}

/** The uses of servers by the tasks of a process. */
export class CatalogUses {
  private readonly connections: Pick<McpConnections, 'open'>;
  /** The uses by the name of the server, the task and the workspace. */
  private readonly uses = new Map<string, OwnedUse>();

  constructor(connections: Pick<McpConnections, 'open'>) {
    this.connections = connections;
  }

  /**
   * Returns the use of a server: that of a task if each task has its own, else the one that all tasks in the same
   * workspace, or outside of workspaces, share. Starts nothing.
   */
  of(entry: McpServerEntry, calling?: TaskOfCall): McpServer {
    const task = isUsedPerTask(entry) ? (calling?.id ?? null) : null;
    const tree = calling?.workspace?.tree ?? null;
    const key = JSON.stringify([entry.name, task, tree]);
    const known = this.uses.get(key);
    if (known !== undefined) return known.use;
    const use = this.connections.open(entry, calling?.workspace);
    this.uses.set(key, { use, task, tree });
    return use;
  }

  /** Ends the uses that only one task has. */
  endTask(task: string): void {
    // An error while a server ends concerns nobody: it is not used any more.
    for (const use of this.take((each) => each.task === task)) void use.release().catch(() => {});
  }

  /** Ends the uses for a workspace, and waits until their servers have ended. */
  async endWorkspace(tree: string): Promise<void> {
    const ended = this.take((each) => each.tree === tree).map((use) => use.release());
    await Promise.allSettled(ended);
  }

  private take(isEnded: (use: OwnedUse) => boolean): readonly McpServer[] {
    const taken = [...this.uses].filter(([, each]) => isEnded(each));
    for (const [key] of taken) this.uses.delete(key);
    return taken.map(([, { use }]) => use);
  }
}
