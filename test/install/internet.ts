import { createServer, type Server as HttpServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Certificates } from './certificates.ts';
import type { PrivateNetwork } from './network.ts';
import { REGISTRY, type Registry } from './registry.ts';

/** The host of the provider, whose address the program knows. */
export const PROVIDER = 'api.anthropic.com';
export const PROXY = 'proxy.company.test';
export const PROXY_USER = 'user:p%40ss';
/** `direct`: the TLS port of all hosts. `local`: a model server without TLS. The others belong to `PROXY`. */
export const PORTS = { direct: 443, local: 8080, proxy: 3128, tlsProxy: 3129 } as const;

/** The hosts that a program reaches: the registry of npm and the provider, directly or through a proxy. */
export class Internet implements Disposable {
  /** The names of hosts, in the order of the connections to them. */
  readonly reached: string[] = [];
  /** The targets of tunnels through the proxy, in their order. */
  readonly tunnels: string[] = [];
  readonly #modelPort: number;
  readonly #registry: HttpServer;
  readonly #hosts: TlsServer;
  readonly #proxy = createServer((_, response) => response.writeHead(405).end());
  readonly #tlsProxy: TlsServer;

  constructor(
    network: PrivateNetwork,
    servers: {
      readonly certificates: Certificates;
      readonly registry: Registry;
      /** The address of the model server behind the name of the provider. */
      readonly model: string;
    },
  ) {
    this.#modelPort = Number(new URL(servers.model).port);
    this.#registry = createServer(servers.registry.answer);
    const { server } = servers.certificates;
    this.#hosts = createTlsServer(server, (socket) => {
      const host = socket.servername || '';
      this.reached.push(host);
      if (host === REGISTRY) this.#registry.emit('connection', socket);
      else if (host === PROVIDER) this.#toModel(socket);
      else socket.destroy();
    });
    this.#tlsProxy = createTlsServer(server, (socket) => this.#proxy.emit('connection', socket));
    // A client that does not trust the certificate breaks off.
    for (const each of [this.#hosts, this.#tlsProxy]) each.on('tlsClientError', () => {});
    const authorization = `Basic ${btoa(decodeURIComponent(PROXY_USER))}`;
    this.#proxy.on('connect', ({ url = '', headers }, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      if (headers['proxy-authorization'] !== authorization) {
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
        return;
      }
      this.tunnels.push(url);
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      this.#hosts.emit('connection', socket);
    });
    network.serve(PORTS.direct, (socket) => this.#hosts.emit('connection', socket));
    network.serve(PORTS.local, (socket) => this.#toModel(socket));
    network.serve(PORTS.proxy, (socket) => this.#proxy.emit('connection', socket));
    network.serve(PORTS.tlsProxy, (socket) => this.#tlsProxy.emit('connection', socket));
  }

  #toModel(socket: Socket): void {
    const onward = connect(this.#modelPort, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    // One side that breaks takes the other with it.
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
    socket.once('close', () => onward.destroy());
  }

  [Symbol.dispose](): void {
    this.#registry.closeAllConnections();
    this.#proxy.closeAllConnections();
  }
}
