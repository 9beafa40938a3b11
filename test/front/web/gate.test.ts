import { expect, test } from 'vitest';
import { WebGate, type Admission, type KnockingRequest } from '../../../src/front/web/gate.ts';

const gate = new WebGate({ host: '127.0.0.1', port: 7373 });
const login = gate.admit(knock({ token: gate.token }));
const cookie = login.kind === 'login' ? (login.cookie.split(';')[0] ?? '') : '';
const key = login.kind === 'login' ? login.location.slice('/#key='.length) : '';
const POST = {
  method: 'POST',
  path: '/api/start',
  origin: 'http://127.0.0.1:7373',
  contentType: 'application/json',
  key,
};

function knock(parts: Partial<KnockingRequest>): KnockingRequest {
  return {
    method: 'GET',
    path: '/',
    token: null,
    host: '127.0.0.1:7373',
    origin: null,
    fetchSite: null,
    cookie: null,
    authorization: null,
    contentType: null,
    key: null,
    ...parts,
  };
}

function outcome(admission: Admission): number | string {
  return admission.kind === 'refused' ? admission.status : admission.kind;
}

test.each<[string, Partial<KnockingRequest>, number | string]>([
  ['the page', {}, 'served'],
  ['the page by the name localhost', { host: 'localhost:7373' }, 'served'],
  ['the page by the name LOCALHOST', { host: 'LOCALHOST:7373' }, 'served'],
  ['the page by the address of IPv6', { host: '[::1]:7373' }, 'served'],
  ['the page from the bar of the browser', { fetchSite: 'none' }, 'served'],
  ['a script of the page', { path: '/app.js', fetchSite: 'same-origin' }, 'served'],
  ['the page among other cookies', { cookie: `a=b; ${cookie}; muster-web-1=x` }, 'served'],
  ['the page with the token as a bearer', { cookie: null, authorization: 'TOKEN' }, 'served'],
  ['an action', POST, 'served'],
  [
    'an action with a charset',
    { ...POST, contentType: 'application/json; charset=utf-8' },
    'served',
  ],
  ['an action with the token and no key', { ...POST, authorization: 'TOKEN', key: null }, 'served'],
  ['the address with the token', { cookie: null, token: 'TOKEN' }, 'login'],
  ['a rebound name', { host: 'rebound.example:7373' }, 421],
  ['a rebound name with the token', { host: 'rebound.example:7373', token: 'TOKEN' }, 421],
  ['another port', { host: '127.0.0.1:7374' }, 421],
  ['no port', { host: '127.0.0.1' }, 421],
  ['another address of this machine', { host: '127.0.0.2:7373' }, 421],
  ['no host', { host: null }, 421],
  ['a page of another site', { origin: 'https://evil.example' }, 403],
  ['a page of another port', { origin: 'http://127.0.0.1:3000', fetchSite: 'same-site' }, 403],
  ['a page by another name of this machine', { origin: 'http://localhost:7373' }, 403],
  ['a page over TLS', { origin: 'https://127.0.0.1:7373' }, 403],
  ['a page without an origin of its own', { origin: 'null' }, 403],
  ['a link on another site', { fetchSite: 'cross-site' }, 403],
  ['a link on another site with the token', { fetchSite: 'cross-site', token: 'TOKEN' }, 403],
  ['an action of another site', { ...POST, origin: 'https://evil.example' }, 403],
  ['an action without an origin', { ...POST, origin: null }, 403],
  ['an action with a cookie alone', { ...POST, key: null }, 403],
  ['an action with an empty key', { ...POST, key: '' }, 403],
  ['an action with another key', { ...POST, key: `${key}A` }, 403],
  ['an action with the token as its key', { ...POST, key: gate.token }, 403],
  ['an action as a form', { ...POST, contentType: 'application/x-www-form-urlencoded' }, 415],
  ['an action as plain text', { ...POST, contentType: 'text/plain' }, 415],
  ['an action without a type', { ...POST, contentType: null }, 415],
  ['no cookie', { cookie: null }, 401],
  ['the cookie of another server', { cookie: 'muster-web-7373=AAAA' }, 401],
  ['the cookie of another port', { cookie: cookie.replace('7373', '7374') }, 401],
  ['an empty cookie', { cookie: 'muster-web-7373=' }, 401],
  ['a longer cookie', { cookie: `${cookie}A` }, 401],
  ['the token as a cookie', { cookie: `muster-web-7373=${gate.token}` }, 401],
  ['another bearer', { cookie, authorization: 'Bearer AAAA' }, 401],
  ['the token of another scheme', { cookie: null, authorization: `Basic ${gate.token}` }, 401],
  ['another token', { token: 'AAAA' }, 401],
  ['an empty token', { token: '' }, 401],
  ['a longer token', { token: `${gate.token}A` }, 401],
  ['the token in another path', { cookie: null, path: '/api/overview', token: 'TOKEN' }, 401],
  ['an action with a key alone', { ...POST, cookie: null }, 401],
  ['the heads of a response', { method: 'HEAD' }, 405],
  ['another method', { method: 'PUT' }, 405],
  ['a question about CORS', { method: 'OPTIONS', origin: 'https://evil.example' }, 403],
])('%s', (_name, parts, expected) => {
  const filled = {
    cookie,
    ...parts,
    ...(parts.token === 'TOKEN' ? { token: gate.token } : {}),
    ...(parts.authorization === 'TOKEN' ? { authorization: `Bearer ${gate.token}` } : {}),
  };
  expect(outcome(gate.admit(knock(filled)))).toBe(expected);
});

test('a server knows neither the token, nor the cookie, nor the key of an earlier one', () => {
  const next = new WebGate({ host: '127.0.0.1', port: 7373 });
  expect(outcome(next.admit(knock({ token: gate.token })))).toBe(401);
  expect(outcome(next.admit(knock({ cookie })))).toBe(401);
  const again = next.admit(knock({ token: next.token }));
  const own = again.kind === 'login' ? (again.cookie.split(';')[0] ?? '') : '';
  expect(next.admit(knock({ ...POST, cookie: own }))).toEqual({
    kind: 'refused',
    status: 403,
    message:
      'the key of the page is missing or is of an earlier start: open the address that muster web has printed again',
  });
});

test('a ticket can be used once', () => {
  const ticket = gate.createTicket();
  const attempts = [ticket, ticket].map((token) => outcome(gate.admit(knock({ token }))));
  expect(attempts).toEqual(['login', 401]);
});

test('the cookie cannot be read by scripts, and is sent to no other site', () => {
  expect(login).toEqual({
    kind: 'login',
    cookie: expect.stringMatching(
      /^muster-web-7373=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    ),
    location: expect.stringMatching(/^\/#key=[\w-]{43}$/),
  });
});

test('a server at another address of this machine has its own name', () => {
  const other = new WebGate({ host: '::1', port: 1 });
  const admission = other.admit(knock({ host: '[::1]:1', token: other.token }));
  expect(outcome(admission)).toBe('login');
});

test.each([
  ['127.0.0.1', 80, '127.0.0.1', 'http://127.0.0.1'],
  ['127.0.0.1', 80, '127.0.0.1:80', 'http://127.0.0.1'],
  ['::1', 80, '[::1]', 'http://[::1]'],
  ['LOCALHOST', 7373, 'LocalHost:7373', 'http://localhost:7373'],
])('a server at %s, port %d, is known as %s to the page at %s', (address, port, host, origin) => {
  const other = new WebGate({ host: address, port });
  expect(outcome(other.admit(knock({ host, origin, token: other.token })))).toBe('login');
});
