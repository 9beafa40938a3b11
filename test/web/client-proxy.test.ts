import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProxy } from '../e2e/proxy.ts';
import { createCertificates } from '../install/certificates.ts';
import { listen, serve } from '../model/adapters/support.ts';
import { needs } from '../needs.ts';
import {
  expectError,
  makeClient,
  makeRequest,
  ONLY_PUBLIC,
  shown,
  startRawServer,
} from './support.ts';

/** No name can be resolved, as on a machine that reaches the web only through a proxy. */
const NO_NAMES = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));

describe('behind a proxy', () => {
  it('a request goes to it although this machine cannot resolve the host', async () => {
    await using server = await serve((response) => void response.end('ok'));
    await using proxy = await startProxy(new URL(server.url));
    const client = makeClient({ env: { HTTP_PROXY: proxy.url }, resolve: NO_NAMES });
    const got = await client.send(makeRequest('http://docs.example/a', ONLY_PUBLIC));
    expect([got.status, got.body.toString(), proxy.asked]).toEqual([
      200,
      'ok',
      ['http://docs.example/a'],
    ]);
    expect(server.requests[0]?.headers).toMatchObject({ host: 'docs.example' });
  });

  it('an address that is not public is refused before the proxy is asked', async () => {
    await using proxy = await startRawServer();
    const address = `http://127.0.0.1:${proxy.port}`;
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
    const resolve = (host: string) =>
      host === 'private.example' ? Promise.resolve(['10.0.0.1']) : NO_NAMES();
    for (const host of [
      '10.0.0.1',
      '0xa000001',
      '[fd00::1]',
      'localhost',
      '127.1',
      'private.example',
    ]) {
      for (const scheme of ['http', 'https']) {
        const sent = makeClient({ env, resolve }).send(
          makeRequest(`${scheme}://${host}/`, ONLY_PUBLIC),
        );
        expect([host, (await expectError(sent)).code]).toEqual([host, 'PERMISSION_DENIED']);
      }
    }
    expect(proxy.connections()).toBe(0);
  });

  it('a redirect to an address that is not public is refused as well', async () => {
    await using server = await serve((response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' });
      response.end();
    });
    await using proxy = await startProxy(new URL(server.url));
    const client = makeClient({ env: { http_proxy: proxy.url }, resolve: NO_NAMES });
    const sent = client.send(makeRequest('http://docs.example/', ONLY_PUBLIC));
    expect([(await expectError(sent)).code, proxy.asked.length]).toEqual(['PERMISSION_DENIED', 1]);
  });

  it('this machine is asked directly if a rule allows it, under each of its names', async () => {
    await using server = await serve((response) => void response.end('here'));
    await using proxy = await startRawServer();
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { port } = new URL(server.url);
    for (const host of ['127.0.0.1', 'localhost', 'app.localhost', 'dev.example']) {
      const { body } = await makeClient({ env }).send(makeRequest(`http://${host}:${port}/`));
      expect(body.toString()).toBe('here');
    }
    expect(proxy.connections()).toBe(0);
  });

  it('NO_PROXY names hosts that are asked directly, and checked as without a proxy', async () => {
    await using proxy = await startRawServer();
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: '.example' };
    const client = makeClient({ env, resolve: NO_NAMES });
    const error = await expectError(client.send(makeRequest('http://docs.example/', ONLY_PUBLIC)));
    expect([error.code, proxy.connections()]).toEqual(['NOT_FOUND', 0]);
  });

  it('a resolver that does not answer delays a request only a little', async () => {
    await using server = await serve((response) => void response.end('ok'));
    await using proxy = await startProxy(new URL(server.url));
    const resolve = () => new Promise<never>(() => {});
    const limits = { proxiedLookupMs: 20 };
    const client = makeClient({ env: { HTTP_PROXY: proxy.url }, resolve, limits });
    expect((await client.send(makeRequest('http://docs.example/', ONLY_PUBLIC))).status).toBe(200);
  });

  it.each(['http', 'socks5'])(
    'a %s proxy that cannot be reached, or opens no tunnel, is named without its password',
    async (scheme) => {
      const closed = await startRawServer();
      await closed[Symbol.asyncDispose]();
      const env = { HTTPS_PROXY: `${scheme}://user:password@127.0.0.1:${closed.port}` };
      const sent = makeClient({ env, resolve: NO_NAMES }).send(
        makeRequest('https://docs.example/'),
      );
      const [code, message] = shown(await expectError(sent), closed.port);
      expect(code).toBe('PROVIDER_ERROR');
      expect(message).toMatch(/ECONNREFUSED/);
      expect(message).toContain(`(through the proxy ${scheme}://127.0.0.1:PORT)`);
      expect(message).not.toContain('password');
    },
  );

  it('the time limit ends a proxy that never answers, and closes its connection', async () => {
    await using proxy = await startProxy(null);
    const env = { HTTPS_PROXY: proxy.url };
    // The time limit is for the proxy, and not for the modules that the first request loads.
    await Promise.all([import('../../src/web/exchange.ts'), import('../../src/web/body.ts')]);
    const client = makeClient({ env, resolve: NO_NAMES, limits: { totalMs: 300 } });
    const error = await expectError(client.send(makeRequest('https://docs.example/')));
    expect([error.code, proxy.asked]).toEqual(['TIMEOUT', ['CONNECT docs.example:443']]);
  });

  it.runIf(needs('openssl', 'openssl'))(
    'a server is trusted because of SSL_CERT_FILE, with and without a proxy',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'muster-web-'));
      const { authority, server: pair } = createCertificates(directory, ['docs.example']);
      const server = createTlsServer(pair, (_, response) => response.end('secure'));
      const port = await listen(server);
      await using proxy = await startProxy(new URL(`https://127.0.0.1:${port}`));
      const direct = makeRequest(`https://docs.example:${port}/`);
      const untrusted = await expectError(makeClient().send(direct));
      expect(untrusted.message).toContain('no trusted connection');
      const trust = { SSL_CERT_FILE: authority };
      const { body } = await makeClient({ env: trust }).send(direct);
      const proxied = makeClient({ env: { ...trust, HTTPS_PROXY: proxy.url }, resolve: NO_NAMES });
      const through = await proxied.send(makeRequest('https://docs.example/'));
      expect([body.toString(), through.body.toString(), proxy.asked]).toEqual([
        'secure',
        'secure',
        ['CONNECT docs.example:443'],
      ]);
      const elsewhere = makeRequest(`https://other.example:${port}/`);
      const wrongName = await expectError(makeClient({ env: trust }).send(elsewhere));
      expect(wrongName.message).toContain('no trusted connection');
      server.close();
      rmSync(directory, { recursive: true });
    },
  );
});
