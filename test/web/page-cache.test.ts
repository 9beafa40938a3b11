import { describe, expect, it } from 'vitest';
import { deferred, type Deferred } from '../../src/base/async.ts';
import { MusterError } from '../../src/base/errors.ts';
import type { WebRequest, WebResponse } from '../../src/protocol/web.ts';
import { HeaderMap } from '../../src/sys/http/header-map.ts';
import { createPageCache, type PageCacheLimits } from '../../src/web/page-cache.ts';
import { makeRequest } from './support.ts';

const PAGE = 'https://docs.example/page';

/** A client whose answers the test gives, and a clock that the test sets. */
function makeCache(limits: Partial<PageCacheLimits> = {}) {
  const sent: { readonly request: WebRequest; readonly answer: Deferred<WebResponse> }[] = [];
  const time = { now: 0 };
  const client = {
    send: (request: WebRequest) => {
      const answer = deferred<WebResponse>();
      sent.push({ request, answer });
      request.signal.addEventListener('abort', () => answer.reject(request.signal.reason));
      return answer.promise;
    },
  };
  const clock = { now: () => time.now, monotonic: () => time.now };
  return { cache: createPageCache({ client, clock, limits }), sent, time };
}

function page(body = 'page', parts: Partial<WebResponse> = {}): WebResponse {
  return {
    status: 200,
    statusText: 'OK',
    headers: new HeaderMap(),
    url: new URL(PAGE),
    body: Buffer.from(body),
    isCut: false,
    ...parts,
  };
}

