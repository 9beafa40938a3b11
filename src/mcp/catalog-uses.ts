import type { McpConnections } from './connections.ts';
import { isUsedPerTask, type McpServerEntry } from './server-entry.ts';
import type { McpServer } from './server-use.ts';

/** The uses of servers by the tasks of a process. */
export class CatalogUses {
  private readonly connections: Pick<McpConnections, 'open'>;
  /** The uses that all tasks share, by the name of the server. */
  private readonly shared = new Map<string, McpServer>();
  /** The uses of single tasks, by the id of the task and the name of the server. */
  private readonly ofTasks = new Map<string, Map<string, McpServer>>();

  constructor(connections: Pick<McpConnections, 'open'>) {
    this.connections = connections;
  }

  /** Returns the use of a server: that of a task if each task has its own, else the shared one. Starts nothing. */
  of(entry: McpServerEntry, task?: string): McpServer {
    const uses = task === undefined || !isUsedPerTask(entry) ? this.shared : this.ofTask(task);
    const known = uses.get(entry.name);
    if (known !== undefined) return known;
    const use = this.connections.open(entry);
    uses.set(entry.name, use);
    return use;
  }

  /** Ends the uses that only one task has. */
  endTask(task: string): void {
    const uses = this.ofTasks.get(task);
    if (uses === undefined) return;
    this.ofTasks.delete(task);
    // An error while a server ends concerns nobody: it is not used any more.
    for (const use of uses.values()) void use.release().catch(() => {});
  }

  private ofTask(task: string): Map<string, McpServer> {
    const uses = this.ofTasks.get(task) ?? new Map<string, McpServer>();
    this.ofTasks.set(task, uses);
    return uses;
  }
}
