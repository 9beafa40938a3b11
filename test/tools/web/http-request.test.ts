import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Access } from '../../../src/protocol/permission.ts';
import type { WebPort, WebResponse } from '../../../src/protocol/web.ts';
import { HeaderMap } from '../../../src/sys/http/header-map.ts';
import { makeWorkspace, tool } from '../workspace.ts';

const URL_TEXT = 'https://api.example/items';

/** A port to the web that gives one answer and keeps what was sent. */
function makeWeb(parts: Partial<WebResponse> = {}) {
  const sent: Parameters<WebPort['send']>[0][] = [];
  const web: WebPort = {
    get: () => Promise.reject(new Error('not used')),
    send: async (request) => {
      sent.push(request);
      return {
        status: 200,
        statusText: 'OK',
        headers: new HeaderMap(),
        url: request.url,
        body: Buffer.from('text'),
        isCut: false,
        ...parts,
      };
    },
  };
  return { web, sent };
}

async function call(input: JsonObject, parts: Partial<WebResponse> = {}) {
  const { web, sent } = makeWeb(parts);
  const output = await makeWorkspace().call('HttpRequest', input, { web });
  return { output, sent };
}

describe('a call of HttpRequest', () => {
  const json = { 'Content-Type': 'application/json' };
  const merge = 'application/merge-patch+json';
  it.each<readonly [input: JsonObject, sent: Partial<Parameters<WebPort['send']>[0]>]>([
    [{}, {}],
    [{ method: 'head' }, { method: 'HEAD' }],
    [{ body: 'a=b' }, { method: 'POST', body: 'a=b' }],
    [
      { method: 'PUT', data: 'a' },
      { method: 'PUT', body: 'a' },
    ],
    [{ json: '{"a":1}' }, { method: 'POST', headers: json, body: '{"a":1}' }],
    [{ json: { a: [1] } }, { method: 'POST', headers: json, body: '{"a":[1]}' }],
    [{ json: [] }, { method: 'POST', headers: json, body: '[]' }],
    [
      { json: '1', headers: [`content-type: ${merge}`], method: 'PATCH' },
      { method: 'PATCH', headers: { 'content-type': merge }, body: '1' },
    ],
    [{ headers: ['Accept: a: b', 'X-Key:c'] }, { headers: { Accept: 'a: b', 'X-Key': 'c' } }],
    [{ headers: { Accept: 'a', 'X-Count': 3 } }, { headers: { Accept: 'a', 'X-Count': '3' } }],
    [{ Headers: '{"Accept": "a"}' }, { headers: { Accept: 'a' } }],
    [{ headers: '["Accept: a"]' }, { headers: { Accept: 'a' } }],
    [{ headers: 'Accept: a\nX-Key: b\n' }, { headers: { Accept: 'a', 'X-Key': 'b' } }],
    [{ headers: {}, timeout: 30, follow_redirects: true }, {}],
  ])('sends %j', async (input, expected) => {
    const { sent, output } = await call({ url: URL_TEXT, ...input });
    expect(output.error).toBeUndefined();
    expect(sent).toEqual([{ method: 'GET', url: new URL(URL_TEXT), headers: {}, ...expected }]);
  });

  it.each<readonly [input: JsonObject, problem: string]>([
    [{ url: 'api.example' }, 'url: must begin with https:// or http://'],
    [{ body: 'a', json: '1' }, 'json: cannot be sent together with body; send one'],
    [{ json: '{a: 1}' }, 'json: is not valid JSON; send other text as body'],
    [{ headers: ['Accept'] }, 'headers: "Accept" has not the form "Name: value"'],
    [{ headers: [': a'] }, 'headers: ": a" has not the form "Name: value"'],
    [{ headers: ['A: b', 'A: c'] }, 'headers: "A: c" is given twice'],
    [{ verify: false }, 'verify: is not available here; leave it out (it acts as true)'],
  ])('is refused: %j', async (input, problem) => {
    const { sent, output } = await call({ url: URL_TEXT, ...input });
    expect([output, sent]).toEqual([{ text: problem, error: 'INVALID_PARAM' }, []]);
  });

  it('fails where the web cannot be reached', async () => {
    const output = await makeWorkspace().call('HttpRequest', { url: URL_TEXT });
    expect(output).toEqual({ text: 'The web cannot be reached from here.', error: 'NOT_FOUND' });
  });

  it.each<readonly [input: JsonObject, access: Partial<Access>]>([
    [{}, { hosts: ['api.example'], onlyFetches: true }],
    [{ method: ' Head ' }, { hosts: ['api.example'], onlyFetches: true }],
    [{ method: 'POST' }, { hosts: ['api.example'] }],
    [{ method: 'OPTIONS' }, { hosts: ['api.example'] }],
    [{ body: 'a' }, { hosts: ['api.example'] }],
    [{ url: 'http://0x7f.1:8080/' }, { hosts: ['127.0.0.1'], onlyFetches: true }],
    [{ url: 'http://a@b/' }, { hosts: [], onlyFetches: true }],
  ])('describes its access: %j', (input, access) => {
    const parsed = tool('HttpRequest').parse({ url: URL_TEXT, ...input });
    expect(parsed.ok && tool('HttpRequest').describe?.(parsed.input, { cwd: '/w' })).toEqual({
      reads: [],
      writes: [],
      commands: [],
      ...access,
    });
  });
});