/** Lets everything run that can run. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a cache of pages', () => {
  it('gives the same answer for fifteen minutes, without regard to the fragment', async () => {
    const { cache, sent, time } = makeCache();
    const first = cache.send(makeRequest(`${PAGE}#a`));
    sent[0]?.answer.resolve(page());
    const answer = await first;
    time.now = 15 * 60_000 - 1;
    expect(await cache.send(makeRequest(`${PAGE}#b`))).toBe(answer);
    expect(await cache.send(makeRequest(PAGE, { method: 'get' }))).toBe(answer);
    expect(sent.length).toBe(1);
    time.now += 1;
    void cache.send(makeRequest(PAGE));
    expect(sent.length).toBe(2);
  });

  it.each<readonly [what: string, request: string, parts: Partial<WebRequest>]>([
    ['another path', `${PAGE}2`, {}],
    ['another query', `${PAGE}?a`, {}],
    ['another scheme', PAGE.replace('https', 'http'), {}],
    ['another type', PAGE, { headers: { Accept: 'text/plain' } }],
    ['a key', PAGE, { headers: { Authorization: 'Bearer key' } }],
    ['a range', PAGE, { headers: { Range: 'bytes=0-9' } }],
    ['another method', PAGE, { method: 'HEAD' }],
    ['a body', PAGE, { method: 'POST', body: 'x' }],
  ])('does not give it for %s', async (_, url, parts) => {
    const { cache, sent } = makeCache();
    const first = cache.send(makeRequest(PAGE));
    sent[0]?.answer.resolve(page());
    await first;
    void cache.send(makeRequest(url, parts));
    await settle();
    expect(sent.length).toBe(2);
  });

  it.each<readonly [what: string, parts: Partial<WebResponse>]>([
    ['an error', { status: 404 }],
    ['a redirect', { status: 302, redirectTo: new URL('https://other.example/') }],
    ['a part', { status: 206 }],
    [
      'a page that may not be kept',
      { headers: new HeaderMap({ 'cache-control': 'private, No-Store' }) },
    ],
  ])('does not keep %s', async (_, parts) => {
    const { cache, sent } = makeCache();
    const first = cache.send(makeRequest(PAGE));
    sent[0]?.answer.resolve(page('x', parts));
    await first;
    void cache.send(makeRequest(PAGE));
    await settle();
    expect(sent.length).toBe(2);
  });

  it.each<readonly [what: string, limits: Partial<PageCacheLimits>]>([
    ['pages', { entries: 2 }],
    ['bytes', { bytes: 8 }],
  ])('has a limit of %s, and forgets the page that was used first', async (_, limits) => {
    const { cache, sent } = makeCache(limits);
    const load = async (name: string) => {
      const before = sent.length;
      const answer = cache.send(makeRequest(`${PAGE}/${name}`));
      const isSent = sent.length > before;
      if (isSent) sent.at(-1)?.answer.resolve(page('page'));
      await answer;
      return isSent;
    };
    const isSent: boolean[] = [];
    for (const name of ['a', 'b', 'a', 'c', 'a', 'c', 'b']) isSent.push(await load(name));
    expect(isSent).toEqual([true, true, false, true, false, false, true]);
  });
});

describe('requests for the same page at the same time', () => {
  it('share one transfer, which goes on when one of them is aborted', async () => {
    const { cache, sent } = makeCache();
    const aborts = [new AbortController(), new AbortController(), new AbortController()];
    const requests = aborts.map(({ signal }) =>
      cache.send(makeRequest(PAGE, { signal })).catch((reason: unknown) => reason),
    );
    await settle();
    // The first request began the transfer.
    aborts[0]?.abort('stop first');
    aborts[2]?.abort('stop third');
    expect([await requests[0], await requests[2]]).toEqual(['stop first', 'stop third']);
    expect(sent.map(({ request }) => request.signal.aborted)).toEqual([false]);
    const answer = page();
    sent[0]?.answer.resolve(answer);
    expect(await requests[1]).toBe(answer);
    expect(await cache.send(makeRequest(PAGE))).toBe(answer);
  });

  it('end the transfer if all of them are aborted; a later one begins anew', async () => {
    const { cache, sent } = makeCache();
    const abort = new AbortController();
    const requests = [1, 2].map(() =>
      cache.send(makeRequest(PAGE, { signal: abort.signal })).catch((reason: unknown) => reason),
    );
    await settle();
    abort.abort('stop');
    expect(await Promise.all(requests)).toEqual(['stop', 'stop']);
    await settle();
    const later = cache.send(makeRequest(PAGE));
    // The end of the first transfer does not make the cache forget the second one.
    await settle();
    const shared = cache.send(makeRequest(PAGE));
    expect(sent.map(({ request }) => request.signal.aborted)).toEqual([true, false]);
    const answer = page();
    sent[1]?.answer.resolve(answer);
    expect([await later, await shared]).toEqual([answer, answer]);
    await expect(cache.send(makeRequest(PAGE, { signal: abort.signal }))).rejects.toBe('stop');
  });

  it('share a failure, which is not kept', async () => {
    const { cache, sent } = makeCache();
    const requests = [1, 2].map(() =>
      cache.send(makeRequest(PAGE)).catch((error: unknown) => error),
    );
    const failure = new MusterError('TIMEOUT', 'too late');
    sent[0]?.answer.reject(failure);
    expect(await Promise.all(requests)).toEqual([failure, failure]);
    void cache.send(makeRequest(PAGE));
    expect(sent.length).toBe(2);
  });
});

describe('tasks with different rights', () => {
  const target = { host: 'wiki.example', address: '10.0.0.1' };
  const other = new URL('https://other.example/');
  const allowing = makeRequest(PAGE);
  const refusing = makeRequest(PAGE, {
    allowsPrivate: () => false,
    followsRedirect: () => false,
  });

  it('get no page of an address that only the other one may reach', async () => {
    const { cache, sent } = makeCache();
    const first = cache.send(allowing);
    expect(sent[0]?.request.allowsPrivate(target)).toBe(true);
    const waiting = cache.send(refusing);
    sent[0]?.answer.resolve(page('secret'));
    await first;
    await settle();
    // The page is neither taken from the transfer nor from the cache.
    void cache.send(refusing);
    await settle();
    expect(sent.length).toBe(3);
    sent[1]?.answer.reject(new MusterError('PERMISSION_DENIED', 'refused'));
    await expect(waiting).rejects.toThrow('refused');
    expect((await cache.send(allowing)).body.toString()).toBe('secret');
  });

  it('get no page to which only the other one is taken', async () => {
    const { cache, sent } = makeCache();
    const first = cache.send(allowing);
    expect(sent[0]?.request.followsRedirect(other)).toBe(true);
    sent[0]?.answer.resolve(page());
    await first;
    void cache.send(refusing);
    await settle();
    expect(sent.length).toBe(2);
  });

  it('are not refused because the other one is', async () => {
    const { cache, sent } = makeCache();
    const first = cache.send(refusing);
    sent[0]?.request.allowsPrivate(target);
    const second = cache.send(allowing);
    sent[0]?.answer.reject(new MusterError('PERMISSION_DENIED', 'refused'));
    await expect(first).rejects.toThrow('refused');
    await settle();
    sent[1]?.answer.resolve(page('secret'));
    expect((await second).body.toString()).toBe('secret');
  });

  it('share a page for which no right was needed', async () => {
    const { cache, sent } = makeCache();
    const first = cache.send(allowing);
    sent[0]?.answer.resolve(page());
    expect(await cache.send(refusing)).toBe(await first);
  });
});
