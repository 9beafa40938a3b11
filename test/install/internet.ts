import { createServer, request, type RequestListener, type Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
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

/** The key that the provider accepts. */
export const KEY = 'sk-ant-the-key-of-a-person';

/** The hosts that a program reaches: the registry of npm and the provider, directly or through a proxy. */
export class Internet implements Disposable {
  /** The names of hosts, in the order of the connections to them. */
  readonly reached: string[] = [];
  /** The targets of tunnels through the proxy, in their order. */
  readonly tunnels: string[] = [];
  readonly #provider: HttpServer;
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
    this.#provider = createServer(forwardWithKey(servers.model));
    this.#registry = createServer(servers.registry.answer);
    // An idle connection that is closed while a program uses it again makes npm wait for 10 s.
    for (const each of [this.#registry, this.#provider]) each.keepAliveTimeout = 0;
    const { server } = servers.certificates;
    this.#hosts = createTlsServer(server, (socket) => {
      const host = socket.servername || '';
      this.reached.push(host);
      if (host === REGISTRY) this.#registry.emit('connection', socket);
      else if (host === PROVIDER) this.#provider.emit('connection', socket);
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
    network.serve(PORTS.local, (socket) => this.#provider.emit('connection', socket));
    network.serve(PORTS.proxy, (socket) => this.#proxy.emit('connection', socket));
    network.serve(PORTS.tlsProxy, (socket) => this.#tlsProxy.emit('connection', socket));
  }

  [Symbol.dispose](): void {
    for (const server of [this.#registry, this.#provider, this.#proxy])
      server.closeAllConnections();
  }
}

/** Brings requests with the right key to the model server, and refuses the others as Anthropic does. */
function forwardWithKey(model: string): RequestListener {
  return (incoming, response) => {
    const { headers, method, url = '/' } = incoming;
    if (headers['x-api-key'] !== KEY) {
      const error = { type: 'authentication_error', message: 'invalid x-api-key' };
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error }));
      return;
    }
    const onward = request(new URL(url, model), { method, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    // One side that breaks takes the other with it.
    onward.on('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    incoming.pipe(onward);
  };
}
