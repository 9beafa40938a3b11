import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import {
  isExemptFromProxy,
  selectProxy,
  readProxySettings,
} from '../../../src/sys/http/proxy-settings.ts';

describe('the proxies of', () => {
  const read = (env: Record<string, string>) => {
    const settings = readProxySettings(env);
    if (settings === null) return null;
    return [settings.http?.href ?? null, settings.https?.href ?? null, settings.none];
  };

  test.each<[Record<string, string>, readonly (string | null)[] | null]>([
    [{}, null],
    [{ NO_PROXY: '*' }, null],
    [{ HTTP_PROXY: ' ', HTTPS_PROXY: '' }, null],
    [{ HTTP_PROXY: 'http://a' }, ['http://a/', null, '']],
    [
      { http_proxy: 'http://b', HTTP_PROXY: 'http://a', all_proxy: 'http://c', no_proxy: 'x' },
      ['http://b/', 'http://c/', 'x'],
    ],
    [{ HTTPS_PROXY: 'proxy.corp:3128' }, [null, 'http://proxy.corp:3128/', '']],
    [{ HTTPS_PROXY: 'proxy.corp' }, [null, 'http://proxy.corp/', '']],
    [{ HTTPS_PROXY: '10.0.0.1:8080' }, [null, 'http://10.0.0.1:8080/', '']],
    [{ HTTPS_PROXY: '[::1]:8080' }, [null, 'http://[::1]:8080/', '']],
    [{ HTTPS_PROXY: 'user:pw@proxy.corp:3128' }, [null, 'http://user:pw@proxy.corp:3128/', '']],
    [{ HTTPS_PROXY: 'DOM%5Cuser:p@ss@h:1' }, [null, 'http://DOM%5Cuser:p%40ss@h:1/', '']],
    [{ HTTPS_PROXY: '"http://proxy.corp:3128"' }, [null, 'http://proxy.corp:3128/', '']],
    [{ HTTPS_PROXY: 'https://proxy.corp' }, [null, 'https://proxy.corp/', '']],
    [
      { ALL_PROXY: 'socks5h://127.0.0.1:9050' },
      ['socks5://127.0.0.1:9050', 'socks5://127.0.0.1:9050', ''],
    ],
  ])('%j', (env, expected) => {
    expect(read(env)).toEqual(expected);
  });

  test.each([
    ['HTTPS_PROXY', 'not a url', 'but "not a url" is not'],
    ['HTTP_PROXY', '::nonsense', 'but "::nonsense" is not'],
    ['https_proxy', 'http://', 'but "http://" is not'],
    ['ALL_PROXY', 'user:se cret@h:1', 'but its value is not'],
    ['HTTPS_PROXY', 'proxy.corp:99999', 'but "proxy.corp:99999" is not'],
    ['ALL_PROXY', 'ftp://h:1', 'a proxy of an unknown kind, "ftp://"'],
    ['HTTPS_PROXY', 'user:100%@h:1', 'write it as %25'],
  ])('%s=%s cannot be meant', (variable, value, says) => {
    const act = () => readProxySettings({ [variable]: value });
    expect(act).toThrow(UsageError);
    expect(act).toThrow(`${variable} `);
    expect(act).toThrow(says);
    if (value.includes('@')) expect(act).not.toThrow(/se cret|100%/);
  });
});

test.each([
  ['https://api.example.com', '*', true],
  ['https://api.example.com', 'localhost, *', true],
  ['https://api.example.com', 'example.com', true],
  ['https://api.example.com', '.example.com', true],
  ['https://api.example.com', '*.example.com', true],
  ['https://example.com', '.example.com', true],
  ['https://badexample.com', 'example.com', false],
  ['https://api.example.com', ' other.test ,\tAPI.Example.COM ', true],
  ['https://api.example.com', 'other.test api.example.com', true],
  ['https://api.example.com', 'example.com:443', true],
  ['https://api.example.com', 'example.com:8443', false],
  ['http://api.example.com:8080', 'api.example.com:8080', true],
  ['http://api.example.com', 'api.example.com:80', true],
  ['https://api.example.com', 'example.com.', true],
  ['https://api.example.com', 'https://api.example.com/', true],
  ['https://api.example.com', 'ample.com', false],
  ['https://api.example.com', '', false],
  ['https://api.example.com', ',, ,', false],
  ['http://10.1.2.3', '10.0.0.0/8', true],
  ['http://11.1.2.3', '10.0.0.0/8', false],
  ['http://10.1.2.3', '10.1.2.3', true],
  ['http://10.1.2.3:8000', '10.1.2.3:8000', true],
  ['http://110.1.2.3', '10.1.2.3', false],
  ['http://[fd00::5]', 'fd00::/8', true],
  ['http://[fd00::5]', 'fd00::5', true],
  ['http://[fd00::5]:80', '[fd00::5]:80', true],
  ['http://[fd00::5]', '10.0.0.0/8', false],
  ['http://10.1.2.3', '10.0.0.0/99', false],
  ['https://ten.example.com', '10.0.0.0/8', false],
])('%s with NO_PROXY=%j goes directly: %s', (url, none, expected) => {
  expect(isExemptFromProxy(new URL(url), none)).toBe(expected);
});

test('a request goes through the proxy of its scheme, and to this machine without one', () => {
  const settings = readProxySettings({ HTTP_PROXY: 'a:1', HTTPS_PROXY: 'b:1', NO_PROXY: 'c.test' });
  if (settings === null) throw new Error('no proxies');
  const through = (url: string) => selectProxy(new URL(url), settings)?.host ?? null;
  expect(through('http://x.test')).toBe('a:1');
  expect(through('https://x.test')).toBe('b:1');
  expect(through('https://c.test')).toBeNull();
  expect(through('http://localhost:1')).toBeNull();
  expect(through('http://127.0.0.9:1')).toBeNull();
  expect(through('http://[::1]:1')).toBeNull();
});
