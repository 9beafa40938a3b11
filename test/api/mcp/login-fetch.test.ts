import { expect, test } from 'vitest';
import {
  createLoginAccess,
  mayReach,
  classifyHost,
  type Reach,
} from '../../../src/api/mcp/login-fetch.ts';
import { MusterError } from '../../../src/base/errors.ts';
import { startHttpServer } from '../../mcp/servers/http.ts';

const PUBLIC = new URL('https://mcp.example/mcp');
const names: Readonly<Record<string, readonly string[]>> = {
  'mcp.example': ['93.184.216.34'],
  'inside.example': ['10.0.0.7'],
  'both.example': ['93.184.216.34', '10.0.0.7'],
  'here.example': ['127.0.0.1'],
};
const resolve = (host: string) => Promise.resolve(names[host] ?? []);

/** Returns the message with which a request is refused. */
async function refusal(server: URL, url: string): Promise<string> {
  const { fetch } = createLoginAccess(server, {}, { resolve });
  const thrown: unknown = await fetch(url).catch((error: unknown) => error);
  // The SDK passes this kind of error on; after any other it would try another address.
  if (!(thrown instanceof TypeError) || !(thrown.cause instanceof MusterError)) throw thrown;
  return thrown.cause.message;
}

test.each([
  ['127.0.0.1'],
  ['localhost'],
  ['auth.localhost'],
  ['[::1]'],
  ['2130706433'],
  ['0x7f.1'],
  ['[::ffff:7f00:1]'],
  ['10.1.2.3'],
  ['192.168.0.1'],
  ['169.254.169.254'],
  ['[fd00:ec2::254]'],
  ['[fe80::1]'],
  ['0.0.0.0'],
  ['here.example'],
  ['inside.example'],
  ['both.example'],
])('a public server cannot send Muster to %s', async (host) => {
  const { url, requests } = await startHttpServer((_, response) => void response.end());
  const { port } = new URL(url);
  for (const each of [`https://${host}:${port}/x`, `http://${host}:${port}/x`]) {
    // oxlint-disable-next-line no-await-in-loop -- a few requests that are never sent
    expect(await refusal(PUBLIC, each)).toMatch(/no request was sent|it must begin with https/);
  }
  const { checkPage } = createLoginAccess(PUBLIC, {}, { resolve });
  await expect(checkPage(new URL(`https://${host}/x`))).rejects.toThrow('private network');
  expect(requests).toEqual([]);
});

test.each([
  ['ftp://auth.example/', 'must begin with https:// or http://'],
  ['https://me:secret@auth.example/', 'contains a user name or a password'],
  ['https://auth.example:25/', 'names port 25'],
  ['http://auth.example/token?secret=1', 'http://auth.example/token?…: an address that the server'],
])('an address that is not used: %s', async (url, message) => {
  expect(await refusal(PUBLIC, url)).toContain(message);
});

test('a server on this machine may have its authorization server there, with bounded answers', async () => {
  const { url } = await startHttpServer((request, response) => {
    if (request.url === '/large') response.end('x'.repeat(300_000));
    else if (request.url === '/moved') response.writeHead(302, { location: '/' }).end();
    else response.end(`${request.method} ${request.headers['content-type'] ?? ''}`);
  });
  const server = new URL(`${url}/mcp`);
  const { fetch, checkPage } = createLoginAccess(server, {}, { resolve });
  const body = new URLSearchParams({ a: 'b' });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await fetch(`${url}/token`, { method: 'POST', headers, body });
  expect(await answer.text()).toBe('POST application/x-www-form-urlencoded');
  expect(await refusal(server, `${url}/large`)).toContain('more than 256 KB');
  expect(await refusal(server, `${url}/moved`)).toContain('more than 0 redirects');
  expect(await refusal(server, 'http://inside.example/')).toContain('it must begin with https');
  await checkPage(new URL(url));
});

test('the networks that may be reached from each other', () => {
  const all: readonly Reach[] = ['public', 'private', 'loopback', 'other'];
  const table = all.map((server) => [server, all.filter((target) => mayReach(server, target))]);
  expect(table).toEqual([
    ['public', ['public']],
    ['private', ['public', 'private']],
    ['loopback', ['public', 'private', 'loopback']],
    ['other', ['public']],
  ]);
  expect(
    ['mcp.example', 'localhost', '[::1]', '10.0.0.1', '169.254.1.1', '8.8.8.8'].map(classifyHost),
  ).toEqual(['public', 'loopback', 'loopback', 'private', 'other', 'public']);
});
