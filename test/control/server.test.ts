import type { ControlRequest, ControlReply } from '../../src/control/protocol.ts';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { MusterError } from '../../src/base/errors.ts';
import { deferred } from '../../src/base/async.ts';
import { sendControlRequest } from '../../src/control/client.ts';
import { listen, replyIn, sendRaw } from './support.ts';

const timeoutMs = 20_000;
const stop: ControlRequest = { op: 'stop', task: 'abc123' };

async function hold(path: string): Promise<Socket> {
  const socket = connect({ path });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {
    // Cut off by the server, which is what these tests are about.
  });
  await once(socket, 'connect');
  return socket;
}

function errorReply(code: string, message: string): unknown {
  return {
    v: 1,
    type: 'reply',
    ok: false,
    error: { code, message: expect.stringContaining(message), retryable: expect.any(Boolean) },
  };
}

describe('a request and its reply', () => {
  test.each<ControlRequest>([
    stop,
    { op: 'stop', task: 'a', because: 'it\nruns in circles' },
    { op: 'send', task: 'abc123', message: 'look into ./src, too — 🙂' },
    { op: 'resume', task: 'abc123', prompt: 'go on', model: 'fast', max_turns: 3 },
    { op: 'background', task: 'abc123' },
  ])('%j', async (request) => {
    const { path } = await listen();
    const reply = await sendControlRequest(path, request, { timeoutMs });
    expect(reply).toEqual({ ok: true, text: request.op, data: request });
  });

  test('a refusal is a reply, whatever was thrown', async () => {
    const failures = [new MusterError('NOT_FOUND', 'no such task'), new Error('a bug'), 'text'];
    const replies: ControlReply[] = [];
    for (const failure of failures) {
      const { path } = await listen({
        handle: () => {
          throw failure;
        },
      });
      replies.push(await sendControlRequest(path, stop, { timeoutMs }));
    }
    expect(replies).toEqual([
      { ok: false, error: { code: 'NOT_FOUND', message: 'no such task', retryable: false } },
      { ok: false, error: { code: 'INTERNAL_ERROR', message: 'a bug', retryable: false } },
      { ok: false, error: { code: 'INTERNAL_ERROR', message: 'text', retryable: false } },
    ]);
  });

  test('can both be large', async () => {
    const { path } = await listen();
    const request = { op: 'send', task: 'abc', message: 'ä'.repeat(500_000) } as const;
    const reply = await sendControlRequest(path, request, { timeoutMs });
    expect(reply).toEqual({ ok: true, text: 'send', data: request });
  });

  test('a request that is too long is not sent', async () => {
    const handle = vi.fn<() => Promise<ControlReply>>();
    const { path } = await listen({ handle });
    const request = { op: 'send', task: 'abc', message: 'x'.repeat(1024 * 1024) } as const;
    await expect(sendControlRequest(path, request, { timeoutMs })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    expect(handle).not.toHaveBeenCalled();
  });

  test('concurrent requests each get their own reply, and further ones are asked to come back later', async () => {
    const go = deferred<void>();
    const { path } = await listen({
      limits: { connections: 8 },
      handle: async (request) => {
        await go.promise;
        return { ok: true, text: request.task };
      },
    });
    const tasks = Array.from({ length: 12 }, (_, index) => `task${index}`);
    const calls = tasks.map((task) =>
      sendControlRequest(path, { op: 'stop', task }, { timeoutMs }),
    );
    const refused = await Promise.race(calls);
    expect(refused).toEqual({
      ok: false,
      error: {
        code: 'LIMIT_EXCEEDED',
        message: '8 control connections are open, which is the limit: try again later',
        retryable: true,
      },
    });
    go.resolve();
    const replies = await Promise.all(calls);
    expect(replies.filter(({ ok }) => ok)).toHaveLength(8);
    for (const [index, reply] of replies.entries()) {
      if (reply.ok) expect(reply.text).toBe(tasks[index]);
    }
    const later = await Promise.all(
      tasks
        .slice(0, 8)
        .map((task) => sendControlRequest(path, { op: 'stop', task }, { timeoutMs })),
    );
    expect(later.every(({ ok }) => ok)).toBe(true);
  });
});

describe('a hostile client', () => {
  test.each<[string, (string | Buffer)[], string, string]>([
    ['garbage', ['GET / HTTP/1.1\r\n\r\n'], 'INVALID_PARAM', 'not a JSON object'],
    ['binary', [Buffer.from([0, 255, 254, 10])], 'INVALID_PARAM', 'not a JSON object'],
    ['an empty line', ['\n'], 'INVALID_PARAM', 'not a JSON object'],
    ['a newer client', ['{"v":7,"op":"fly"}\n'], 'CONFLICT', 'version 7'],
    ['a huge line', Array(40).fill('x'.repeat(65_536)), 'LIMIT_EXCEEDED', '1048576 bytes'],
    ['a slow one', ['{"v":1,'], 'TIMEOUT', 'within 300 ms'],
  ])('%s', async (_name, chunks, code, message) => {
    const { path } = await listen({ limits: { requestMs: 300, lingerMs: 300 } });
    expect(replyIn(await sendRaw(path, ...chunks))).toEqual(errorReply(code, message));
    expect(await sendControlRequest(path, stop, { timeoutMs })).toMatchObject({ ok: true });
  });

  test('cannot extend its time by sending single bytes', async () => {
    const { path } = await listen({ limits: { requestMs: 200, lingerMs: 50 } });
    const socket = await hold(path);
    const drip = setInterval(() => socket.write(' '), 10);
    onTestFinished(() => clearInterval(drip));
    const [answer] = await once(socket, 'data');
    expect(replyIn(String(answer))).toEqual(errorReply('TIMEOUT', 'within 200 ms'));
    // Not by `once`, which rejects for an error: a drip that nobody read resets the connection.
    await new Promise((resolve) => socket.once('close', resolve));
  });

  test('may send a line in pieces, cut inside a character, and more data after it', async () => {
    const { path } = await listen();
    const line = Buffer.from('{"v":1,"op":"send","task":"abc","message":"ä"}\nmore\n{"v":1}\n');
    const middle = line.indexOf(0xc3) + 1;
    const answer = await sendRaw(path, line.subarray(0, middle), line.subarray(middle));
    expect(answer.split('\n')).toHaveLength(2);
    expect(replyIn(answer)).toMatchObject({ ok: true, data: { message: 'ä' } });
  });

  test('that ends in the middle of a line gets an error, and one that ends after it gets its answer', async () => {
    const { path } = await listen();
    const half = await hold(path);
    half.end('{"v":1,"op"');
    const whole = await hold(path);
    whole.end('{"v":1,"op":"stop","task":"abc"}\n');
    const [[first], [second]] = await Promise.all([once(half, 'data'), once(whole, 'data')]);
    expect(replyIn(String(first))).toEqual(errorReply('INVALID_PARAM', 'without a newline'));
    expect(replyIn(String(second))).toMatchObject({ ok: true, text: 'stop' });
  });

  test('can hang up at any moment without harm, and its request is still carried out', async () => {
    const asked: string[] = [];
    const done = deferred<void>();
    const { path } = await listen({
      handle: async ({ task }) => {
        asked.push(task);
        if (task === 'last') done.resolve();
        return { ok: true, text: 'x'.repeat(4_000_000) };
      },
    });
    (await hold(path)).destroy();
    const middle = await hold(path);
    middle.write('{"v":1,"op":"stop",', () => middle.destroy());
    const asking = await hold(path);
    asking.write('{"v":1,"op":"stop","task":"first"}\n', () => asking.destroy());
    const last = await hold(path);
    last.write('{"v":1,"op":"stop","task":"last"}\n');
    await once(last, 'data');
    last.destroy();
    await done.promise;
    expect(await sendControlRequest(path, stop, { timeoutMs })).toMatchObject({ ok: true });
    expect(asked).toEqual(['first', 'last', 'abc123']);
  });

  test('that does not read its answer is cut off', async () => {
    const { path } = await listen({
      limits: { connections: 1, lingerMs: 100 },
      handle: async ({ task }) => ({
        ok: true,
        text: 'x'.repeat(task === stop.task ? 1 : 8_000_000),
      }),
    });
    const deaf = await hold(path);
    deaf.pause();
    deaf.write('{"v":1,"op":"stop","task":"abc"}\n');
    await expect
      .poll(() => sendControlRequest(path, stop, { timeoutMs }))
      .toMatchObject({ ok: true });
  });
});

describe('closing', () => {
  test('removes the socket, answers waiting clients, and cuts off those that still send', async () => {
    const asked = deferred<void>();
    const server = await listen({
      handle: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const sending = await hold(server.path);
    const cut = once(sending, 'close');
    const waiting = sendControlRequest(server.path, stop, { timeoutMs });
    await asked.promise;
    await Promise.all([server.close(), server.close()]);
    expect(existsSync(server.path)).toBe(false);
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
    await cut;
    await expect(sendControlRequest(server.path, stop, { timeoutMs })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  test('does not wait for a client that does not hang up', async () => {
    const server = await listen({ limits: { closeMs: 50 } });
    const socket = connect({ path: server.path, allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {
      // Cut off, as it should be.
    });
    socket.write('{"v":1,"op":"stop","task":"abc"}\n');
    await once(socket, 'data');
    await server.close();
  });
});
