import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Server, type Socket } from 'node:net';
import { join } from 'node:path';

const HOLDER = join(import.meta.dirname, 'network-holder.ts');
/** Mounts a file system from which nothing can be run, then becomes the program that the arguments name. */
const MOUNT = 'mount -t tmpfs -o noexec tmpfs "$1" && shift && exec "$@"';

/**
 * A network that only has the loopback device. Programs in it reach nothing but the ports that this process serves.
 * Beside the network, the programs share a directory on a file system from which nothing can be run.
 */
export class PrivateNetwork implements Disposable {
  /** The beginning of a command line whose rest runs in the network. */
  readonly enter: readonly string[];
  readonly #holder: ChildProcess;
  readonly #servers: ReadonlyMap<number, Server>;
  readonly #sockets = new Set<Socket>();

  private constructor(holder: ChildProcess, pid: number, servers: ReadonlyMap<number, Server>) {
    this.#holder = holder;
    this.#servers = servers;
    this.enter = ['nsenter', '-t', String(pid), '-U', '-n', '-m', '--preserve-credentials', '--'];
  }

  /** `noexec`: an existing directory, on which the file system is mounted. */
  static async open(ports: readonly number[], noexec: string): Promise<PrivateNetwork> {
    const rights = ['CAP_SYS_ADMIN', 'CAP_NET_BIND_SERVICE'].flatMap((right) => [
      '--cap-add',
      right,
    ]);
    const space = ['--unshare-user', '--unshare-net', ...rights, '--dev-bind', '/', '/'];
    const holder = fork(HOLDER, ports.map(String), {
      execPath: 'bwrap',
      execArgv: [...space, '--', '/bin/sh', '-c', MOUNT, 'sh', noexec, process.execPath],
    });
    const servers = new Map<number, Server>();
    let pid = 0;
    while (pid === 0 || servers.size < ports.length) {
      // oxlint-disable-next-line no-await-in-loop -- the messages come one after another
      const [message, handle] = (await once(holder, 'message')) as [
        { readonly pid?: number; readonly port?: number },
        unknown,
      ];
      pid = message.pid ?? pid;
      if (message.port !== undefined && handle instanceof Server) servers.set(message.port, handle);
    }
    return new PrivateNetwork(holder, pid, servers);
  }

  /** Serves a port. */
  serve(port: number, handle: (socket: Socket) => void): void {
    this.#servers.get(port)?.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      // A program that ends breaks its connections.
      socket.on('error', () => socket.destroy());
      handle(socket);
    });
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers.values()) server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#holder.disconnect();
  }
}
