import { describe, expect, it } from 'vitest';
import { displayWebUrl, parseWebUrl } from '../../src/web/parse-url.ts';

/** Returns the URL in its normal form, or the problem. */
function parse(text: string): string {
  const parsed = parseWebUrl(text);
  return parsed.ok ? parsed.url.href : parsed.problem;
}

describe('parseWebUrl', () => {
  it.each([
    ['https://docs.example/a?b=c#d', 'https://docs.example/a?b=c#d'],
    ['  HTTP://Docs.Example:80/a b ', 'http://docs.example/a%20b'],
    ['https://docs.example.', 'https://docs.example/'],
    ['https://docs.example.:8443/', 'https://docs.example:8443/'],
    ['http://localhost./', 'http://localhost/'],
    ['http://LOCALHOST/', 'http://localhost/'],
    ['http://localhost\u3002/', 'http://localhost/'],
    ['http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/', 'http://localhost/'],
    ['http://loc\u00adalhost/', 'http://localhost/'],
    ['https://b\u00fccher.example/\u00e4', 'https://xn--bcher-kva.example/%C3%A4'],
    // The first letter is Cyrillic.
    ['https://\u0430pple.com/', 'https://xn--pple-43d.com/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    ['http://0177.0.0.1/', 'http://127.0.0.1/'],
    ['http://127.1./', 'http://127.0.0.1/'],
    ['http://\uff11\uff12\uff17.0.0.1/', 'http://127.0.0.1/'],
    ['http://%31%32%37.0.0.1/', 'http://127.0.0.1/'],
    ['http://[::FFFF:127.0.0.1]/', 'http://[::ffff:7f00:1]/'],
    ['http://intranet/', 'http://intranet/'],
  ])('reads %s', (text, href) => {
    expect(parse(text)).toBe(href);
  });

  it.each([
    ['', 'must begin with https:// or http://'],
    ['docs.example/a', 'must begin with https:// or http://'],
    ['localhost:3000', 'must begin with https:// or http://'],
    ['ftp://docs.example/', 'must begin with https:// or http://'],
    ['file:///etc/passwd', 'must begin with https:// or http://'],
    ['data:text/html,x', 'must begin with https:// or http://'],
    ['javascript:alert(1)', 'must begin with https:// or http://'],
    ['http:docs.example', 'must begin with https:// or http://'],
    ['http:\\\\docs.example', 'must begin with https:// or http://'],
    ['view-source:http://docs.example', 'must begin with https:// or http://'],
    ['http://', 'is not a valid URL'],
    ['http://exa mple/', 'is not a valid URL'],
    ['http://1.2.3.4.5/', 'is not a valid URL'],
    ['http://[fe80::1%25eth0]/', 'is not a valid URL'],
    ['http://docs.example:99999/', 'is not a valid URL'],
    ['http://a%00b/', 'is not a valid URL'],
    ['ht\ntp://docs.example/', 'contains a control character'],
    ['http://docs.example/\r\nHost: x', 'contains a control character'],
    ['http://docs.example/\u009b', 'contains a control character'],
    [
      'http://docs.example@127.0.0.1/',
      'contains a user name or a password, which are not sent; leave them out',
    ],
    [
      'https://a:b@docs.example/',
      'contains a user name or a password, which are not sent; leave them out',
    ],
    ['http://docs.example../', 'contains "docs.example.", which is not a valid host'],
    ['http://a..b/', 'contains "a..b", which is not a valid host'],
    [
      `http://${'a'.repeat(64)}.example/`,
      `contains "${'a'.repeat(64)}.example", which is not a valid host`,
    ],
    ['http://docs.example:25/', 'names port 25, which belongs to another service than the web'],
    ['http://docs.example:6667/', 'names port 6667, which belongs to another service than the web'],
    ['http://docs.example:0/', 'names port 0, which belongs to another service than the web'],
    [`https://docs.example/${'a'.repeat(8_200)}`, 'is longer than 8192 characters'],
  ])('refuses %j', (text, problem) => {
    expect(parse(text)).toBe(problem);
  });
});

it('shows a URL without its query', () => {
  expect(displayWebUrl(new URL('https://a.example/b?key=secret#c'))).toBe('https://a.example/b?…');
  expect(displayWebUrl(new URL(`https://a.example/${'b'.repeat(500)}`))).toHaveLength(201);
});
