import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Deadlines } from '../../src/base/deadlines.ts';
import { checkKey, type KeyCheck } from '../../src/model/check-key.ts';
import { findSignInProvider } from '../../src/model/providers/sign-in-provider.ts';
import type { HttpFetch, HttpResponse } from '../../src/sys/http/http-types.ts';
import { HeaderMap } from '../../src/sys/http/header-map.ts';

interface Answer {
  readonly status: number;
  readonly body?: object | string;
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly hasKey: boolean;
}

/** The check of a key at servers that answer as `answer` says, and the requests that were sent. */
async function check(
  provider: string,
  answer: (sent: Sent) => Answer | Error,
): Promise<{ readonly checked: KeyCheck; readonly sent: readonly string[] }> {
  const sent: string[] = [];
  const fetch: HttpFetch = (address, { method = 'GET', headers = {} } = {}) => {
    const hasKey = JSON.stringify(headers).includes('sk-typed-key');
    const request = { method, url: String(address), hasKey };
    sent.push(`${method} ${request.url}${hasKey ? '' : ' without a key'}`);
    const answered = answer(request);
    return answered instanceof Error
      ? Promise.reject(answered)
      : Promise.resolve(respond(answered));
  };
  const account = { provider, account: 'default', key: 'sk-typed-key' };
  const found = findSignInProvider(account, { settings: { providers: {} }, env: {} });
  const checked = await checkKey(
    { ...found, apiKey: 'sk-typed-key' },
    {
      fetch,
      clock: systemClock,
      deadlines: new Deadlines(systemClock),
      version: '0',
      limits: { connectMs: 9e3, firstTokenMs: 9e3, privateFirstTokenMs: 9e3, streamIdleMs: 9e3 },
      admission: { maxConcurrent: 1, requestsPerMinute: 0 },
    },
  );
  return { checked, sent };
}

function respond({ status, body = {} }: Answer): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const pieces: (Uint8Array | null)[] = [Buffer.from(text), null];
  return {
    status,
    statusText: '',
    ok: status >= 200 && status < 300,
    headers: new HeaderMap([['content-type', 'application/json']]),
    body: { read: () => Promise.resolve(pieces.shift() ?? null), cancel: () => Promise.resolve() },
    text: () => Promise.resolve(text),
    json: () => Promise.resolve(JSON.parse(text)),
  };
}

const LIST = { data: [{ id: 'm' }] };
const OPENROUTER = 'https://openrouter.ai/api/v1';
const GROQ = 'https://api.groq.com/openai/v1';

describe('the check of a key', () => {
  it('reads the limits of a key at OpenRouter, whose list of models is public', async () => {
    const { checked, sent } = await check('openrouter', () => ({
      status: 200,
      body: { data: {} },
    }));
    expect([checked, sent]).toEqual([{ kind: 'accepted', note: null }, [`GET ${OPENROUTER}/key`]]);
  });

  it('compares the list of models with and without the key', async () => {
    const { checked, sent } = await check('groq', ({ hasKey }) =>
      hasKey ? { status: 200, body: LIST } : { status: 401 },
    );
    expect(checked).toEqual({ kind: 'accepted', note: null });
    expect(sent).toEqual([`GET ${GROQ}/models`, `GET ${GROQ}/models without a key`]);
  });

  it.each<[title: string, list: Answer, chat: Answer, expected: object]>([
    ['fails', { status: 500 }, { status: 200 }, { kind: 'accepted' }],
    ['does not exist', { status: 404 }, { status: 401 }, { kind: 'refused' }],
    ['is forbidden for the key', { status: 403 }, { status: 200 }, { kind: 'accepted' }],
    ['and the chat are forbidden', { status: 403 }, { status: 403 }, { kind: 'refused' }],
    ['is public', { status: 200, body: LIST }, { status: 401 }, { kind: 'refused' }],
    ['is no JSON', { status: 200, body: '<html>' }, { status: 200 }, { kind: 'accepted' }],
    ['and the chat fail', { status: 500 }, { status: 500 }, { kind: 'undecided' }],
    ['does not exist, nor the model', { status: 404 }, { status: 404 }, { kind: 'undecided' }],
    ['fails, and there is no credit', { status: 500 }, { status: 402 }, { kind: 'accepted' }],
    ['fails, and the limit is reached', { status: 500 }, { status: 429 }, { kind: 'undecided' }],
  ])('asks a model if the list %s', async (_, list, chat, expected) => {
    const answer = { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] };
    const { checked, sent } = await check('groq', ({ method }) =>
      method === 'GET' ? list : { body: chat.status === 200 ? answer : {}, ...chat },
    );
    expect(checked).toMatchObject(expected);
    expect(sent.at(-1)).toBe(`POST ${GROQ}/chat/completions`);
  });

  it.each<[Error, RegExp]>([
    [new TypeError('fetch failed', { cause: new Error('unexpected redirect') }), /redirects/],
    [new DOMException('', 'TimeoutError'), /api\.groq\.com.* did not answer within 20 s$/],
    [Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), /no connection: getaddrinfo/],
  ])('says that it did not reach the server: %s', async (error, message) => {
    const { checked } = await check('groq', () => error);
    expect(checked).toEqual({ kind: 'undecided', message: expect.stringMatching(message) });
  });

  it.each<[message: string, kind: KeyCheck['kind']]>([
    ['You exceeded your current quota, please check your plan and billing details', 'accepted'],
    ['Your credit balance is too low', 'accepted'],
    ['Invalid API key. Check your key and billing settings', 'refused'],
    ['The API key you provided is not valid; see your account balance', 'refused'],
    ['Incorrect API key provided', 'refused'],
    ['Your token has expired. Add credits to continue', 'refused'],
    ['No', 'refused'],
  ])('reads HTTP 401 with "%s"', async (message, kind) => {
    const { checked } = await check('groq', () => ({ status: 401, body: { error: { message } } }));
    expect(checked).toMatchObject({ kind });
  });

  it('says what the server answered if no model is known', async () => {
    const messages: string[] = [];
    for (const answer of [
      { status: 500, body: { error: { message: 'on fire' } } },
      { status: 403, body: { error: { message: 'not in this country' } } },
      { status: 200, body: { data: [] } },
    ]) {
      const { checked } = await check('litellm', () => answer);
      messages.push(checked.kind === 'undecided' ? checked.message : checked.kind);
    }
    expect(messages).toEqual([
      expect.stringMatching(/lists no models: HTTP 500: on fire$/),
      expect.stringMatching(/lists no models: HTTP 403: not in this country$/),
      expect.stringMatching(/lists no model with which the key could be tried$/),
    ]);
  });

  it('repeats nothing of the key', async () => {
    for (const text of ['unknown key sk-typed-key', 'unknown key sk-typ****-key']) {
      const { checked } = await check('groq', () => ({
        status: 401,
        body: { error: { message: text } },
      }));
      expect(checked).toEqual({ kind: 'refused', message: 'HTTP 401: unknown key [key]' });
    }
  });
});
