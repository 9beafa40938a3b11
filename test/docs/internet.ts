import { createServer as createTlsServer } from 'node:https';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeModel, type FakeModel, type FakeModelOptions } from '../../src/testing/index.ts';
import { sendJson } from '../e2e/key-server.ts';
import { startProxy, type Proxy } from '../e2e/proxy.ts';
import { createCertificates } from '../install/certificates.ts';
import { listen } from '../model/adapters/support.ts';
import { needs } from '../needs.ts';
import { expectNoViolations } from '../no-violations.ts';

/** True if the certificates of the servers can be made. */
export const CAN_BE_INTERNET = needs('openssl', 'openssl');

export interface InternetOptions {
  /** The names of the servers. */
  readonly hosts: readonly string[];
  /** The key that is accepted. */
  readonly key: string;
  /** The answers to GET requests, by path. */
  readonly lists: Readonly<Record<string, object>>;
  /** The path before the one that the fake model knows, such as `/api`. */
  readonly prefix?: string;
  readonly script: FakeModelOptions['script'];
}

/**
 * The servers of providers, as a program sees them through a proxy: under their own names, over TLS, with certificates of
 * an authority that only `SSL_CERT_FILE` names. All of them are one server on this machine.
 */
export interface Internet extends AsyncDisposable {
  readonly model: FakeModel;
  readonly proxy: Proxy;
  /** The path of the certificate of the authority. */
  readonly authority: string;
  /** The variables with which programs use it. */
  readonly environment: Readonly<Record<string, string>>;
}

export async function openInternet(options: InternetOptions): Promise<Internet> {
  const { hosts, script } = options;
  const directory = mkdtempSync(join(tmpdir(), 'muster-docs-'));
  const { authority, server: certificate } = createCertificates(directory, hosts);
  const model = await startFakeModel(script === undefined ? {} : { script });
  const server = createTlsServer(certificate, (request, response) => {
    answer(request, response, model, options);
  });
  const proxy = await startProxy(new URL(`https://127.0.0.1:${await listen(server)}`));
  return {
    model,
    proxy,
    authority,
    environment: { HTTPS_PROXY: proxy.url, SSL_CERT_FILE: authority },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await model.close();
      rmSync(directory, { recursive: true, force: true });
      expectNoViolations(model);
    },
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { url }: FakeModel,
  { key, lists, prefix = '' }: InternetOptions,
): void {
  const { method, url: path = '/', headers } = request;
  const [listPath = ''] = path.split('?', 1);
  const list = method === 'GET' ? lists[listPath] : undefined;
  if (headers.authorization !== `Bearer ${key}` && headers['x-api-key'] !== key) {
    sendJson(response, 401, { error: { message: 'No auth credentials found' } });
  } else if (list !== undefined) sendJson(response, 200, list);
  else {
    const onward = httpRequest(`${url}${path.replace(prefix, '')}`, { method, headers });
    onward.on('response', (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }
}
