import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catchMusterError, MusterError } from '../../src/base/errors.ts';
import { HeaderMap } from '../../src/sys/http/header-map.ts';
import { parseHeaders, parseMethod, wireHeaders } from '../../src/web/request-headers.ts';

function problemOf(work: () => unknown): unknown {
  const outcome = catchMusterError(work);
  return outcome instanceof MusterError ? [outcome.code, outcome.message] : outcome;
}

describe('parseHeaders', () => {
  it('accepts headers of an interface', () => {
    const headers = { 'X-Api-Key': ' a b ', Authorization: 'Bearer \u00e4', Cookie: 'a=b' };
    expect(Object.fromEntries(parseHeaders(headers))).toEqual({
      'x-api-key': 'a b',
      authorization: 'Bearer \u00e4',
      cookie: 'a=b',
    });
  });

  const RESERVED = 'is set by Muster and cannot be changed; leave it out';
  it.each<readonly [name: string, value: string, problem: string]>([
    ...[
      'Host',
      'content-length',
      'Transfer-Encoding',
      'CONNECTION',
      'Keep-Alive',
      'Proxy-Authorization',
      'proxy-anything',
      'Upgrade',
      'TE',
      'Trailer',
      'Expect',
      'Accept-Encoding',
      'User-Agent',
      'Sec-Fetch-Site',
    ].map((name) => [name, 'x', RESERVED] as const),
    ['X', 'a\r\nHost: b', 'has a value with a line end, which could begin another header'],
    ['X', 'a\nb', 'has a value with a line end, which could begin another header'],
    ['X', 'a\0b', 'has a value with a line end, which could begin another header'],
    ['X', 'a\u0001b', 'has a value with characters other than Latin letters and signs'],
    ['X', '\u4e2d', 'has a value with characters other than Latin letters and signs'],
    // Its low byte is a line end, which some servers and libraries would write.
    ['X', 'a\u010ab', 'has a value with characters other than Latin letters and signs'],
    ['X\r\nY', 'a', 'is not the name of a header'],
    ['X: Y', 'a', 'is not the name of a header'],
    ['', 'a', 'is not the name of a header'],
    ['\u00dcber', 'a', 'is not the name of a header'],
  ])('refuses %j: %j', (name, value, problem) => {
    const message = `headers: ${JSON.stringify(name)} ${problem}`;
    expect(problemOf(() => parseHeaders({ [name]: value }))).toEqual(['INVALID_PARAM', message]);
  });

  it('refuses a header that is given twice, and too many', () => {
    expect(problemOf(() => parseHeaders({ A: '1', a: '2' }))).toEqual([
      'INVALID_PARAM',
      'headers: "a" is given twice',
    ]);
    expect(problemOf(() => parseHeaders({ a: 'x'.repeat(20_000) }))).toEqual([
      'INVALID_PARAM',
      'headers: are larger than 16384 bytes',
    ]);
  });
});

describe('parseMethod', () => {
  it.each(['get', 'HEAD', 'Post', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('accepts %s', (text) => {
    expect(parseMethod(text)).toBe(text.toUpperCase());
  });

  it.each(['CONNECT', 'TRACE', 'GET / HTTP/1.1\r\nX: y', '', 'G\u0130T'])('refuses %j', (text) => {
    const message = `method: ${JSON.stringify(text)} cannot be sent; valid: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS`;
    expect(problemOf(() => parseMethod(text))).toEqual(['INVALID_PARAM', message]);
  });
});

describe('wireHeaders', () => {
  const client = { version: '1.2.3', encodings: 'gzip' };

  it('says what Muster is, where to find it, and that it prefers markdown', () => {
    const file = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
    const { homepage } = JSON.parse(file) as { readonly homepage: string };
    expect(wireHeaders(new HeaderMap(), client)).toEqual({
      accept:
        'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5',
      'accept-encoding': 'gzip',
      'user-agent': `Muster/1.2.3 (+${homepage.replace(/#.*/, '')})`,
    });
  });

  it('keeps the headers of the request', () => {
    const headers = wireHeaders(new HeaderMap({ Accept: 'text/plain', 'X-Key': 'a' }), client);
    expect(headers).toMatchObject({ accept: 'text/plain', 'x-key': 'a' });
  });
});
