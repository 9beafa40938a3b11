import { listenAt, sweepSockets } from './socket-file.ts';
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
import { makeSocketDirectory } from './socket-directory.ts';

export interface ControlServerOptions {
  /**
   * The path from `controlPath`. Its directory is created, and that directory's parent must exist.
   */
  readonly path: string;
  /**
   * Carries out a request. It gets only valid requests, up to `limits.connections` at once. A rejection becomes an
   * error reply. A client that hangs up does not cancel its request.
   */
  handle(request: ControlRequest): Promise<ControlReply>;
  /** Default: `CONTROL_LIMITS`. */
  readonly limits?: Partial<ControlLimits>;
  /** The required owner of the directory. Default: this process's user. */
  readonly uid?: number;
}

/** A control socket with a listening server. It does not keep the process alive. */
export interface ControlServer {
  readonly path: string;
  /**
   * Removes the socket and ends all connections. A request in progress is answered `CANCELLED`. A second call has no
   * effect. Does not throw.
   */
  close(): Promise<void>;
}

/**
 * Listens for other terminals. Throws `CONFLICT` if another process listens at `path`, `PERMISSION_DENIED` for a
 * directory that others can enter, `INVALID_PARAM` for a path that is too long, and `NOT_FOUND` or `INTERNAL_ERROR`
 * for other failures of the system.
 */
export async function openControlServer(options: ControlServerOptions): Promise<ControlServer> {
  const { path, uid = currentUid() } = options;
  const limits = { ...CONTROL_LIMITS, ...options.limits };
  const directory = dirname(path);
  checkPathLength(path);
  await makeSocketDirectory(directory, uid);
  const connections = new Set<Connection>();
  let served = 0;
  const accept = (socket: Socket): void => {
    const connection = new Connection(socket, {
      limits,
      handle: (request) => options.handle(request),
    });
    connections.add(connection);
    const place = served < limits.connections ? 1 : 0;
    served += place;
    if (place === 0) connection.refuse(tooMany(limits.connections));
    void connection.serve().finally(() => {
      connections.delete(connection);
      served -= place;
    });
  };
  // With `allowHalfOpen`, a client that has sent its request and ended its side still gets the reply.
  const server = createServer({ allowHalfOpen: true }, accept);
  // Connections above `limits.connections` get an error reply. Connections above this maximum are closed without a reply.
  server.maxConnections = 2 * limits.connections;
  server.on('error', () => {
    // `listenAt` reports a failure to listen. A later error means that a connection could not be accepted (no
    // descriptors left): its client sees the connection closed.
  });
  const file = await listenAt(server, path);
  server.unref();
  await sweepSockets({ directory, now: Date.now(), from: Math.random() });

  const close = async (): Promise<void> => {
    await file.remove();
    const closed = once(server, 'close');
    server.close();
    for (const connection of connections) connection.end();
    const rest = setTimeout(() => {
      for (const connection of connections) connection.destroy();
    }, limits.closeMs);
    await closed;
    clearTimeout(rest);
  };
  let closing: Promise<void> | undefined;
  return { path, close: () => (closing ??= close()) };
}

function tooMany(connections: number): MusterError {
  return new MusterError(
    'LIMIT_EXCEEDED',
    `${connections} control connections are at work at once, which is the limit: try again`,
    { retryable: true },
  );
}
