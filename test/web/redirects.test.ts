import { describe, expect, it } from 'vitest';
import { HeaderMap } from '../../src/sys/http/header-map.ts';
import { planRedirect, type Hop } from '../../src/web/redirects.ts';
import { catchMusterError, MusterError } from '../../src/base/errors.ts';

const HEADERS = {
  accept: 'text/html',
  authorization: 'Bearer key',
  'x-api-key': 'key',
  'content-type': 'text/plain',
};
const OTHER_ORIGIN = { accept: 'text/html', 'content-type': 'text/plain' };

function makeHop(method: string, url = 'https://a.example/dir/page'): Hop {
  const body = method === 'GET' || method === 'HEAD' ? undefined : 'text';
  return { method, url: new URL(url), headers: new HeaderMap(HEADERS), body };
}

/** Returns the request to the target, or why there is none. */
function plan(hop: Hop, status: number, location: string | null, mayFollow = true): unknown {
  const planned = catchMusterError(() => planRedirect(hop, { status, location }, () => mayFollow));
  if (planned instanceof MusterError) return planned.message.replace(/^.*? was not followed, /, '');
  if (planned.kind === 'none') return 'none';
  if (planned.kind === 'stop') return `stop at ${planned.target.href}`;
  const { method, url, headers, body } = planned.hop;
  return [method, url.href, Object.fromEntries(headers), body];
}

describe('planRedirect', () => {
  it.each([
    [200, '/next'],
    [300, '/next'],
    [304, '/next'],
    [305, '/next'],
    [399, '/next'],
    [302, null],
  ])('takes status %s with the location %s for an answer', (status, location) => {
    expect(plan(makeHop('GET'), status, location)).toBe('none');
  });

  it.each([
    ['/next', 'https://a.example/next'],
    ['next?x', 'https://a.example/dir/next?x'],
    ['?x', 'https://a.example/dir/page?x'],
    ['//a.example/y', 'https://a.example/y'],
    ['https://A.example./y', 'https://a.example/y'],
  ])('follows %s within the origin with all headers', (location, href) => {
    const expected = ['GET', href, HEADERS, undefined];
    expect(plan(makeHop('GET'), 302, location, false)).toEqual(expected);
  });

  const bare = { accept: 'text/html' };
  it.each<readonly [method: string, status: number, expected: unknown]>([
    ['POST', 301, ['GET', { ...HEADERS, 'content-type': undefined }, undefined]],
    ['POST', 302, ['GET', { ...HEADERS, 'content-type': undefined }, undefined]],
    ['POST', 303, ['GET', { ...HEADERS, 'content-type': undefined }, undefined]],
    ['POST', 307, ['POST', HEADERS, 'text']],
    ['POST', 308, ['POST', HEADERS, 'text']],
    ['PUT', 301, ['PUT', HEADERS, 'text']],
    ['PUT', 303, ['GET', { ...HEADERS, 'content-type': undefined }, undefined]],
    ['DELETE', 302, ['DELETE', HEADERS, 'text']],
    ['HEAD', 303, ['HEAD', HEADERS, undefined]],
    ['GET', 308, ['GET', HEADERS, undefined]],
  ])('of %s with status %s changes method and body as browsers do', (method, status, expected) => {
    const [next, headers, body] = expected as [string, object, string | undefined];
    expect(plan(makeHop(method), status, '/next')).toEqual([
      next,
      'https://a.example/next',
      JSON.parse(JSON.stringify(headers)),
      body,
    ]);
  });

  it('to another host needs a permission, and loses all headers that could hold a key', () => {
    const location = 'https://b.example/';
    expect(plan(makeHop('GET'), 302, location, false)).toBe('stop at https://b.example/');
    expect(plan(makeHop('GET'), 302, location)).toEqual(['GET', location, OTHER_ORIGIN, undefined]);
    expect(plan(makeHop('POST'), 303, location)).toEqual(['GET', location, bare, undefined]);
  });

  it.each([
    ['POST', 307],
    ['POST', 308],
    ['PUT', 301],
    ['DELETE', 302],
  ])('of %s with status %s never takes the body to another host', (method, status) => {
    const planned = plan(makeHop(method), status, 'https://b.example/');
    expect(planned).toBe('stop at https://b.example/');
  });

  it('never takes an effect without a body to another host', () => {
    const hop = { ...makeHop('DELETE'), body: undefined };
    expect(plan(hop, 307, 'https://b.example/')).toBe('stop at https://b.example/');
  });

  it('to https or another port of the host is followed without keys', () => {
    const hop = makeHop('GET', 'http://a.example/');
    for (const location of ['https://a.example/', 'http://a.example:8080/']) {
      expect(plan(hop, 301, location, false)).toEqual(['GET', location, OTHER_ORIGIN, undefined]);
    }
  });

  it('from https to http is followed only within the host, and without a body', () => {
    const location = 'http://a.example/';
    expect(plan(makeHop('GET'), 302, location)).toEqual(['GET', location, OTHER_ORIGIN, undefined]);
    expect(plan(makeHop('POST'), 307, location)).toBe('stop at http://a.example/');
    expect(plan(makeHop('GET'), 302, 'http://b.example/')).toBe(
      'because it leads from https to http of another host',
    );
  });

  it.each([
    ['file:///etc/passwd', 'because it leads to a URL that must begin with https:// or http://'],
    ['data:text/html,x', 'because it leads to a URL that must begin with https:// or http://'],
    ['javascript:alert(1)', 'because it leads to a URL that must begin with https:// or http://'],
    ['ftp://a.example/', 'because it leads to a URL that must begin with https:// or http://'],
    [
      'https://user:password@a.example/',
      'because it leads to a URL that contains a user name or a password, which are not sent; leave them out',
    ],
    ['https://[', 'because it leads to an invalid URL'],
    [
      'https://a.example:22/',
      'because it leads to a URL that names port 22, which belongs to another service than the web',
    ],
  ])('to %s is refused', (location, problem) => {
    expect(plan(makeHop('GET'), 302, location)).toBe(problem);
  });

  it('shows a target without control characters, and shortened', () => {
    const location = `file:///\u001b]0;x\u0007${'a'.repeat(300)}`;
    const planned = catchMusterError(() =>
      planRedirect(makeHop('GET'), { status: 302, location }, () => true),
    );
    const { message } = planned as MusterError;
    expect(message).toContain(`the redirect to file:///${'a'.repeat(192)}… was not followed`);
  });
});
