import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { toWebRequest } from '../../../src/sys/http/node-exchange.ts';

const incoming = {
  method: 'GET',
  url: '/',
  headers: { host: '127.0.0.1' },
  headersDistinct: { host: ['127.0.0.1'] },
} as unknown as IncomingMessage;

it('the signal of a request aborts with its connection, even after the request was collected', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const connection = new AbortController();
  const { signal } = toWebRequest(incoming, connection.signal);
  let heard = 0;
  signal.addEventListener('abort', () => {
    heard += 1;
  });
  for (let round = 0; round < 3; round += 1) {
    // A collection frees what only jobs that have ended have held.
    await sleep(0);
    collect();
  }
  connection.abort();
  expect([signal.aborted, heard]).toEqual([true, 1]);
});
