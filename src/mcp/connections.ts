import { systemClock, type Clock } from '../base/clock.ts';
import type { WorkspaceInUse } from '../protocol/workspace-paths.ts';
import { createTarget, type TargetParts } from './create-target.ts';
import type { ConnectionStatus } from './connection-status.ts';
import { McpServerError } from './server-error.ts';
import { placeInWorkspace, type ServerPlace } from './server-place.ts';
import { ServerConnection } from './server-connection.ts';
import type { AskForServer } from './server-data.ts';
import {
  findConfinement,
  fingerprintServer,
  isUsedPerTask,
  serverId,
  type McpServerEntry,
} from './server-entry.ts';
import { ServerUse, type McpServer } from './server-use.ts';
import type { McpEventListener } from './server-events.ts';

/** The parts that connections to servers need from outside. */
export interface McpConnectionsOptions extends TargetParts {
  /** The directory in which servers run whose entry names none. Absolute. */
  readonly cwd: string;
  /** The directories that servers may know as the user's workspace. Default: none. */
  readonly roots?: readonly string[];
  /** Asks the user a question of a server. Default: servers are told that nobody can be asked. */
  readonly ask?: AskForServer;
  readonly onEvent?: McpEventListener;
  /** Called after the state of a connection has changed. Default: nobody is told. */
  readonly onStateChange?: () => void;
  /** The limit `workspace_servers`. Default: `MAX_WORKSPACE_SERVERS`. */
  readonly workspaceServers?: number;
  readonly clock?: Clock;
}

/** The state of one connection, for people. */
export interface McpServerStatus extends ConnectionStatus {
  readonly entry: McpServerEntry;
  /** The directory of the workspace for which it is; null for the directories of the session. */
  readonly tree: string | null;
}

/**
 * The maximum number of server processes that run for workspaces at a time (the limit `workspace_servers`). One that is not
 * in use ends when another one needs its place.
 */
const MAX_WORKSPACE_SERVERS = 16;

/** The states of a connection whose server runs. */
const RUNNING: ReadonlySet<string> = new Set(['starting', 'ready']);

/** The connections of this process to servers. Users of the same entry in the same place share one. */
export interface McpConnections {
  /**
   * Creates a use of a server. Nothing is started before the first request.
   *
   * @param workspace the workspace for which the server works. Default: it works in the directories of the session
   */
  open(entry: McpServerEntry, workspace?: WorkspaceInUse): McpServer;
  status(): readonly McpServerStatus[];
  /** Lets a server that has failed too often start again at the next use. */
  retry(name: string): void;
  /**
   * Ends the processes of a server and starts them again; those for workspaces start at their next use. Rejects with the
   * error of one that cannot be started.
   */
  restart(entry: McpServerEntry, signal: AbortSignal): Promise<void>;
  /** Ends the processes of a server until its next use. */
  stop(entry: McpServerEntry): void;
  /** Ends all servers. Every later request fails. */
  close(): Promise<void>;
}

/** Creates the connections of this process. Loads and starts nothing. */
export function createMcpConnections(options: McpConnectionsOptions): McpConnections {
  return new Connections(options);
}

interface OpenConnection {
  readonly entry: McpServerEntry;
  readonly place: ServerPlace;
  readonly connection: ServerConnection;
}

class Connections implements McpConnections {
  private readonly options: McpConnectionsOptions;
  private readonly session: ServerPlace;
  private readonly clock: Clock;
  /** The connections by the fingerprint of their entry and their workspace, or by a number if one is not shared. */
  private readonly open_ = new Map<string | number, OpenConnection>();
  private nextNumber = 0;
  private isClosed = false;

  constructor(options: McpConnectionsOptions) {
    this.options = options;
    this.session = { cwd: options.cwd, roots: options.roots ?? [], workspace: null };
    this.clock = options.clock ?? systemClock;
  }

