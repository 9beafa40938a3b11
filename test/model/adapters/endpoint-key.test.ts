import { describe, expect, it } from 'vitest';
import { EndpointKey } from '../../../src/model/adapters/endpoint-key.ts';
import { HttpStatusError } from '../../../src/model/adapters/errors/answer-errors.ts';
import type { Endpoint } from '../../../src/model/adapters/protocol-adapter.ts';
import { KeyUnavailableError, type KeySource } from '../../../src/protocol/api-key.ts';

const SOURCE: KeySource = { kind: 'command', command: 'key', ttlMs: 1_000, setting: 'x' };
const FIXED: Endpoint = { name: 'x', baseUrl: 'https://x.example/v1', apiKey: 'fixed' };
const LATE: Endpoint = { ...FIXED, apiKey: null, keySource: SOURCE };

function refusal(status: number): HttpStatusError {
  const response = { url: LATE.baseUrl, status, headers: {}, body: '', requestBody: '' };
  return new HttpStatusError(response, 'refused');
}

/** An endpoint key whose reader gives these keys or errors in turn, and the keys that were refused. */
function openKey(endpoint: Endpoint, ...answers: readonly (string | Error)[]) {
  const reads: (string | undefined)[] = [];
  const reader = {
    read: (_: KeySource, options: { readonly refused?: string } = {}): Promise<string> => {
      const answer = answers[reads.length] ?? new Error('one read too many');
      reads.push(options.refused);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  const signal = new AbortController().signal;
  return { key: new EndpointKey(endpoint, reader, { signal, observer: undefined }), reads };
}

describe('the key of a request', () => {
  it('is not read if it is known from the start, and not renewed', async () => {
    const { key, reads } = openKey(FIXED);
    await key.read();
    const thrown = refusal(401);
    expect([key.endpoint, await key.renew(thrown), reads]).toEqual([FIXED, thrown, []]);
  });

  it('is read before the request', async () => {
    const { key, reads } = openKey(LATE, 'k1');
    await key.read();
    expect([key.endpoint, reads]).toEqual([{ ...LATE, apiKey: 'k1' }, [undefined]]);
  });

  it('is renewed after status 401', async () => {
    const { key, reads } = openKey(LATE, 'k1', 'k2', 'k2');
    await key.read();
    expect(await key.renew(refusal(401))).toBeNull();
    await key.read();
    expect([key.endpoint.apiKey, reads]).toEqual(['k2', [undefined, 'k1', 'k1']]);
  });

  it('is renewed only once', async () => {
    const { key, reads } = openKey(LATE, 'k1', 'k2');
    await key.read();
    await key.renew(refusal(401));
    const second = refusal(401);
    expect([await key.renew(second), reads.length]).toEqual([second, 2]);
  });

  it('that has not changed leaves the refusal as it is', async () => {
    const { key } = openKey(LATE, 'k1', 'k1');
    await key.read();
    const thrown = refusal(401);
    expect(await key.renew(thrown)).toBe(thrown);
  });

  it.each([refusal(400), refusal(403), refusal(500), new TypeError('fetch failed')])(
    'is not renewed after %s',
    async (thrown) => {
      const { key, reads } = openKey(LATE, 'k1');
      await key.read();
      expect([await key.renew(thrown), reads.length]).toEqual([thrown, 1]);
    },
  );

  it('that cannot be read is the reason of the failure', async () => {
    const locked = new KeyUnavailableError('locked');
    await expect(openKey(LATE, locked).key.read()).rejects.toBe(locked);
    const { key } = openKey(LATE, 'k1', locked);
    await key.read();
    expect(await key.renew(refusal(401))).toBe(locked);
  });

  it('is not waited for after the request has been stopped, and signs of life end', async () => {
    const controller = new AbortController();
    const signs: number[] = [];
    const key = new EndpointKey(
      LATE,
      { read: () => new Promise(() => {}) },
      { signal: controller.signal, observer: { bytes: (chunk) => void signs.push(chunk.length) } },
    );
    const reading = key.read();
    while (signs.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort(new Error('stopped'));
    await expect(reading).rejects.toThrow('stopped');
    expect(new Set(signs)).toEqual(new Set([0]));
  });
});
