import type { ControlReply } from '../../src/control/protocol.ts';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sendControlRequest } from '../../src/control/client.ts';
import { place, socketPath } from './support.ts';

function call(path: string, timeoutMs = 20_000): Promise<ControlReply> {
  return sendControlRequest(path, { op: 'stop', task: 'abc' }, { timeoutMs });
}

/** A socket on which something other than our server answers. */
async function impostor(answer: (socket: Socket) => void): Promise<string> {
  const path = socketPath();
  mkdirSync(dirname(path), { mode: 0o700 });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {
      // The client hung up, as it may.
    });
    answer(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return path;
}

describe('a call that nobody answers', () => {
  test('fails without a directory, a socket or a listener, and for a file that is not a socket', async () => {
    const path = socketPath();
    const expected = { code: 'NOT_FOUND', message: `no running Muster process listens at ${path}` };
    await expect(call(path)).rejects.toMatchObject(expected);
    mkdirSync(dirname(path), { mode: 0o700 });
    await expect(call(path)).rejects.toMatchObject(expected);
    writeFileSync(path, '');
    await expect(call(path)).rejects.toMatchObject(expected);
  });

  test('fails for a path that is too long for a socket, without cutting it short', async () => {
    await expect(call(`/tmp/${'x'.repeat(120)}/a.sock`)).rejects.toMatchObject({
      code: 'INVALID_PARAM',
    });
  });
});

describe('nothing is sent to a directory that does not safely belong to the user', () => {
  test('because others can write to it or it is a link', async () => {
    const path = await impostor((socket) =>
      socket.end('{"v":1,"type":"reply","ok":true,"text":"x"}\n'),
    );
    expect(await call(path)).toEqual({ ok: true, text: 'x' });
    const link = join(place(), 'link');
    symlinkSync(dirname(path), link);
    await expect(call(join(link, 'a.sock'))).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    chmodSync(dirname(path), 0o750);
    await expect(call(path)).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining('is open to others (mode 750; it must be 700)'),
    });
  });
});

describe('the answer of a server', () => {
  const reply = '{"v":1,"type":"reply","ok":true,"text":"done"}\n';

  test('is read from pieces, after lines of another type', async () => {
    const path = await impostor((socket) => {
      for (const byte of `{"v":1,"type":"progress"}\n${reply}`) socket.write(byte);
    });
    expect(await call(path)).toEqual({ ok: true, text: 'done' });
  });

  test('counts even if the connection breaks after it', async () => {
    const path = await impostor((socket) => {
      socket.once('data', () => socket.write(reply, () => socket.destroy()));
    });
    expect(await call(path)).toEqual({ ok: true, text: 'done' });
  });

  test.each<[string, (socket: Socket) => void, string]>([
    [
      'hangs up at once',
      (socket) => socket.destroy(),
      'it closed the connection without an answer',
    ],
    [
      'ends without a word',
      (socket) => socket.resume().end(),
      'it closed the connection without an answer',
    ],
    ['half a line', (socket) => socket.resume().end(reply.trim()), 'an incomplete line'],
    ['another protocol', (socket) => socket.end('220 mail ESMTP\r\n'), 'not a JSON object'],
    ['no type', (socket) => socket.end('{"v":1}\n'), 'a line without a type'],
  ])('is reported as invalid: %s', async (_name, answer, what) => {
    await expect(call(await impostor(answer))).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining(what),
    });
  });

  test('without a line end is refused', async () => {
    const path = await impostor((socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(1_000_000, 'x')));
      };
      socket.on('drain', more);
      more();
    });
    await expect(call(path)).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringContaining('a line of more than'),
    });
  });

  test('of a newer process is explained', async () => {
    const path = await impostor((socket) => socket.end('{"v":2,"hello":true}\n'));
    await expect(call(path)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('may never come, or be only progress, and then the call times out', async () => {
    const silent = await impostor((socket) => socket.resume());
    await expect(call(silent, 50)).rejects.toMatchObject({ code: 'TIMEOUT', retryable: false });
    const busy = await impostor((socket) => socket.write('{"v":1,"type":"progress"}\n'));
    await expect(call(busy, 50)).rejects.toMatchObject({ code: 'TIMEOUT' });
  });
});
