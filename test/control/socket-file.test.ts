import { removeDeadSockets } from '../../src/control/socket-file.ts';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { sendControlRequest } from '../../src/control/client.ts';
import {
  describeDirectoryProblem,
  describeParentProblem,
} from '../../src/control/socket-directory.ts';
import { openControlServer } from '../../src/control/server.ts';
import { listen, place, socketPath } from './support.ts';

const uid = process.geteuid?.() ?? 0;

function prepared(root?: string): string {
  const path = socketPath(root);
  mkdirSync(dirname(path), { mode: 0o700, recursive: true });
  return path;
}

async function bindAt(path: string): Promise<Server> {
  const server = createServer();
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return server;
}

/** The file that a process leaves which is killed: a name that nobody listens on. */
async function leaveDead(path: string): Promise<void> {
  const bound = join(dirname(path), 'bound');
  const server = await bindAt(bound);
  renameSync(bound, path);
  server.close();
  await once(server, 'close');
}

async function answers(path: string): Promise<string> {
  const reply = await sendControlRequest(path, { op: 'stop', task: 'abc' }, { timeoutMs: 20_000 });
  return reply.ok ? reply.text : reply.error.code;
}

describe('a socket file', () => {
  test('has mode 0600 in a directory with mode 0700, and nothing else is there', async () => {
    const { path } = await listen();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  test('of a dead process is replaced', async () => {
    const path = prepared();
    await leaveDead(path);
    await listen({ path });
    expect(await answers(path)).toBe('stop');
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  test('of a live process is not replaced and keeps working', async () => {
    const { path } = await listen();
    await expect(listen({ path })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `another process listens on the control socket ${path}`,
    });
    expect(await answers(path)).toBe('stop');
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  test('goes to one of two processes that open it at once', async () => {
    const path = socketPath();
    const outcomes = await Promise.allSettled([listen({ path }), listen({ path })]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await answers(path)).toBe('stop');
  });

  test('is not created in place of a file that is not a socket', async () => {
    const path = prepared();
    writeFileSync(path, 'mine');
    await expect(listen({ path })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(lstatSync(path).isFile()).toBe(true);
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  });

  test('of a successor is left alone by closing', async () => {
    const path = socketPath();
    const first = await listen({ path });
    renameSync(path, `${path}.away`);
    await listen({ path });
    await first.close();
    expect(await answers(path)).toBe('stop');
  });

  test('may be gone when it is closed, and so may its directory', async () => {
    const root = place();
    const server = await listen({ path: socketPath(root) });
    renameSync(join(root, 'sockets'), join(root, 'away'));
    await server.close();
    await server.close();
  });
});

describe('an unsuitable directory', () => {
  async function refusal(path: string, options: { uid?: number } = {}): Promise<unknown> {
    return openControlServer({
      path,
      handle: async () => ({ ok: true, text: '' }),
      ...options,
    }).catch((thrown: unknown) => thrown);
  }

  test('that is a link, a file or open to others is refused and left unchanged', async () => {
    const root = place();
    mkdirSync(join(root, 'real'), { mode: 0o700 });
    symlinkSync(join(root, 'real'), join(root, 'link'));
    writeFileSync(join(root, 'file'), '');
    mkdirSync(join(root, 'wide'));
    chmodSync(join(root, 'wide'), 0o710);
    for (const [name, problem] of [
      ['link', 'is a link'],
      ['file', 'is not a directory'],
      ['wide', 'is open to others (mode 710; it must be 700)'],
    ] as const) {
      expect(await refusal(join(root, name, 'a.sock'))).toMatchObject({
        code: 'PERMISSION_DENIED',
        message: expect.stringContaining(
          `the directory of the control socket ${join(root, name)} ${problem}`,
        ),
      });
    }
    expect(readdirSync(join(root, 'real'))).toEqual([]);
    expect(statSync(join(root, 'wide')).mode & 0o777).toBe(0o710);
  });

  test('of another user is refused', async () => {
    expect(await refusal(prepared(), { uid: uid + 1 })).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining(`belongs to user ${uid}, not to you (${uid + 1})`),
    });
  });

  test('in a directory where everybody may replace it is refused', async () => {
    const root = place();
    chmodSync(root, 0o777);
    expect(await refusal(socketPath(root))).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining('can be replaced by other users'),
    });
    chmodSync(root, 0o1777);
    await listen({ path: socketPath(root) });
  });

  test('without a parent, or with a path that is too long, is refused', async () => {
    expect(await refusal(join(place(), 'no', 'sockets', 'a.sock'))).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('cannot create the directory'),
    });
    const long = join(place(), 'x'.repeat(100), 'a.sock');
    expect(await refusal(long)).toMatchObject({ code: 'INVALID_PARAM' });
    expect(existsSync(dirname(long))).toBe(false);
  });

  test('is recognized by the data that the system reports about real ones', () => {
    const own = lstatSync(dirname(prepared()));
    expect(describeDirectoryProblem(own, uid)).toBeUndefined();
    expect(describeDirectoryProblem(lstatSync('/'), uid + 1)).toBe(
      `belongs to user 0, not to you (${uid + 1})`,
    );
    expect(describeParentProblem(lstatSync('/'))).toBeUndefined();
    expect(describeParentProblem(statSync('/tmp'))).toBeUndefined();
  });
});

describe('sweeping', () => {
  test('removes the sockets of dead processes on opening, and nothing else', async () => {
    const { path } = await listen();
    const directory = dirname(path);
    const dead = [newId(), newId(), newId()].map((id) => join(directory, `${id}.sock`));
    for (const name of dead) await leaveDead(name);
    writeFileSync(join(directory, 'abcdefghijkl.sock'), 'a file');
    await leaveDead(join(directory, 'other.sock'));
    const own = await listen({ path: join(directory, `${newId()}.sock`) });
    expect(readdirSync(directory).toSorted()).toEqual(
      [basename(path), basename(own.path), 'abcdefghijkl.sock', 'other.sock'].toSorted(),
    );
    expect([await answers(path), await answers(own.path)]).toEqual(['stop', 'stop']);
  });

  test('handles a few files at a time, and each gets its turn', async () => {
    const directory = dirname(prepared());
    for (let count = 0; count < 40; count += 1) {
      await leaveDead(join(directory, `${newId()}.sock`));
    }
    const left: number[] = [];
    for (const from of [0.9, 0.5, 0]) {
      await removeDeadSockets({ directory, now: Date.now(), from });
      left.push(readdirSync(directory).length);
    }
    expect(left).toEqual([24, 8, 0]);
  });

  test('removes a temporary name only when it is old', async () => {
    const directory = dirname(prepared());
    await leaveDead(join(directory, `${newId()}.tmp`));
    const now = Date.now();
    await removeDeadSockets({ directory, now, from: 0 });
    expect(readdirSync(directory)).toHaveLength(1);
    await removeDeadSockets({ directory, now: now + 61_000, from: 0 });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('ignores a missing directory', async () => {
    await removeDeadSockets({ directory: join(place(), 'none'), now: 0, from: 0 });
  });
});
