import { networkInterfaces } from 'node:os';
import { describe, expect, it, test } from 'vitest';
import {
  expectError,
  makeClient,
  makeRequest,
  ONLY_PUBLIC,
  rawResponse,
  shown,
  startRawServer,
} from './support.ts';

/** Spellings of this machine, as a host in a URL. */
const LOOPBACK_HOSTS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0X7F.0.0.1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '127.0.0.2',
  '127.255.255.254',
  '0',
  '0.0.0.0',
  '0x0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::FFFF:7F00:0001]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:7f00:0001::1]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '\uff11\uff12\uff17.\uff10.\uff10.\uff11',
  '\u2460\u2461\u2466.\u24ea.\u24ea.\u2460',
  '127\u30020\u30020\u30021',
  '%31%32%37.%30.%30.%31',
  '%6c%6f%63%61%6c%68%6f%73%74',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'LocalHost.',
  'localhost\u3002',
  'loc\u00adalhost',
  '\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3',
  'app.localhost',
  'a.b.LOCALHOST.',
];

const OTHER_HOSTS = [
  '10.0.0.1',
  '0xa000001',
  '012.0.0.1',
  '167772161',
  '172.16.0.1',
  '192.168.0.1',
  '0300.0250.1',
  '3232235521',
  '[::ffff:10.0.0.1]',
  '[::ffff:c0a8:1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[64:ff9b::169.254.169.254]',
  '[fe80::1]',
  '[fec0::1]',
  '100.64.0.1',
  '168.63.129.16',
  '198.18.0.1',
  '192.0.2.1',
  '224.0.0.1',
  '255.255.255.255',
  '[ff02::1]',
  '[2001:db8::1]',
];

const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1');
const OTHER_LOOPBACK = HAS_IPV6 ? '::1' : '127.0.0.2';

describe('an address that is not public', () => {
  it('is refused in every spelling of this machine, without a connection', async () => {
    await using server = await startRawServer((socket) => socket.end(rawResponse('200 OK')));
    await using second = await startRawServer(undefined, OTHER_LOOPBACK, server.port);
    const client = makeClient({ resolve: () => Promise.reject(new Error('nothing is resolved')) });
    for (const host of LOOPBACK_HOSTS) {
      for (const url of [`http://${host}:${server.port}/`, `https://${host}:${server.port}/`]) {
        const error = await expectError(client.send(makeRequest(url, ONLY_PUBLIC)));
        expect([host, error.code]).toEqual([host, 'PERMISSION_DENIED']);
      }
    }
    expect([server.connections(), second.connections()]).toEqual([0, 0]);
    // The server counts the connections that it gets.
    const allowed = await client.send(makeRequest(`http://127.1:${server.port}/`));
    expect([allowed.status, server.connections()]).toEqual([200, 1]);
  });

  it.each(OTHER_HOSTS)('is refused: %s', async (host) => {
    const sent = makeClient().send(makeRequest(`http://${host}/`, ONLY_PUBLIC));
    const [code, message] = shown(await expectError(sent));
    expect(code).toBe('PERMISSION_DENIED');
    expect(message).toContain('no request was sent');
  });

  it('is refused behind a name, whatever stands beside it', async () => {
    await using server = await startRawServer();
    const answers: Readonly<Record<string, readonly string[]>> = {
      'loop.example': ['127.0.0.1'],
      'mixed.example': ['93.184.216.34', '127.0.0.1'],
      'mixed6.example': ['2606:4700::1111', '::1'],
      'mapped.example': ['::ffff:127.0.0.1'],
      'metadata.example': ['169.254.169.254'],
      'scoped.example': ['fe80::1%eth0'],
      'odd.example': ['not an address'],
      'octal.example': ['0177.0.0.1'],
    };
    const client = makeClient({ resolve: (host) => Promise.resolve(answers[host] ?? []) });
    for (const host of Object.keys(answers)) {
      const request = makeRequest(`http://${host}:${server.port}/`, ONLY_PUBLIC);
      expect([host, (await expectError(client.send(request))).code]).toEqual([
        host,
        'PERMISSION_DENIED',
      ]);
    }
    expect(server.connections()).toBe(0);
  });

  it('is named in the error, with its kind and a way out', async () => {
    const client = makeClient({ resolve: () => Promise.resolve(['10.1.2.3']) });
    const named = await expectError(
      client.send(makeRequest('https://Wiki.example./a?key=secret', ONLY_PUBLIC)),
    );
    expect(shown(named)).toEqual([
      'PERMISSION_DENIED',
      'https://wiki.example/a?…: no request was sent: wiki.example stands for 10.1.2.3, which is an address of a private network. Only a permission rule of the user that names this address allows that.',
    ]);
    const literal = await expectError(client.send(makeRequest('http://0x7f.1:8080/', ONLY_PUBLIC)));
    expect(shown(literal)[1]).toBe(
      'http://127.0.0.1:8080/: no request was sent: 127.0.0.1 is a loopback address (this machine). Only a permission rule of the user that names this address allows that.',
    );
  });

  it('is asked about with its host and its normal form', async () => {
    const asked: unknown[] = [];
    const request = (url: string) =>
      makeRequest(url, { allowsPrivate: (target) => asked.push(target) === 0 });
    const client = makeClient({ resolve: () => Promise.resolve(['::FFFF:10.0.0.1']) });
    await expectError(client.send(request('http://WIKI.example./')));
    await expectError(client.send(request('http://[::ffff:7f00:1]/')));
    await expectError(client.send(request('http://localhost./')));
    expect(asked).toEqual([
      { host: 'wiki.example', address: '10.0.0.1' },
      { host: '[::ffff:7f00:1]', address: '127.0.0.1' },
      { host: 'localhost', address: '127.0.0.1' },
    ]);
  });

  test('a user name that looks like a public host is refused before anything else', async () => {
    await using server = await startRawServer();
    for (const user of ['docs.example', 'docs.example:80', 'docs.example%2f', 'a:b']) {
      const sent = makeClient().send(makeRequest(`http://${user}@127.0.0.1:${server.port}/`));
      expect(shown(await expectError(sent))).toEqual([
        'INVALID_PARAM',
        'url: contains a user name or a password, which are not sent; leave them out',
      ]);
    }
    expect(server.connections()).toBe(0);
  });
});

