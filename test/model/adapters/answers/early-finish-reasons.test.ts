import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { googleProtocol } from '../../../../src/model/adapters/google/google-protocol.ts';
import { userMessage } from '../../../../src/protocol/message.ts';
import { adapterDeps, collect, request, serve, type Respond } from '../support.ts';

const chunk = (text: string): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] })}\n\n`;

async function readLast(respond: Respond) {
  await using server = await serve(respond);
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
  const model = { provider: 'test', id: 'gemini-2.5-pro', chain: [] };
  const asked = request([userMessage('Hi')], { model });
  return (await collect(createAdapter(googleProtocol, endpoint, adapterDeps()), asked)).at(-1);
}

it('continues an answer that has a finish reason in every chunk', async () => {
  const last = await readLast(async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const word of ['a ', 'b ', 'c ']) {
      response.write(chunk(word));
      await sleep(1300);
    }
    response.end();
  });
  expect(last).toMatchObject({
    type: 'finished',
    message: { content: [{ text: 'a b c ' }] },
    repairs: { content_after_end: 1 },
  });
});

it('fails if such an answer is cut off by a reset', async () => {
  const last = await readLast((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('a ') + chunk('b '), () => setTimeout(() => response.destroy(), 20));
  });
  expect(last).toMatchObject({ type: 'failed', failure: { kind: 'connect', retryable: true } });
});
