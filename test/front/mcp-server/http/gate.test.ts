import { expect, test } from 'vitest';
import { createGate, isAllowedHost } from '../../../../src/front/mcp-server/http/gate.ts';

const TOKEN = 'a-token-of-the-server';
const gate = createGate({ host: '127.0.0.1', port: 8808 }, TOKEN);
const good = { host: '127.0.0.1:8808', authorization: `Bearer ${TOKEN}` };

test.each([
  ['with the token', {}, null],
  ['by the name localhost', { host: 'localhost:8808' }, null],
  ['from a page of this machine', { origin: 'http://localhost:3000' }, null],
  ['without the token', { authorization: '' }, 401],
  ['with another token', { authorization: 'Bearer another-token-of-it' }, 401],
  ['with a longer token', { authorization: `Bearer ${TOKEN}x` }, 401],
  ['with another scheme', { authorization: `Basic ${TOKEN}` }, 401],
  ['by another name', { host: 'rebound.example:8808' }, 403],
  ['by an address that is not its own', { host: '10.0.0.1:8808' }, 403],
  ['without a host', { host: '' }, 403],
  ['from a page of another site', { origin: 'https://evil.example' }, 403],
  ['from a page without a site', { origin: 'null' }, 403],
])('a request %s', async (_name, headers, status) => {
  const all = { ...good, ...headers };
  const request = new Request(`http://${all.host || 'nobody'}/mcp`, { headers: all });
  expect((await gate(request))?.status ?? null).toBe(status);
});

test('a request with another host in its address than in its header is refused', async () => {
  for (const [url, host] of [
    ['http://rebound.example/mcp', '127.0.0.1'],
    ['http://127.0.0.1/mcp', 'rebound.example'],
  ] as const) {
    expect((await gate(new Request(url, { headers: { ...good, host } })))?.status).toBe(403);
  }
});

test('another path is not there, whoever asks', async () => {
  const request = new Request('http://localhost/other', { headers: { host: 'localhost' } });
  expect((await gate(request))?.status).toBe(404);
});

test('a refusal says how to authenticate', async () => {
  const request = new Request('http://localhost/mcp', { headers: { host: 'localhost' } });
  expect((await gate(request))?.headers.get('www-authenticate')).toMatch(/^Bearer /);
});

test.each([
  ['127.0.0.1', 'localhost', true],
  ['127.0.0.1', '[::1]', true],
  ['127.0.0.1', '192.168.1.2', false],
  ['192.168.1.2', '192.168.1.2', true],
  ['fe80::1', '[fe80::1]', true],
  ['my.host', 'my.host', true],
  ['my.host', 'rebound.example', false],
  ['0.0.0.0', '192.168.1.2', true],
  ['::', '[fe80::1]', true],
  ['::', '192.168.1.2', true],
  ['0.0.0.0', 'rebound.example', false],
])('a server at %s that is called %s: %j', (host, named, isAllowed) => {
  expect(isAllowedHost({ host, port: 1 }, named)).toBe(isAllowed);
});