describe('the result of HttpRequest', () => {
  const show = async (parts: Partial<WebResponse>) => {
    const { output } = await call({ url: URL_TEXT }, parts);
    expect(output.error).toBeUndefined();
    return output.text;
  };
  const typed = (type: string, body: string | Buffer, parts: Partial<WebResponse> = {}) =>
    show({ headers: new HeaderMap({ 'content-type': type }), body: Buffer.from(body), ...parts });

  it('has the status, the main headers and the body, also of an error', async () => {
    const headers = new HeaderMap({
      'Content-Type': 'text/plain',
      'Set-Cookie': 'session=secret',
      Server: 'x',
      'X-RateLimit-Remaining': '7',
      'WWW-Authenticate': 'Bearer \u001b[31mrealm',
    });
    const url = new URL('https://api.example/items/');
    expect(await show({ status: 401, statusText: 'Unauthorized', headers, url })).toBe(
      [
        'HTTP 401 Unauthorized',
        'url: https://api.example/items/',
        'content-type: text/plain',
        'x-ratelimit-remaining: 7',
        'www-authenticate: Bearer realm',
        '',
        'text',
      ].join('\n'),
    );
  });

  it('names the target of a redirect that was not followed', async () => {
    const parts = { status: 307, statusText: '', redirectTo: new URL('https://other.example/a') };
    expect(await show({ ...parts, body: Buffer.alloc(0) })).toBe(
      'HTTP 307\n[The redirect was not followed. Call HttpRequest again with https://other.example/a]\n\n[no body]',
    );
  });

  it('lays out short JSON, and keeps every digit', async () => {
    const text = await typed('application/problem+json', '{"a":12345678901234567890,"b":[1.10]}');
    expect(text.split('\n\n')[1]).toBe(
      '{\n  "a": 12345678901234567890,\n  "b": [\n    1.10\n  ]\n}',
    );
  });

  test.each([
    ['JSON that is long', 'application/json', JSON.stringify('a'.repeat(9_000))],
    ['JSON that has lines', 'application/json', '{\n"a":1}'],
    ['text that is no JSON', 'application/json', '<html>'],
    ['JSON of another type', 'text/plain', '{"a":1}'],
  ])('%s stays as it is', async (_, type, body) => {
    expect((await typed(type, body)).endsWith(`\n\n${body}`)).toBe(true);
  });

  it.each([
    ['text/plain; charset=iso-8859-1', Buffer.from([0xe4]), '\u00e4'],
    ['text/plain; charset="shift_jis"', Buffer.from([0x93, 0xfa]), '\u65e5'],
    ['text/plain; charset=utf-16le', Buffer.from('a\u00e4', 'utf16le'), 'a\u00e4'],
    ['text/plain; charset=unknown', Buffer.from('\u00e4'), '\u00e4'],
    ['text/plain', Buffer.from('\ufeff\u00e4'), '\u00e4'],
    ['text/plain', Buffer.from([0xe4, 0x20, 0xf6]), '\u00e4 \u00f6'],
    ['text/plain', Buffer.from('a\u001b]0;title\u0007b'), 'ab'],
  ])('decodes %s', async (type, body, text) => {
    expect((await typed(type, body)).split('\n\n')[1]).toBe(text);
  });

  it('describes a body that is not text, whatever its type says', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex');
    expect((await typed('text/html', png)).split('\n\n')[1]).toBe(
      '[not text: PNG image, 12 bytes; to keep it, download it with Bash]',
    );
  });

  it('says that a body was cut', async () => {
    expect((await typed('text/plain', 'text', { isCut: true })).split('\n\n')[1]).toBe(
      'text\n[cut: the body is larger than the limit of 4 bytes]',
    );
  });
});
