import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import { listen, serve, type Respond } from '../model/adapters/support.ts';
import {
  expectError,
  makeClient,
  makeRequest,
  rawResponse,
  shown,
  startRawServer,
} from './support.ts';

const portOf = (url: string): string => new URL(url).port;

/** Redirects every request. */
function redirectTo(location: (url: string) => string, status = 302): Respond {
  return (response, { url }) => {
    response.writeHead(status, { location: location(url), 'set-cookie': 'a=b' });
    response.end('moved');
  };
}

describe('a request', () => {
  it('has only the headers that it needs, and a connection of its own', async () => {
    await using server = await serve((response) => void response.end('ok'));
    const client = makeClient();
    const url = `http://site.example:${portOf(server.url)}/a%20b?c=d#e`;
    const got = await client.send(makeRequest(url));
    const { headers, ...response } = got;
    expect(response).toEqual({
      status: 200,
      statusText: 'OK',
      url: new URL(url),
      body: Buffer.from('ok'),
      isCut: false,
    });
    expect(headers.get('Content-Length')).toBe('2');
    const posted = { method: 'post', body: '{"a":1}', headers: { 'Content-Type': 'text/json' } };
    await client.send(makeRequest(url, posted));
    const common = {
      host: `site.example:${portOf(server.url)}`,
      connection: 'close',
      'accept-encoding': 'gzip, br, zstd, deflate',
      'user-agent': 'Muster/1.2.3 (+https://github.com/muster-agent/muster)',
      accept: expect.stringMatching(/^text\/markdown, text\/html/),
    };
    expect(server.requests).toEqual([
      { method: 'GET', url: '/a%20b?c=d', headers: common, body: '' },
      {
        method: 'POST',
        url: '/a%20b?c=d',
        headers: { ...common, 'content-type': 'text/json', 'content-length': '7' },
        body: '{"a":1}',
      },
    ]);
    expect(server.connections()).toBe(2);
  });

  it.each([
    [{ method: 'CONNECT' }, /^method: "CONNECT" cannot be sent/],
    [{ body: 'text' }, /^body: cannot be sent with GET; use POST$/],
    [{ headers: { Host: 'other.example' } }, /^headers: "Host" is set by Muster/],
    [{ headers: { A: 'b\r\nC: d' } }, /^headers: "A" has a value with a line end/],
    [{ url: new URL('ftp://site.example/') }, /^url: must begin with https/],
  ])('is checked before anything is sent: %j', async (parts, message) => {
    await using server = await serve((response) => void response.end());
    const error = await expectError(makeClient().send(makeRequest(server.url, parts)));
    expect([error.code, server.connections()]).toEqual(['INVALID_PARAM', 0]);
    expect(error.message).toMatch(message);
  });

  it('gets answers of every status, with a clean reason', async () => {
    await using server = await startRawServer((socket, index) => {
      const status = ['404 Not\tFound \u001b[31mred', '500 ', '204 No Content'][index] ?? '';
      socket.end(rawResponse(status, ['X: a', 'x: b'], index === 2 ? '' : 'body'));
    });
    const client = makeClient();
    const seen = [];
    for (let count = 0; count < 3; count += 1) {
      const sent = client.send(makeRequest(`http://site.example:${server.port}/`));
      const { status, statusText, body, headers } = await sent;
      seen.push([status, statusText, body.toString(), headers.get('X')]);
    }
    expect(seen).toEqual([
      [404, 'Not Found red', 'body', 'a, b'],
      [500, '', 'body', 'a, b'],
      [204, 'No Content', '', 'a, b'],
    ]);
  });

  it('of the method HEAD has no body, whatever the headers say', async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'content-encoding': 'exi', 'content-length': 1_000_000_000 });
      response.end();
    });
    const { status, body } = await makeClient().send(makeRequest(server.url, { method: 'HEAD' }));
    expect([status, body.length]).toEqual([200, 0]);
  });

  it('fails with the host that does not exist, or has no address', async () => {
    const unknown = Object.assign(new Error('x'), { code: 'ENOTFOUND' });
    const offline = Object.assign(new Error('x'), { code: 'EAI_AGAIN' });
    const failures = [() => Promise.reject(unknown), () => Promise.reject(offline), async () => []];
    const errors = failures.map(async (resolve) => {
      const sent = makeClient({ resolve }).send(makeRequest('https://b\u00fccher.example/a?b'));
      return shown(await expectError(sent));
    });
    const host = 'xn--bcher-kva.example';
    expect(await Promise.all(errors)).toEqual([
      [
        'NOT_FOUND',
        `https://${host}/a?…: there is no host ${host} (ENOTFOUND); check its spelling`,
      ],
      [
        'PROVIDER_ERROR',
        `https://${host}/a?…: the host ${host} could not be resolved (EAI_AGAIN); the machine may be offline`,
      ],
      ['NOT_FOUND', `https://${host}/a?…: the host ${host} has no address; check its spelling`],
    ]);
  });

  it('fails where no server listens', async () => {
    const closed = await startRawServer();
    const { port } = closed;
    await closed[Symbol.asyncDispose]();
    for (const host of ['127.0.0.1', 'site.example', 'localhost']) {
      const error = await expectError(makeClient().send(makeRequest(`http://${host}:${port}/`)));
      expect(shown(error, port)).toEqual([
        'PROVIDER_ERROR',
        `http://${host}:PORT/: no server accepts connections there; check the host and the port (ECONNREFUSED)`,
      ]);
    }
  });

  it('fails with an untrusted certificate, and without TLS', async () => {
    const fixture = (name: string) =>
      readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url));
    const pair = { key: fixture('server-key.pem'), cert: fixture('server.pem') };
    const server = createTlsServer(pair, (_, response) => response.end('ok'));
    const port = await listen(server);
    await using plain = await serve((response) => void response.end('ok'));
    const client = makeClient();
    const untrusted = await expectError(client.send(makeRequest(`https://site.example:${port}/`)));
    server.close();
    const [code, message] = shown(untrusted, port);
    expect(code).toBe('PROVIDER_ERROR');
    expect(message).toMatch(
      /^https:\/\/site\.example:PORT\/: no trusted connection: .* set SSL_CERT_FILE or NODE_EXTRA_CA_CERTS$/,
    );
    const plainPort = Number(portOf(plain.url));
    const url = `https://site.example:${plainPort}/`;
    expect(shown(await expectError(client.send(makeRequest(url))), plainPort)).toEqual([
      'PROVIDER_ERROR',
      'https://site.example:PORT/: the server does not answer with TLS; the address may begin with http:// (ERR_SSL_WRONG_VERSION_NUMBER)',
    ]);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'with status %s to an address that is not public is refused without a connection',
    async (status) => {
      await using secret = await startRawServer();
      const targets = [
        'http://127.0.0.1:PORT/',
        '//127.0.0.1:PORT/',
        'http://0x7f.1:PORT/',
        'http://localhost.:PORT/',
        'http://[::ffff:127.0.0.1]:PORT/',
        'http://evil.example:PORT/',
        'http://169.254.169.254/latest/meta-data/',
      ];
      for (const target of targets) {
        const location = target.replace('PORT', String(secret.port));
        await using server = await serve(redirectTo(() => location, status));
        const error = await expectError(
          makeClient().send(
            makeRequest(`http://site.example:${portOf(server.url)}/`, {
              allowsPrivate: ({ host }) => host === 'site.example',
            }),
          ),
        );
        expect([target, error.code]).toEqual([target, 'PERMISSION_DENIED']);
        expect(error.message).toContain('no request was sent');
      }
      expect(secret.connections()).toBe(0);
    },
  );

  it('to a URL with a user name, a file or data is refused', async () => {
    await using secret = await startRawServer();
    const targets = [
      `http://site.example@127.0.0.1:${secret.port}/`,
      `http://user:password@site.example:${secret.port}/`,
      'file:///etc/passwd',
      'data:text/plain,x',
      'gopher://127.0.0.1/',
    ];
    for (const target of targets) {
      await using server = await serve(redirectTo(() => target));
      const error = await expectError(makeClient().send(makeRequest(server.url)));
      expect(error.code).toBe('PERMISSION_DENIED');
      expect(error.message).toContain('was not followed, because it leads to a URL that');
    }
    expect(secret.connections()).toBe(0);
  });

  it('within the host is followed five times, and not a hundred times', async () => {
    const next = (url: string): string => `/${Number(url.slice(1)) + 1}`;
    await using endless = await serve(redirectTo(next));
    const host = `site.example:${portOf(endless.url)}`;
    const error = await expectError(makeClient().send(makeRequest(`http://${host}/0`)));
    expect(shown(error)).toEqual([
      'LIMIT_EXCEEDED',
      `http://${host}/0: there are more than 5 redirects; the last one leads to http://${host}/6`,
    ]);
    expect(endless.requests.map(({ url }) => url)).toEqual(['/0', '/1', '/2', '/3', '/4', '/5']);
    await using five = await serve((response, seen, index) =>
      seen.url === '/5' ? void response.end('done') : redirectTo(next)(response, seen, index),
    );
    const { body, url } = await makeClient().send(makeRequest(`${five.url}/0`));
    expect([body.toString(), url.pathname]).toEqual(['done', '/5']);
  });

  it('in a circle ends', async () => {
    await using server = await serve(redirectTo((url) => (url === '/a' ? '/b' : '/a')));
    const error = await expectError(makeClient().send(makeRequest(`${server.url}/a`)));
    expect([error.code, server.requests.length]).toEqual(['LIMIT_EXCEEDED', 6]);
  });

  it('to another host is reported, or followed without keys, cookies and the referrer', async () => {
    await using target = await serve((response) => void response.end('target'));
    const location = `http://other.example:${portOf(target.url)}/page?x`;
    await using server = await serve(redirectTo(() => location));
    const asked: string[] = [];
    const request = (follows: boolean) =>
      makeRequest(`http://site.example:${portOf(server.url)}/`, {
        headers: { Authorization: 'Bearer key', 'X-Key': 'key', Cookie: 'c=d' },
        followsRedirect: ({ href }) => asked.push(href) > 0 && follows,
      });
    const stopped = await makeClient().send(request(false));
    expect([stopped.status, stopped.redirectTo?.href, target.connections()]).toEqual([
      302,
      location,
      0,
    ]);
    const followed = await makeClient().send(request(true));
    expect([followed.body.toString(), followed.url.href, followed.redirectTo]).toEqual([
      'target',
      location,
      undefined,
    ]);
    expect(asked).toEqual([location, location]);
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer key' });
    expect(Object.keys(target.requests[0]?.headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  it('keeps the body within the host, and gives it to no other one', async () => {
    await using target = await serve((response) => void response.end('target'));
    const location = `http://other.example:${portOf(target.url)}/`;
    await using server = await serve((response, seen, index) =>
      seen.url === '/again'
        ? void response.end(seen.body)
        : redirectTo((url) => (url === '/away' ? location : '/again'), 307)(response, seen, index),
    );
    const request = (path: string) =>
      makeRequest(`http://site.example:${portOf(server.url)}${path}`, {
        method: 'POST',
        body: 'text',
      });
    const within = await makeClient().send(request('/'));
    const away = await makeClient().send(request('/away'));
    expect([within.body.toString(), away.redirectTo?.href, target.connections()]).toEqual([
      'text',
      location,
      0,
    ]);
  });
});

describe('a server that asks to wait', () => {
  const busy: Respond = (response, _, index) => {
    response.writeHead(index === 0 ? 429 : 200, index === 0 ? { 'retry-after': '0' } : {});
    response.end(String(index));
  };

  it('gets a request to read once more', async () => {
    await using server = await serve(busy);
    const { status, body } = await makeClient().send(makeRequest(server.url));
    expect([status, body.toString(), server.requests.length]).toEqual([200, '1', 2]);
  });

  it('gets no other request twice', async () => {
    await using server = await serve(busy);
    const sent = makeClient().send(makeRequest(server.url, { method: 'POST', body: 'x' }));
    expect([(await expectError(sent)).code, server.requests.length]).toEqual(['LIMIT_EXCEEDED', 1]);
  });

  it('gets at most two requests, and none before a longer time', async () => {
    for (const [seconds, count] of [
      ['0', 2],
      ['11', 1],
    ] as const) {
      await using server = await serve((response) => {
        response.writeHead(503, { 'retry-after': seconds });
        response.end();
      });
      const error = await expectError(makeClient().send(makeRequest(server.url)));
      expect([error.code, server.requests.length]).toEqual(['LIMIT_EXCEEDED', count]);
      expect(error.message).toMatch(
        /\/: the server answers HTTP 503 and asks to wait: try again in .*, at \d{4}-\d\d-\d\dT[\d:]+Z$/,
      );
    }
  });

  it('is answered with its own page if it names no time', async () => {
    await using server = await serve((response) => {
      response.writeHead(503);
      response.end('maintenance');
    });
    const { status, body } = await makeClient().send(makeRequest(server.url));
    expect([status, body.toString()]).toEqual([503, 'maintenance']);
  });
});
