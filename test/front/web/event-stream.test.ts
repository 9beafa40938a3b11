import { createServer } from 'node:http';
import { createConnection, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { eventStreamResponse, type StreamMessage } from '../../../src/front/web/event-stream.ts';
import { sendResponse } from '../../../src/sys/http/node-exchange.ts';

const MESSAGE_LENGTH = 100_000;

it('a client that does not read is not written to without end, and its connection ends', async () => {
  let produced = 0;
  const ended = Promise.withResolvers<void>();
  async function* messages(): AsyncGenerator<StreamMessage, void, undefined> {
    try {
      for (;;) {
        produced += 1;
        yield { event: 'log', id: String(produced), data: 'x'.repeat(MESSAGE_LENGTH) };
        // Other work goes on meanwhile.
        await sleep(0);
      }
    } finally {
      ended.resolve();
    }
  }
  const notices: string[] = [];
  const server = createServer((_, outgoing) => {
    const response = eventStreamResponse(messages(), {
      disconnect: () => void outgoing.destroy(),
      onNotice: (line) => notices.push(line),
      maxStallMs: 500,
    });
    void sendResponse(response, outgoing);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const socket = createConnection({ host: '127.0.0.1', port });
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await ended.promise;
  // What the buffers of the system and of the stream hold.
  expect(produced * MESSAGE_LENGTH).toBeLessThan(32_000_000);
  expect(notices).toEqual([
    'a page has read nothing for 0.5 s, which is the limit: its connection is closed, and it continues where it was when it connects again',
  ]);
  socket.destroy();
});

it('says in the text what a message is', async () => {
  async function* messages(): AsyncGenerator<StreamMessage | null, void, undefined> {
    yield { event: 'log', id: '7', data: '{"a":1}' };
    yield null;
    yield { event: 'live', id: null, data: '2' };
  }
  const response = eventStreamResponse(messages(), { disconnect: () => {}, onNotice: () => {} });
  expect(await response.text()).toBe(
    'retry: 1000\n\nevent: log\nid: 7\ndata: {"a":1}\n\n: alive\n\nevent: live\ndata: 2\n\n',
  );
});
