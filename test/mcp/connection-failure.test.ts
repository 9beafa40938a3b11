import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { explainNetworkFailure } from '../../src/mcp/connection-failure.ts';
import { startHttpServer } from './servers/http.ts';
import { createHost, FOREVER, readEntry, tempDirectory } from './support.ts';

const coded = (code: string, message = 'it failed', cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { code });

test.each([
  [
    new TypeError('fetch failed', { cause: coded('ECONNREFUSED') }),
    'no server accepts connections there (ECONNREFUSED); start the server, or correct the host and the port',
  ],
  [
    new TypeError('fetch failed', { cause: new AggregateError([coded('ECONNREFUSED')], '') }),
    'no server accepts connections there (ECONNREFUSED); start the server, or correct the host and the port',
  ],
  [
    coded('ENOTFOUND'),
    'its host name was not found (ENOTFOUND); correct the name, or connect to the network or VPN that knows it',
  ],
  [
    coded('UND_ERR_CONNECT_TIMEOUT'),
    'no connection was established in time (UND_ERR_CONNECT_TIMEOUT); check the URL, the firewall, and the proxy (HTTPS_PROXY, NO_PROXY)',
  ],
  [
    coded('ECONNRESET'),
    'it ended the connection without an answer (ECONNRESET); look in the log of the server; should the URL begin with https://?',
  ],
  [
    coded('ERR_SSL_WRONG_VERSION_NUMBER'),
    'it does not use TLS (ERR_SSL_WRONG_VERSION_NUMBER); should the URL begin with http://?',
  ],
  [
    coded('CERT_HAS_EXPIRED', 'certificate has expired'),
    'its certificate is not trusted: certificate has expired (CERT_HAS_EXPIRED); for certificates of your own, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE',
  ],
  [
    coded('ERR_SSL_TLSV1_ALERT_ACCESS_DENIED', 'access denied'),
    'the TLS connection failed: access denied (ERR_SSL_TLSV1_ALERT_ACCESS_DENIED)',
  ],
  [
    new TypeError('fetch failed', { cause: new Error('the proxy\nsays no') }),
    'the request failed: the proxy␊says no; check the URL and the proxy (HTTPS_PROXY, NO_PROXY)',
  ],
  ['nonsense', 'the request failed: nonsense; check the URL and the proxy (HTTPS_PROXY, NO_PROXY)'],
])('%o is explained', (thrown, text) => {
  expect(explainNetworkFailure(thrown)).toBe(text);
});

/** Returns the message of the error with which a connection to a URL fails. */
async function connectTo(url: string, fields: object = {}): Promise<string> {
  const started = createHost()
    .open(readEntry({ url, ...fields }))
    .start(FOREVER);
  return await started.then(
    () => 'connected',
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
  );
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Creates a certificate that nobody trusts. */
function createCertificate(): { readonly key: Buffer; readonly cert: Buffer } {
  const directory = tempDirectory();
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
  const args = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x';
  execFileSync('openssl', [...args.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

test('a connection that fails names the URL without its query, the reason, and what to do', async () => {
  const free = await listen(createTcpServer());
  const silent = createTcpServer();
  const port = await listen(silent);
  const page = await startHttpServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<p>Welcome');
  });
  const nothing = await startHttpServer((_, response) => void response.writeHead(404).end('none'));
  const tls = createTlsServer(createCertificate());
  const tlsPort = await listen(tls);
  const closing = await listen(createTcpServer((socket) => socket.destroy()));
  const gone = createTcpServer();
  const refused = await listen(gone);
  await new Promise((resolve) => void gone.close(resolve));
  expect(free).not.toBe(refused);
  const prefix = (url: string) => `MCP server s: no connection to ${url}: `;
  const local = (at: number, path = '/mcp') => `http://127.0.0.1:${at}${path}`;
  const refusal =
    'no server accepts connections there (ECONNREFUSED); start the server, or correct the host and the port';
  expect({
    refused: await connectTo(`${local(refused)}?key=secret`),
    refusedSse: await connectTo(local(refused, '/sse'), { type: 'sse' }),
    silent: await connectTo(local(port), { startup_timeout_ms: 100 }),
    page: await connectTo(`${page.url}/mcp`),
    nothing: await connectTo(`${nothing.url}/mcp`),
    certificate: await connectTo(`https://127.0.0.1:${tlsPort}/mcp`),
    noTls: await connectTo(page.url.replace('http:', 'https:')),
    closing: await connectTo(local(closing)),
  }).toEqual({
    refused: `${prefix(local(refused))}${refusal}`,
    refusedSse: `${prefix(local(refused, '/sse'))}${refusal}`,
    silent: `${prefix(local(port))}it did not answer within 100 ms; check the URL and the network, or raise start_seconds`,
    page: `${prefix(`${page.url}/mcp`)}it answers, but not as an MCP server (Unexpected content type: text/html); correct the path of the URL`,
    nothing: `${prefix(`${nothing.url}/mcp`)}HTTP 404: Error POSTing to endpoint: none; correct the path of the URL`,
    certificate: expect.stringMatching(
      /^MCP server s: no connection to https:.*: its certificate is not trusted: self-signed certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\); for certificates of your own/,
    ),
    noTls: expect.stringMatching(
      /no connection to https:.*: it does not use TLS \(\w+\); should the URL begin with http:/,
    ),
    closing: expect.stringMatching(
      /: it ended the connection without an answer \(\w+\); look in the log of the server; /,
    ),
  });
});
