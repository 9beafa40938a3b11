import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { MusterError, type ErrorCode } from '../../src/base/errors.ts';
import type { WebRequest, WebResponse } from '../../src/protocol/web.ts';
import { createWebClient, type WebClient, type WebClientOptions } from '../../src/web/client.ts';

/** A server of raw bytes that counts its connections. */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  readonly connections: () => number;
  readonly sockets: readonly Socket[];
}

/** Starts a server on an address of this machine. `answer`: gets each connection whose first bytes have arrived. */
export async function startRawServer(
  answer: (socket: Socket, index: number) => void = () => {},
  address = '127.0.0.1',
  port = 0,
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const index = sockets.push(socket) - 1;
    socket.on('error', () => {});
    socket.once('data', () => answer(socket, index));
  });
  server.listen(port, address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.length,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Returns a complete response with a short body. */
export function rawResponse(status: string, headers: readonly string[] = [], body = ''): string {
  const lines = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** Every name stands for this machine. */
const HERE = () => Promise.resolve(['127.0.0.1']);

export function makeClient(options: Partial<WebClientOptions> = {}): WebClient {
  return createWebClient({
    env: {},
    clock: systemClock,
    version: '1.2.3',
    resolve: HERE,
    ...options,
  });
}

/** Returns a request with GET. By default it may reach addresses that are not public, and leave its host. */
export function makeRequest(url: string, parts: Partial<WebRequest> = {}): WebRequest {
  return {
    method: 'GET',
    url: new URL(url),
    signal: new AbortController().signal,
    allowsPrivate: () => true,
    followsRedirect: () => true,
    ...parts,
  };
}

/** The rights of a task without any rule for addresses. */
export const ONLY_PUBLIC = { allowsPrivate: () => false };

/** Expects that a request fails. Returns its error. */
export async function expectError(sent: Promise<WebResponse>): Promise<MusterError> {
  const outcome = await sent.catch((thrown: unknown) => thrown);
  expect(outcome).toBeInstanceOf(MusterError);
  return outcome as MusterError;
}

/** Returns the code and the message of an error, with `PORT` for the port of a test's server. */
export function shown(error: MusterError, port?: number): readonly [ErrorCode, string] {
  const { code, message } = error;
  return [code, port === undefined ? message : message.replaceAll(`:${port}`, ':PORT')];
}
