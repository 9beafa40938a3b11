import { listenAt, removeDeadSockets } from './socket-file.ts';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { Connection } from './connection.ts';
import {
  CONTROL_LIMITS,
  type ControlLimits,
  type ControlReply,
  type ControlRequest,
} from './protocol.ts';
import { checkPathLength, currentUid } from './path.ts';
import { createSocketDirectory } from './socket-directory.ts';

/** The options of a control server. */
export interface ControlServerOptions {
  /** The path from `controlSocketPath`. The directory of the socket is created. The parent of this directory must exist. */
  readonly path: string;
  /**
   * Carries out a request. It is called only with valid requests, at most `limits.connections` at the same time. A
   * rejection becomes an error reply. If the client disconnects, its request is not cancelled.
   */
  handle(request: ControlRequest): Promise<ControlReply>;
  /** The limits that differ from `CONTROL_LIMITS`. */
  readonly limits?: Partial<ControlLimits>;
  /** The required owner of the directory. Default: this process's user. */
  readonly uid?: number;
}

/** A server that listens on a control socket. It does not keep the process alive. */
export interface ControlServer {
  readonly path: string;
  /**
   * Removes the socket and ends all connections. A request in progress gets the reply `CANCELLED`. A second call has no
   * effect. Never throws.
   */
  close(): Promise<void>;
}

/**
 * Opens a control server that other terminals can connect to. Throws `CONFLICT` if another process listens at `path`,
 * `PERMISSION_DENIED` for a directory that others can enter, `INVALID_PARAM` for a path that is too long, and
 * `NOT_FOUND` or `INTERNAL_ERROR` for other failures of the system.
 */
export async function openControlServer(options: ControlServerOptions): Promise<ControlServer> {
  const { path, uid = currentUid() } = options;
  const limits = { ...CONTROL_LIMITS, ...options.limits };
  const directory = dirname(path);
  checkPathLength(path);
  await createSocketDirectory(directory, uid);
  const connections = new Set<Connection>();
  let servedCount = 0;
  const accept = (socket: Socket): void => {
    const connection = new Connection(socket, {
      limits,
      handle: (request) => options.handle(request),
    });
    connections.add(connection);
    const isServed = servedCount < limits.connections;
    if (isServed) servedCount += 1;
    else connection.refuse(createLimitError(limits.connections));
    void connection.serve().finally(() => {
      connections.delete(connection);
      if (isServed) servedCount -= 1;
    });
  };
  // With `allowHalfOpen`, a client that has sent its request and ended its side still gets the reply.
  const server = createServer({ allowHalfOpen: true }, accept);
  // Connections above `limits.connections` get an error reply. Connections above this maximum are closed without a
  // reply.
  server.maxConnections = 2 * limits.connections;
  server.on('error', () => {
    // `listenAt` reports a failure to listen. A later error means that a connection could not be accepted, for example
    // because no file descriptors are free. Its client sees a closed connection.
  });
  const file = await listenAt(server, path);
  server.unref();
  await removeDeadSockets({ directory, now: Date.now(), from: Math.random() });

  const close = async (): Promise<void> => {
    await file.remove();
    const closed = once(server, 'close');
    server.close();
    for (const connection of connections) connection.end();
    const closeTimer = setTimeout(() => {
      for (const connection of connections) connection.destroy();
    }, limits.closeMs);
    await closed;
    clearTimeout(closeTimer);
  };
  let closing: Promise<void> | undefined;
  return { path, close: () => (closing ??= close()) };
}

function createLimitError(connections: number): MusterError {
  return new MusterError(
    'LIMIT_EXCEEDED',
    `${connections} control connections are open, which is the limit: try again later`,
    { retryable: true },
  );
}
