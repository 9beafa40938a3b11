import type { ControlRequest, ControlReply } from './protocol.ts';
import { listenAt, sweepSockets } from './socket-file.ts';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { Connection } from './connection.ts';
import { CONTROL_LIMITS, type ControlLimits } from './limits.ts';
import { checkPathLength } from './path.ts';
import { makeSocketDirectory } from './socket-directory.ts';
import { currentUid } from './current-uid.ts';

export interface ControlServerOptions {
  /** From `controlPath`; its directory is made, that one's parent must be there. */
  readonly path: string;
  /**
   * Does what another terminal asks. Sees only requests in good order, up to `limits.connections` at
   * once. A rejection becomes an error reply; hanging up does not take a request back.
   */
  handle(request: ControlRequest): Promise<ControlReply>;
  /** Default `CONTROL_LIMITS`. */
  readonly limits?: Partial<ControlLimits>;
  /** Whom the directory must belong to. Default: this process's user. */
  readonly uid?: number;
}

/** A control socket that is listened on. Does not keep the process alive. */
export interface ControlServer {
  readonly path: string;
  /**
   * Removes the socket and ends all connections: a request still at work is answered `CANCELLED`.
   * Twice is once. Does not throw.
   */
  close(): Promise<void>;
}

/**
 * Listens for other terminals. Throws `CONFLICT` where another process listens at `path`,
 * `PERMISSION_DENIED` for a directory that others can enter, `INVALID_PARAM` for a path too long,
 * and what else the system says as `NOT_FOUND` or `INTERNAL_ERROR`.
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
    const connection = new Connection(socket, { limits, handle: (asked) => options.handle(asked) });
    connections.add(connection);
    const place = served < limits.connections ? 1 : 0;
    served += place;
    if (place === 0) connection.refuse(tooMany(limits.connections));
    void connection.serve().finally(() => {
      connections.delete(connection);
      served -= place;
    });
  };
  // Half open: a client that has said its line and ended its side still gets the answer.
  const server = createServer({ allowHalfOpen: true }, accept);
  // Those above `connections` are only told so; above this there is not even an answer.
  server.maxConnections = 2 * limits.connections;
  server.on('error', () => {
    // Not listening is told by `listenAt`. Later: a connection that could not be accepted (no
    // descriptors left), whose client sees it closed.
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