  open(entry: McpServerEntry, workspace?: WorkspaceInUse): McpServer {
    const key = entry.hasOwnConnection
      ? (this.nextNumber += 1)
      : JSON.stringify([
          fingerprintServer(entry),
          ...(workspace === undefined ? [] : [findConfinement(entry), workspace.tree]),
        ]);
    const known = this.open_.get(key);
    const { connection } = known ?? this.add(key, entry, workspace);
    connection.users += 1;
    let isReleased = false;
    return new ServerUse(entry, connection, async () => {
      if (isReleased) return;
      isReleased = true;
      connection.users -= 1;
      const isForOwners = isUsedPerTask(entry) || workspace !== undefined;
      if (connection.users > 0 || !isForOwners) return;
      this.open_.delete(key);
      await connection.close('released');
    });
  }

  status(): readonly McpServerStatus[] {
    return [...this.open_.values()].map(({ entry, place, connection }) =>
      Object.assign({ entry, tree: place.workspace?.tree ?? null }, connection.status),
    );
  }

  async restart(entry: McpServerEntry, signal: AbortSignal): Promise<void> {
    await Promise.all(
      this.findAll(entry).map(async ({ place, connection }) => {
        connection.stop('released');
        connection.retry();
        await connection.settle();
        if (place.workspace === null)
          await connection.use({ signal }, (session) => Promise.resolve(session.info));
      }),
    );
  }

  stop(entry: McpServerEntry): void {
    for (const { connection } of this.findAll(entry)) {
      connection.stop('released');
      // Those who wait for a session that cannot be opened get the error.
      connection.opening?.then(() => connection.stop('released')).catch(() => {});
    }
  }

  private findAll(entry: McpServerEntry): readonly OpenConnection[] {
    const fingerprint = fingerprintServer(entry);
    return [...this.open_.values()].filter((each) => fingerprintServer(each.entry) === fingerprint);
  }

  retry(name: string): void {
    for (const { entry, connection } of this.open_.values()) {
      if (entry.name === name) connection.retry();
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.open_.values()].map(({ connection }) => connection.close('closed')));
  }

  private add(
    key: string | number,
    entry: McpServerEntry,
    workspace: WorkspaceInUse | undefined,
  ): OpenConnection {
    const { options, session } = this;
    const { ask, onEvent, onStateChange } = options;
    const place = workspace === undefined ? session : placeInWorkspace(session, workspace);
    const source = { name: entry.name, tree: workspace?.tree ?? null };
    const connection = new ServerConnection({
      entry,
      place,
      clock: this.clock,
      onEvent: (event) => onEvent?.(source, event),
      onStateChange: () => onStateChange?.(),
      ask: ask ?? null,
      createTarget: async (signal) => {
        if (isWorkspaceProcess(added)) await this.makeRoom(added);
        return await createTarget(entry, { ...options, session, place }, signal);
      },
    });
    if (this.isClosed) void connection.close('closed');
    const added = { entry, place, connection };
    this.open_.set(key, added);
    return added;
  }

  /** Ends the server of a workspace that was not used for the longest time, if too many run to start another one. */
  private async makeRoom(starting: OpenConnection): Promise<void> {
    const others = [...this.open_.values()].filter(
      (each) =>
        each !== starting && isWorkspaceProcess(each) && RUNNING.has(each.connection.status.state),
    );
    const { workspaceServers: max = MAX_WORKSPACE_SERVERS } = this.options;
    if (others.length < max) return;
    const [oldest] = others
      .map(({ connection }) => connection)
      .filter(({ activeRequests, opening }) => activeRequests === 0 && opening === null)
      .toSorted((a, b) => a.lastUse - b.lastUse);
    if (oldest === undefined) {
      const message = `the limit workspace_servers = ${max} is reached: so many servers are in use by tasks in workspaces. Try again when one of their calls has ended`;
      throw new McpServerError(message, { server: serverId(starting.entry), kind: 'limit' });
    }
    oldest.stop('idle');
    await oldest.settle();
  }
}

function isWorkspaceProcess({ entry, place }: Omit<OpenConnection, 'connection'>): boolean {
  return place.workspace !== null && entry.transport.type === 'stdio';
}