// Other systems have only one loopback address of IPv4.
describe.runIf(process.platform === 'linux')('a name whose answer changes', () => {
  // In these tests 127.0.0.2 stands for a public address.
  const allowsPrivate = ({ address }: { readonly address: string }) => address === '127.0.0.2';

  it('is resolved once, and the connection goes to the address that was checked', async () => {
    await using good = await startRawServer(
      (socket) => socket.end(rawResponse('200 OK', [], 'good')),
      '127.0.0.2',
    );
    await using evil = await startRawServer(undefined, '127.0.0.1', good.port);
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    let asked = 0;
    const client = makeClient({ resolve: async () => answers[asked++] ?? [] });
    const url = `http://rebind.example:${good.port}/`;
    const { body } = await client.send(makeRequest(url, { allowsPrivate }));
    expect([body.toString(), asked]).toEqual(['good', 1]);
    // The next request is checked anew, and uses no connection of the first one.
    const error = await expectError(client.send(makeRequest(url, { allowsPrivate })));
    expect([error.code, asked, good.connections(), evil.connections()]).toEqual([
      'PERMISSION_DENIED',
      2,
      1,
      0,
    ]);
  });

  it('is checked again at a redirect within the host', async () => {
    await using good = await startRawServer(
      (socket) => socket.end(rawResponse('302 Found', ['Location: /next'])),
      '127.0.0.2',
    );
    await using evil = await startRawServer(undefined, '127.0.0.1', good.port);
    const answers = [['127.0.0.2'], ['127.0.0.1']];
    let asked = 0;
    const client = makeClient({ resolve: async () => answers[asked++] ?? [] });
    const url = `http://rebind.example:${good.port}/`;
    const error = await expectError(client.send(makeRequest(url, { allowsPrivate })));
    expect([error.code, evil.connections()]).toEqual(['PERMISSION_DENIED', 0]);
  });

  it('is tried at each of its addresses, of which all were checked', async () => {
    await using server = await startRawServer(
      (socket) => socket.end(rawResponse('200 OK', [], 'second')),
      '127.0.0.2',
    );
    const client = makeClient({ resolve: async () => ['127.0.0.3', '127.0.0.2'] });
    const { body } = await client.send(makeRequest(`http://two.example:${server.port}/`));
    expect(body.toString()).toBe('second');
  });
});
